import { allFinite, argmax, sigmoid, softmax } from '../../src/lib/numbers';
import { chooseScoreFunction, type ProblemType, scores } from '../../src/tasks/classification';

describe('softmax', () => {
  it('is numpy in float32', () => {
    // numpy 2.4: e = np.exp(x - x.max()); e / e.sum(), x = np.float32([1, 2, 3])
    expect(Array.from(softmax(Float32Array.of(1, 2, 3)))).toEqual(
      [0.09003057, 0.24472848, 0.66524094].map(Math.fround),
    );
  });

  it('does not overflow', () => {
    expect(Array.from(softmax(Float32Array.of(3e38, 3e38, -3e38)))).toEqual([0.5, 0.5, 0]);
    expect(Array.from(softmax(Float32Array.of(-1000, -1000)))).toEqual([0.5, 0.5]);
  });

  it('passes on what is not finite', () => {
    expect(allFinite(softmax(Float32Array.of(0, Number.NaN)))).toBe(false);
    expect(allFinite(softmax(Float32Array.of(Number.POSITIVE_INFINITY, 0)))).toBe(false);
  });
});

describe('sigmoid', () => {
  it('is numpy in float32', () => {
    const expected = [0.5, 0.880797, 0.11920292].map(Math.fround);
    expect(Array.from(sigmoid(Float32Array.of(0, 2, -2)))).toEqual(expected);
  });

  it('saturates', () => {
    expect(Array.from(sigmoid(Float32Array.of(200, -200)))).toEqual([1, 0]);
  });
});

describe('argmax', () => {
  it('is the first of equals', () => {
    expect(argmax(Float32Array.of(1, 3, 3, 2))).toBe(1);
    expect(argmax(Float32Array.of(-5))).toBe(0);
  });
});

describe('chooseScoreFunction', () => {
  it.each<[ProblemType | null, number, 'softmax' | 'sigmoid' | 'none']>([
    ['regression', 1, 'none'],
    ['regression', 3, 'none'],
    ['multi_label_classification', 1, 'sigmoid'],
    ['multi_label_classification', 3, 'sigmoid'],
    ['single_label_classification', 2, 'softmax'],
    [null, 1, 'sigmoid'],
    [null, 2, 'softmax'],
    [null, 5, 'softmax'],
  ])('for %p with %p labels is as in transformers', (problemType, numLabels, expected) => {
    expect(chooseScoreFunction(problemType, numLabels)).toBe(expected);
  });
});

describe('scores', () => {
  it('leaves a regression as it is', () => {
    const logits = Float32Array.of(-7.25, 1e9);
    expect(Array.from(scores(logits, 'none'))).toEqual([-7.25, 1e9]);
  });

  it('gives independent probabilities for sigmoid', () => {
    expect(Array.from(scores(Float32Array.of(0, 0), 'sigmoid'))).toEqual([0.5, 0.5]);
  });
});
