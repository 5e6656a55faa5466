import type { Inference } from '../../src/native/engine';
import { roundMs, timingsOf } from '../../src/serving/request-context';

function inference(values: Partial<Inference>): Inference {
  return {
    values: new Float32Array(2),
    rows: 1,
    tokens: 5,
    truncated: false,
    batchSize: 1,
    batchTokens: 0,
    queueMs: 1,
    tokenizationMs: 2,
    inferenceMs: 3,
    ...values,
  };
}

it('has nothing to say of no inference', () => {
  expect(timingsOf([])).toBeNull();
});

it('takes one as it is', () => {
  expect(timingsOf([inference({ queueMs: 4 })])).toMatchObject({ queueMs: 4, tokens: 5 });
});

it('takes the longest times of several, all of their tokens, and whether any was cut', () => {
  const several = [
    inference({ queueMs: 9, truncated: true }),
    inference({ tokenizationMs: 8, batchSize: 4 }),
    inference({ inferenceMs: 7, tokens: 6 }),
  ];
  expect(timingsOf(several)).toMatchObject({
    queueMs: 9,
    tokenizationMs: 8,
    inferenceMs: 7,
    batchSize: 4,
    tokens: 16,
    truncated: true,
  });
  expect(several[0]).toEqual(inference({ queueMs: 9, truncated: true }));
});

it('rounds to the microsecond', () => {
  expect([0, 1, 0.0004, 0.0005, 1.23456].map(roundMs)).toEqual([0, 1, 0, 0.001, 1.235]);
});
