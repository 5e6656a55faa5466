import type { ScoreFunction } from '../classification';
import { type Calibration, hasThreshold } from './calibration';
import {
  type Example,
  type Metrics,
  measure,
  negativeLogLikelihood,
  probabilitiesOf,
} from './metrics';
import { TEMPERATURES } from './temperatures';

const GOLDEN = (Math.sqrt(5) - 1) / 2;
/** Width of the last interval of log(temperature). */
const PRECISION = 1e-6;

/**
 * Temperature with the lowest negative log likelihood. The likelihood has one minimum in log(temperature), which a
 * golden-section search finds.
 */
export function fitTemperature(examples: readonly Example[], scoreFunction: ScoreFunction): number {
  let [low, high] = [Math.log(TEMPERATURES.min), Math.log(TEMPERATURES.max)];
  const lossAt = (x: number) => negativeLogLikelihood(examples, scoreFunction, Math.exp(x));
  let [left, right] = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)];
  let [leftLoss, rightLoss] = [lossAt(left), lossAt(right)];
  while (high - low > PRECISION) {
    if (leftLoss <= rightLoss) {
      high = right;
      [right, rightLoss] = [left, leftLoss];
      left = high - GOLDEN * (high - low);
      leftLoss = lossAt(left);
    } else {
      low = left;
      [left, leftLoss] = [right, rightLoss];
      right = low + GOLDEN * (high - low);
      rightLoss = lossAt(right);
    }
  }
  return Number(Math.exp((low + high) / 2).toPrecision(6));
}

/**
 * Threshold of the second label with the highest accuracy. Of equally good thresholds, the one nearest to 0.5, in the
 * middle between two probabilities.
 */
export function fitThreshold(examples: readonly Example[], temperature: number): number {
  const points = examples
    .map(({ logits, targets }) => ({
      p: probabilitiesOf(logits, 'softmax', temperature)[1] as number,
      isSecond: targets[1] === 1,
    }))
    .sort((a, b) => a.p - b.p);
  // Right predictions if the threshold is below all points: all that have the second label.
  let right = points.filter(({ isSecond }) => isSecond).length;
  let best = { right: -1, threshold: 0.5 };
  for (let index = 0; index <= points.length; index++) {
    const [below, above] = [points[index - 1]?.p ?? 0, points[index]?.p ?? 1];
    if (below < above) {
      const threshold = nearestToHalf(below, above);
      const isNearer = Math.abs(threshold - 0.5) < Math.abs(best.threshold - 0.5);
      if (right > best.right || (right === best.right && isNearer)) best = { right, threshold };
    }
    const point = points[index];
    if (point) right += point.isSecond ? -1 : 1;
  }
  return best.threshold;
}

/** A number between two: 0.5 if it is, otherwise their mean, within (0, 1). */
function nearestToHalf(below: number, above: number): number {
  if (below < 0.5 && 0.5 <= above) return 0.5;
  const mean = Number(((below + above) / 2).toPrecision(6));
  return Math.min(Math.max(mean, 1e-6), 1 - 1e-6);
}

export interface Fit extends Calibration {
  readonly before: Metrics;
  /** Of examples that were not used for the calibration that is applied to them. */
  readonly after: Metrics;
}

/**
 * Fits a calibration on all examples. For `after`, each half of the examples is measured with the calibration of the
 * other half: the calibration of an example never saw it.
 *
 * @param examples at least two
 */
export function fitCalibration(
  examples: readonly Example[],
  labels: readonly string[],
  scoreFunction: ScoreFunction,
  withThreshold: boolean,
): Fit {
  const fits = (subset: readonly Example[]): Calibration => {
    const temperature = fitTemperature(subset, scoreFunction);
    const threshold =
      withThreshold && hasThreshold(labels, scoreFunction)
        ? fitThreshold(subset, temperature)
        : null;
    return { temperature, threshold };
  };
  const halves = [0, 1].map((parity) => fits(examples.filter((_, index) => index % 2 !== parity)));
  const uncalibrated = { temperature: 1, threshold: null };
  return {
    ...fits(examples),
    before: measure(examples, scoreFunction, () => uncalibrated),
    after: measure(examples, scoreFunction, (index) => halves[index % 2] as Calibration),
  };
}
