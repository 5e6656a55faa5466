import type { ScoreFunction } from '../classification';

/** Outputs of a classifier for an example, and what is right. */
export interface Example {
  readonly logits: ArrayLike<number>;
  /** For each label 1 if the example has it, otherwise 0. */
  readonly targets: readonly number[];
}

export interface Bin {
  readonly count: number;
  /** Mean confidence and accuracy of its predictions. */
  readonly confidence: number;
  readonly accuracy: number;
}

export interface Metrics {
  /** Share of right predictions; of labels that are predicted independently, of right decisions at 0.5. */
  readonly accuracy: number;
  /** Expected calibration error: mean distance of confidence and accuracy over the bins. */
  readonly ece: number;
  /** Mean of the squared errors of all probabilities of an example. */
  readonly brier: number;
  /** Mean negative log likelihood. */
  readonly nll: number;
  readonly bins: readonly Bin[];
}

const BINS = 15;
/** Lowest probability in logarithms. */
const MIN_PROBABILITY = 1e-12;

/** Probabilities in double precision. */
export function probabilitiesOf(
  logits: ArrayLike<number>,
  scoreFunction: ScoreFunction,
  temperature: number,
): readonly number[] {
  const scaled = Array.from(logits, (logit) => logit / temperature);
  if (scoreFunction === 'sigmoid') return scaled.map((logit) => 1 / (1 + Math.exp(-logit)));
  const highest = Math.max(...scaled);
  const exponentials = scaled.map((logit) => Math.exp(logit - highest));
  const sum = exponentials.reduce((all, one) => all + one, 0);
  return exponentials.map((one) => one / sum);
}

/** Mean negative log likelihood of the examples. */
export function negativeLogLikelihood(
  examples: readonly Example[],
  scoreFunction: ScoreFunction,
  temperature: number,
): number {
  let sum = 0;
  for (const { logits, targets } of examples) {
    const probabilities = probabilitiesOf(logits, scoreFunction, temperature);
    for (const [label, target] of targets.entries()) {
      const p = probabilities[label] as number;
      if (target === 1) sum -= Math.log(Math.max(p, MIN_PROBABILITY));
      else if (scoreFunction === 'sigmoid') sum -= Math.log(Math.max(1 - p, MIN_PROBABILITY));
    }
  }
  return sum / examples.length;
}

/** A prediction of a label, with its probability. */
interface Prediction {
  readonly confidence: number;
  readonly isRight: boolean;
}

/** @param calibrationOf calibration that is applied to the example with an index */
export function measure(
  examples: readonly Example[],
  scoreFunction: ScoreFunction,
  calibrationOf: (index: number) => {
    readonly temperature: number;
    readonly threshold: number | null;
  },
): Metrics {
  const predictions: Prediction[] = [];
  let [brier, nll] = [0, 0];
  for (const [index, example] of examples.entries()) {
    const { temperature, threshold } = calibrationOf(index);
    const { targets } = example;
    const probabilities = probabilitiesOf(example.logits, scoreFunction, temperature);
    nll += negativeLogLikelihood([example], scoreFunction, temperature);
    brier += probabilities.reduce(
      (sum, p, label) => sum + (p - (targets[label] as number)) ** 2,
      0,
    );
    predictions.push(...predictionsOf(probabilities, targets, scoreFunction, threshold));
  }
  const bins = toBins(predictions);
  const count = predictions.length;
  return {
    accuracy: predictions.filter(({ isRight }) => isRight).length / count,
    ece: bins.reduce((sum, bin) => sum + (bin.count / count) * distanceOf(bin), 0),
    brier: brier / examples.length,
    nll: nll / examples.length,
    bins,
  };
}

function distanceOf({ accuracy, confidence }: Bin): number {
  return Math.abs(accuracy - confidence);
}

function predictionsOf(
  probabilities: readonly number[],
  targets: readonly number[],
  scoreFunction: ScoreFunction,
  threshold: number | null,
): readonly Prediction[] {
  if (scoreFunction === 'sigmoid') {
    return probabilities.map((p, label) => ({
      confidence: Math.max(p, 1 - p),
      isRight: (p > 0.5 ? 1 : 0) === targets[label],
    }));
  }
  const highest = probabilities.indexOf(Math.max(...probabilities));
  const label = threshold === null ? highest : Number((probabilities[1] as number) >= threshold);
  return [{ confidence: probabilities[label] as number, isRight: targets[label] === 1 }];
}

/** Bins of equal width over confidences from 0 to 1. */
function toBins(predictions: readonly Prediction[]): readonly Bin[] {
  const sums = Array.from({ length: BINS }, () => ({ count: 0, confidence: 0, right: 0 }));
  for (const { confidence, isRight } of predictions) {
    const sum = sums[Math.min(BINS - 1, Math.floor(confidence * BINS))] as (typeof sums)[number];
    sum.count += 1;
    sum.confidence += confidence;
    sum.right += isRight ? 1 : 0;
  }
  return sums.map(({ count, confidence, right }) => ({
    count,
    confidence: count === 0 ? 0 : confidence / count,
    accuracy: count === 0 ? 0 : right / count,
  }));
}
