import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { readViterbiDecoder } from '../../../src/tasks/token-classification/viterbi-calibration';

const LABELS = ['O', 'B-secret', 'I-secret', 'E-secret', 'S-secret'];
const NAMES = [
  ...['background_stay', 'background_to_start', 'inside_to_continue'],
  ...['inside_to_end', 'end_to_background', 'end_to_start'],
];
const BIASES = Object.fromEntries(
  NAMES.map((name, index) => [`transition_bias_${name}`, index + 0.5]),
);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'calibration-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (biases: object) =>
  writeFileSync(
    path.join(folder, 'viterbi_calibration.json'),
    JSON.stringify({ operating_points: { default: { biases }, high_recall: {} }, version: 1 }),
  );
const read = (labels = LABELS, modelType = 'bert') => readViterbiDecoder(folder, modelType, labels);

it('other models without the file have no decoder', () => {
  expect(read()).toBeNull();
});

it('a privacy filter without the file has no biases', () => {
  const decoder = read(LABELS, 'openai_privacy_filter');
  expect(decoder?.classes).toHaveLength(1);
  expect(new Set(Object.values(decoder?.biases ?? {}))).toEqual(new Set([0]));
});

it('a privacy filter with other labels has no decoder', () => {
  expect(read(['O', 'B-a', 'I-a'], 'openai_privacy_filter')).toBeNull();
});

it('reads the biases', () => {
  write(BIASES);
  expect(read()?.biases).toEqual({
    ...{ backgroundStay: 0.5, backgroundToStart: 1.5, insideToContinue: 2.5 },
    ...{ insideToEnd: 3.5, endToBackground: 4.5, endToStart: 5.5 },
  });
});

it.each([
  ['a missing bias', { ...BIASES, transition_bias_end_to_start: undefined }, /end_to_start/],
  ['an unknown bias', { ...BIASES, transition_bias_other: 1 }, /transition_bias_other/],
  ['text', { ...BIASES, transition_bias_inside_to_end: '1' }, /inside_to_end/],
  ['a huge bias', { ...BIASES, transition_bias_inside_to_end: 1e30 }, /inside_to_end/],
])('names the key of %s', (_, biases, message) => {
  write(biases);
  expect(() => read()).toThrow(message);
});

it('rejects the file of a model with other labels', () => {
  write(BIASES);
  expect(() => read(['O', 'PER'])).toThrow(/^viterbi_calibration.json: expected id2label/);
});
