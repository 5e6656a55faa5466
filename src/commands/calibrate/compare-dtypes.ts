import type { Calibration } from '../../tasks/calibration/calibration';
import {
  type Example,
  type Metrics,
  measure,
  probabilitiesOf,
} from '../../tasks/calibration/metrics';
import type { ScoreFunction } from '../../tasks/classification';

export interface DtypeDifference {
  readonly first: Metrics;
  readonly other: Metrics;
  /** Mean and maximum difference of a probability. */
  readonly meanDifference: number;
  readonly maxDifference: number;
  /** Share of examples whose most probable label differs. */
  readonly changedLabels: number;
}

/** Compares the results of two number formats, both with the calibration. */
export function compareLogits(
  pairs: readonly { readonly example: Example; readonly other: ArrayLike<number> }[],
  scoreFunction: ScoreFunction,
  calibration: Calibration,
): DtypeDifference {
  const { temperature } = calibration;
  let [sum, count, highest, changed] = [0, 0, 0, 0];
  for (const { example, other } of pairs) {
    const [mine, theirs] = [example.logits, other].map((logits) =>
      probabilitiesOf(logits, scoreFunction, temperature),
    ) as [readonly number[], readonly number[]];
    for (const [label, p] of mine.entries()) {
      const difference = Math.abs(p - (theirs[label] as number));
      sum += difference;
      count += 1;
      highest = Math.max(highest, difference);
    }
    if (topOf(mine) !== topOf(theirs)) changed += 1;
  }
  const measured = (examples: readonly Example[]) =>
    measure(examples, scoreFunction, () => calibration);
  return {
    first: measured(pairs.map(({ example }) => example)),
    other: measured(pairs.map(({ example: { targets }, other }) => ({ logits: other, targets }))),
    meanDifference: sum / count,
    maxDifference: highest,
    changedLabels: changed / pairs.length,
  };
}

const topOf = (probabilities: readonly number[]) =>
  probabilities.indexOf(Math.max(...probabilities));

/** @param names of the two number formats */
export function describeDifference(
  { first, other, meanDifference, maxDifference, changedLabels }: DtypeDifference,
  names: readonly [string, string],
): readonly string[] {
  const row = (name: string, { accuracy, ece, brier }: Metrics) =>
    `${`${name}:`.padEnd(9)} accuracy ${accuracy.toFixed(4)}   ECE ${ece.toFixed(4)}   Brier score ${brier.toFixed(4)}`;
  return [
    `${names[1]} compared with ${names[0]}, calibrated:`,
    row(names[0], first),
    row(names[1], other),
    `probabilities differ by ${meanDifference.toFixed(5)} in the mean and by ${maxDifference.toFixed(5)} at most;`,
    `${(100 * changedLabels).toFixed(2)} % of the examples have another label`,
  ];
}
