import type { Guard, GuardOptions } from './guard';
import type { Finding, GuardModels, GuardResult } from './guard-result';
import { CATEGORIES, type Category, type Moderations, type Source, sourcesOf } from './moderations';

export interface Moderation {
  /** From 0 to 1, not rounded: the highest of all labels of the category, and of all places. */
  readonly scores: Readonly<Record<Category, number>>;
  readonly flagged: Readonly<Record<Category, boolean>>;
  /** What could not run, or was not looked at. */
  readonly answer: Pick<GuardResult, 'errors' | 'unchecked' | 'inferences'>;
}

/** Names of the checks that categories are made of. */
export function checksOf(moderations: Moderations): readonly string[] {
  return [...new Set(sourcesOf(moderations).map(({ check }) => check))];
}

/**
 * Asks the checks of a guard that categories are made of. Every score is told, also where it is below its
 * threshold: clients of moderations choose thresholds of their own.
 *
 * @param guard whose file has moderations
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
  const question = { direction: 'both', checks: checksOf(moderations), scores: true } as const;
  const answer = await guard.check({ ...question, texts }, models, options);
  const scores = byCategory(0);
  const flagged = byCategory(false);
  for (const { category, ...source } of sourcesOf(moderations)) {
    const found = (answer.scores ?? []).filter(isOf(source));
    scores[category] = found.reduce((most, { score }) => Math.max(most, score), scores[category]);
    flagged[category] ||= answer.findings.some(isOf(source));
  }
  return { scores, flagged, answer };
}

function isOf({ check, label }: Source): (finding: Finding) => boolean {
  return (finding) => finding.check === check && finding.label === label;
}

function byCategory<Value>(value: Value): Record<Category, Value> {
  return Object.fromEntries(CATEGORIES.map((name) => [name, value])) as Record<Category, Value>;
}
