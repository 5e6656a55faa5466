import type { Guard, GuardOptions } from './guard';
import type { Finding, GuardModels, GuardResult } from './guard-result';
import { CATEGORIES, type Category, type Moderations, type Source, sourcesOf } from './moderations';

export interface Moderation {
  /**
   * Scores from 0 to 1, not rounded: the maximum over all labels of the category and all positions.
   */
  readonly scores: Readonly<Record<Category, number>>;
  readonly flagged: Readonly<Record<Category, boolean>>;
  /** Errors, unchecked texts and inferences of the guardrail. */
  readonly result: Pick<GuardResult, 'errors' | 'unchecked' | 'inferences'>;
}

/** Returns the names of the checks that categories refer to. */
export function checksOf(moderations: Moderations): readonly string[] {
  return [...new Set(sourcesOf(moderations).map(({ check }) => check))];
}

/**
 * Runs the checks that moderation categories refer to. The result includes scores below the
 * thresholds, because moderation clients set their own thresholds.
 *
 * @param guard guardrail whose policy has a section `moderations`
 * @param texts parts of one text
 * @throws EngineError as `Guard.check`
 */
export async function moderate(
  guard: Guard,
  texts: readonly string[],
  models: GuardModels,
  options: GuardOptions = {},
): Promise<Moderation> {
  const moderations = guard.file.moderations as Moderations;
  const request = { direction: 'both', checks: checksOf(moderations), scores: true } as const;
  const result = await guard.check({ ...request, texts }, models, options);
  const scores = byCategory(0);
  const flagged = byCategory(false);
  for (const { category, ...source } of sourcesOf(moderations)) {
    const found = (result.scores ?? []).filter(isOf(source));
    scores[category] = found.reduce((most, { score }) => Math.max(most, score), scores[category]);
    flagged[category] ||= result.findings.some(isOf(source));
  }
  return { scores, flagged, result };
}

function isOf({ check, label }: Source): (finding: Finding) => boolean {
  return (finding) => finding.check === check && finding.label === label;
}

function byCategory<Value>(value: Value): Record<Category, Value> {
  return Object.fromEntries(CATEGORIES.map((name) => [name, value])) as Record<Category, Value>;
}
