import type { Inference } from '../../src/native/engine';
import { phasesOf } from '../../src/serving/tracing/phases';

function inference(tokenizationMs: number, queueMs: number, inferenceMs: number): Inference {
  const values = new Float32Array(2);
  return {
    values,
    rows: 1,
    tokens: 5,
    truncated: false,
    batchSize: 1,
    batchTokens: 0,
    queueMs,
    tokenizationMs,
    inferenceMs,
  };
}

it('puts the parts of a text one after the other', () => {
  expect(phasesOf(100, [inference(1, 2, 4)])).toEqual([
    { name: 'tokenization', start: 100, end: 101 },
    { name: 'queue', start: 101, end: 103 },
    { name: 'inference', start: 103, end: 107 },
  ]);
});

it('has no tokenization of windows', () => {
  expect(phasesOf(100, [inference(0, 2, 4)])).toEqual([
    { name: 'queue', start: 100, end: 102 },
    { name: 'inference', start: 102, end: 106 },
  ]);
});

it('goes from the first to the last of a list', () => {
  expect(phasesOf(100, [inference(1, 2, 4), inference(2, 10, 3), inference(1, 1, 1)])).toEqual([
    { name: 'tokenization', start: 100, end: 102 },
    { name: 'queue', start: 101, end: 112 },
    { name: 'inference', start: 102, end: 115 },
  ]);
});

it('is empty when nothing ran', () => {
  expect(phasesOf(0, [])).toEqual([]);
});
