import type { GuardAnswer, GuardModels } from './answer';
import { GuardCounts } from './counts';
import type { Check, GuardFile } from './file';
import { Guard, type GuardOptions } from './guard';
import { CATEGORIES, type Category, type Moderations, sourcesOf } from './moderations';

export interface Moderation {
  /** From 0 to 1, not rounded: the highest of all labels of the category, and of all places. */
  readonly scores: Readonly<Record<Category, number>>;
  readonly flagged: Readonly<Record<Category, boolean>>;
  /** What could not run, or was not looked at. */
  readonly answer: Pick<GuardAnswer, 'errors' | 'notLookedAt' | 'inferences'>;
}

/**
 * Those checks of a guard that categories are made of. They tell every score, also where it is below its
 * threshold: clients of moderations choose thresholds of their own.
 */
export class Moderator {
  readonly #guard: Guard;
  readonly #checks: ReadonlyMap<string, Check>;
  readonly #moderations: Moderations;
  readonly #counts: GuardCounts;

  private constructor(guard: Guard, original: GuardFile, counts: GuardCounts) {
    this.#guard = guard;
    this.#checks = new Map(original.checks.map((check) => [check.name, check]));
    this.#moderations = original.moderations as Moderations;
    this.#counts = counts;
  }

  /**
   * @param file with moderations
   * @param counts of the guard
   */
  static async open(file: GuardFile, counts: GuardCounts): Promise<Moderator> {
    const sources = sourcesOf(file.moderations as Moderations);
    const checks = file.checks.flatMap((check): readonly Check[] => {
      const labels = sources.flatMap((one) => (one.check === check.name ? one.label : []));
      return labels.length === 0 ? [] : [withScoresOf(check, labels)];
    });
    // What is below its threshold is found, too: that is no finding of the guard's.
    return new Moderator(await Guard.open({ ...file, checks }, new GuardCounts()), file, counts);
  }

  /** Names of the models that it asks. */
  get models(): readonly string[] {
    return this.#guard.modelsFor({ direction: 'both' });
  }

  /** @param texts parts of one text. @throws EngineError CANCELLED */
  async moderate(
    texts: readonly string[],
    models: GuardModels,
    options: GuardOptions = {},
  ): Promise<Moderation> {
    const answer = await this.#guard.check({ texts, direction: 'both' }, models, options);
    const scores = byCategory(0);
    const flagged = byCategory(false);
    const found = new Set<string>();
    for (const { category, check, label } of sourcesOf(this.#moderations)) {
      const findings = answer.findings.filter((one) => one.check === check && one.label === label);
      const score = findings.reduce((most, one) => Math.max(most, one.score), 0);
      scores[category] = Math.max(scores[category], score);
      if (findings.length === 0 || score < this.#thresholdOf(check, label)) continue;
      flagged[category] = true;
      found.add(check);
    }
    this.#count(answer, found);
    return { scores, flagged, answer };
  }

  #thresholdOf(name: string, label: string): number {
    const check = this.#checks.get(name) as Check;
    if (check.type === 'patterns') return 1;
    const own = check.labels?.[label];
    return own ?? (check.type === 'token-classification' ? check.threshold : 1);
  }

  #count({ errors }: GuardAnswer, found: ReadonlySet<string>): void {
    for (const { name } of this.#guard.file.checks) {
      if (errors.some(({ check }) => check === name)) this.#counts.count(name, 'failed');
      else this.#counts.count(name, found.has(name) ? 'found' : 'passed');
    }
  }
}

/** The same check, which finds these labels at any score, and does nothing about them. */
function withScoresOf(check: Check, labels: readonly string[]): Check {
  const told = { on: 'both', action: 'note', decisive: false } as const;
  if (check.type === 'patterns') return { ...check, ...told };
  return { ...check, ...told, labels: Object.fromEntries(labels.map((label) => [label, 0])) };
}

function byCategory<Value>(value: Value): Record<Category, Value> {
  return Object.fromEntries(CATEGORIES.map((name) => [name, value])) as Record<Category, Value>;
}
