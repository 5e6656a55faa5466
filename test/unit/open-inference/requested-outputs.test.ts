import { requireKnownOutputs, selectOutputs } from '../../../src/protocols/open-inference/outputs';
import type { RequestedOutput } from '../../../src/protocols/open-inference/tensor';
import type { OutputTensor } from '../../../src/tasks/tensors';

const MODEL = {
  classified: { name: 'P', labels: ['a', 'b:c', 'd'] },
  outputs: [
    { name: 'L', datatype: 'BYTES', shape: [-1] },
    { name: 'P', datatype: 'FP32', shape: [-1, 3] },
  ],
} as const;

const ALL: readonly OutputTensor[] = [
  { name: 'L', datatype: 'BYTES', shape: [2], values: ['b:c', 'a'] },
  {
    name: 'P',
    datatype: 'FP32',
    shape: [2, 3],
    values: Float32Array.of(0.25, 0.5, 0.25, 0.7, 0.1, 0.2),
  },
];

function wanted(name: string, classification = 0): RequestedOutput {
  return { name, classification, binary: null };
}

it('gives all outputs, or those that are asked for in that order', () => {
  expect(selectOutputs(ALL, null, MODEL)).toBe(ALL);
  expect(selectOutputs(ALL, [wanted('P'), wanted('L')], MODEL)).toEqual([ALL[1], ALL[0]]);
});

it.each([
  [1, ['0.500000:1:b:c', '0.700000:0:a']],
  [2, ['0.500000:1:b:c', '0.250000:0:a', '0.700000:0:a', '0.200000:2:d']],
  [
    99,
    [
      ...['0.500000:1:b:c', '0.250000:0:a', '0.250000:2:d'],
      ...['0.700000:0:a', '0.200000:2:d', '0.100000:1:b:c'],
    ],
  ],
])('classifies the %d highest, equal ones in the order of the labels', (count, values) => {
  expect(selectOutputs(ALL, [wanted('P', count)], MODEL)).toEqual([
    { name: 'P', datatype: 'BYTES', shape: [2, Math.min(count, 3)], values },
  ]);
});

it.each([
  [[wanted('X')], 'outputs[0].name: expected L, P'],
  [[wanted('L'), wanted('P'), wanted('L')], 'outputs[2].name: is asked for twice'],
  [[wanted('P', 1), wanted('L', 1)], 'outputs[1].parameters.classification: is for P only'],
])('refuses %j before anything runs', (requested, message) => {
  expect(() => requireKnownOutputs(requested, MODEL)).toThrow(message);
});
