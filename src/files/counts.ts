import type { AnswerFormat } from './answers';
import type { Result } from './rows';

/** What has been counted up to a place in the inputs. */
export interface Counts {
  readonly answered: number;
  readonly rejected: number;
  readonly truncated: number;
  /** Answers by label. */
  readonly labels: Readonly<Record<string, number>>;
}

/** Of a whole run, with the seconds that it took in all processes. */
export type Outcome = Counts & { readonly seconds: number };

/** @returns the counts with those of some more rows */
export function countMore(
  counts: Counts,
  results: readonly Result[],
  format: AnswerFormat,
): Counts {
  const labels = new Map(Object.entries(counts.labels));
  let { answered, rejected, truncated } = counts;
  for (const { answer } of results) {
    if (answer === null) {
      rejected++;
      continue;
    }
    const counted = format.count(answer);
    answered++;
    if (counted.truncated) truncated++;
    labels.set(counted.label, (labels.get(counted.label) ?? 0) + 1);
  }
  return { answered, rejected, truncated, labels: Object.fromEntries(labels) };
}
