import { fitCalibration, fitTemperature, fitThreshold } from '../../../src/tasks/calibration/fit';
import { type Example, measure, probabilitiesOf } from '../../../src/tasks/calibration/metrics';
import { reliabilityDiagram } from '../../../src/tasks/calibration/reliability-diagram';
import { seededRandom } from '../../helpers/random';

/** Examples whose labels are drawn from the probabilities of `logits / temperature`. */
function drawn(temperature: number, labels: number, count: number, seed: number): Example[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => {
    const logits = Array.from({ length: labels }, () => 8 * random() - 4);
    const probabilities = probabilitiesOf(logits, 'softmax', temperature);
    let left = random();
    const found = probabilities.findIndex((p) => {
      left -= p;
      return left < 0;
    });
    const label = found < 0 ? labels - 1 : found;
    return { logits, targets: logits.map((_, index) => Number(index === label)) };
  });
}

const uncalibrated = () => ({ temperature: 1, threshold: null });

describe('temperature', () => {
  it.each([
    [0.5, 2],
    [1, 3],
    [1.7, 2],
    [4, 7],
  ])('recovers %d from labels that are drawn with it, %d labels', (temperature, labels) => {
    const found = fitTemperature(drawn(temperature, labels, 8000, 1), 'softmax');
    expect(found / temperature).toBeGreaterThan(0.9);
    expect(found / temperature).toBeLessThan(1.1);
  });

  it('has the lowest likelihood of a grid of temperatures', () => {
    const examples = drawn(2.2, 3, 500, 7);
    const found = fitTemperature(examples, 'softmax');
    const lossOf = (temperature: number) =>
      measure(examples, 'softmax', () => ({ temperature, threshold: null })).nll;
    for (let factor = 0.5; factor < 2; factor += 0.05) {
      expect(lossOf(found)).toBeLessThanOrEqual(lossOf(found * factor) + 1e-9);
    }
  });

  it('stays within its limits for examples that are all right, and for independent labels', () => {
    const right = [1, 2, 3, 4].map((x) => ({ logits: [x, 0], targets: [1, 0] }));
    expect(fitTemperature(right, 'softmax')).toBeCloseTo(0.05, 4);
    const wrong = right.map(({ logits }) => ({ logits, targets: [0, 1] }));
    expect(fitTemperature(wrong, 'softmax')).toBeCloseTo(20, 3);
    expect(fitTemperature(wrong, 'sigmoid')).toBeCloseTo(20, 3);
  });
});

describe('threshold', () => {
  const at = (p: number, isSecond: boolean): Example => ({
    logits: [0, Math.log(p / (1 - p))],
    targets: [Number(!isSecond), Number(isSecond)],
  });

  it('has the highest accuracy', () => {
    const examples = [at(0.2, false), at(0.3, true), at(0.4, true), at(0.8, true)];
    expect(fitThreshold(examples, 1)).toBeCloseTo(0.25, 5);
  });

  it('is 0.5 if that is as good as any other', () => {
    expect(fitThreshold([at(0.1, false), at(0.9, true)], 1)).toBe(0.5);
    expect(fitThreshold([at(0.1, true), at(0.1, false)], 1)).toBe(0.5);
  });

  it('is never worse than 0.5', () => {
    for (let seed = 1; seed < 20; seed++) {
      const examples = drawn(1 + seed / 5, 2, 50, seed);
      const accuracy = (threshold: number) =>
        measure(examples, 'softmax', () => ({ temperature: 1, threshold })).accuracy;
      expect(accuracy(fitThreshold(examples, 1))).toBeGreaterThanOrEqual(accuracy(0.5));
    }
  });
});

describe('metrics', () => {
  it('equal those that are computed by hand', () => {
    const odds = (p: number) => [Math.log(p), Math.log(1 - p)];
    const examples = [
      { logits: odds(0.9), targets: [1, 0] },
      { logits: odds(0.9), targets: [0, 1] },
      { logits: odds(0.6), targets: [1, 0] },
    ];
    const { accuracy, ece, brier, nll } = measure(examples, 'softmax', uncalibrated);
    expect(accuracy).toBeCloseTo(2 / 3, 12);
    expect(ece).toBeCloseTo((2 / 3) * 0.4 + (1 / 3) * 0.4, 12);
    expect(brier).toBeCloseTo((0.02 + 1.62 + 0.32) / 3, 12);
    expect(nll).toBeCloseTo(-(Math.log(0.9) + Math.log(0.1) + Math.log(0.6)) / 3, 12);
  });

  it('count each label of independent labels', () => {
    const examples = [{ logits: [0, Math.log(3)], targets: [0, 1] }];
    const { accuracy, ece, brier } = measure(examples, 'sigmoid', uncalibrated);
    expect(accuracy).toBe(1);
    expect(ece).toBeCloseTo(0.5 * 0.5 + 0.5 * 0.25, 12);
    expect(brier).toBeCloseTo(0.25 + 0.0625, 12);
  });
});

it('improves scores that are too confident, on examples that the fit did not see', () => {
  const fit = fitCalibration(drawn(3, 2, 4000, 3), ['a', 'b'], 'softmax', true);
  expect(fit.before.ece).toBeGreaterThan(0.1);
  expect(fit.after.ece).toBeLessThan(0.03);
  expect(fit.after.brier).toBeLessThan(fit.before.brier);
  const diagram = reliabilityDiagram(fit.before, fit.after);
  expect(diagram).toContain(`After: ECE ${fit.after.ece.toFixed(4)}`);
  expect(diagram).not.toMatch(/NaN|undefined/);
});
