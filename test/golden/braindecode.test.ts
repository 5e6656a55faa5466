import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { SignalClassifier } from '../../src/embedded/signal-classifier';
import { readFixture } from '../helpers/golden';
import { FIXTURES } from '../helpers/service';

/** Largest difference to PyTorch that a probability may have. */
const TOLERANCE = 1e-5;
const FOLDER = path.join(FIXTURES, 'braindecode');

interface Golden {
  readonly batching: boolean;
  /** Windows of 4 channels, row by row. */
  readonly windows: readonly (readonly number[])[];
  readonly probabilities: readonly (readonly number[])[];
}

/** Models and values of test/parity/braindecode_golden.py. */
const golden = readFixture<Readonly<Record<string, Golden>>>('braindecode', 'golden.json');

function largestDifference(
  results: readonly { readonly probabilities: Readonly<Record<string, number>> }[],
  expected: Golden['probabilities'],
): number {
  expect(results).toHaveLength(expected.length);
  return Math.max(
    ...results.flatMap(({ probabilities }, index) => {
      const values = Object.values(probabilities);
      expect(values).toHaveLength(3);
      return values.map((value, i) => Math.abs(value - (expected[index]?.[i] as number)));
    }),
  );
}

describe('models of braindecode', () => {
  it.each(Object.keys(golden))('%s: probabilities alone and in a batch', async (name) => {
    const { windows, probabilities } = golden[name] as Golden;
    const classifier = await SignalClassifier.load({ modelPath: path.join(FOLDER, `${name}.pt2`) });
    try {
      expect(classifier.channels).toEqual(['C3', 'Cz', 'C4', 'Pz']);
      const alone = [];
      for (const window of windows) alone.push(await classifier.classify(window));
      expect(largestDifference(alone, probabilities)).toBeLessThanOrEqual(TOLERANCE);
      const together = await classifier.classifyBatch(windows);
      expect(largestDifference(together, probabilities)).toBeLessThanOrEqual(TOLERANCE);
      const [first] = windows as [readonly number[]];
      const rows = [0, 1, 2, 3].map((row) => first.slice(128 * row, 128 * (row + 1)));
      const byRows = [await classifier.classify(rows)];
      expect(largestDifference(byRows, probabilities.slice(0, 1))).toBeLessThanOrEqual(TOLERANCE);
    } finally {
      await classifier.close();
    }
  });
});

describe('constant inputs of REVE', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'constant-inputs-'));
    copyFileSync(path.join(FOLDER, 'REVE.pt2'), path.join(folder, 'eeg_model.pt2'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const settings = JSON.parse(readFileSync(path.join(FOLDER, 'REVE.json'), 'utf8')) as {
    readonly constant_inputs: { readonly pos: readonly (readonly number[])[] };
  };
  const { pos } = settings.constant_inputs;

  async function load(constantInputs: unknown): Promise<SignalClassifier> {
    const content = { ...settings, constant_inputs: constantInputs };
    writeFileSync(path.join(folder, 'eeg_model.json'), JSON.stringify(content));
    return await SignalClassifier.load({ modelPath: path.join(folder, 'eeg_model.pt2') });
  }

  it('change the result', async () => {
    const { windows, probabilities } = golden.REVE as Golden;
    const moved = pos.map((place) => place.map((value) => 10 * value + 1));
    const classifier = await load({ pos: moved });
    const results = await classifier.classifyBatch(windows);
    expect(largestDifference(results, probabilities)).toBeGreaterThan(TOLERANCE);
    await classifier.close();
  });

  it.each<[string, unknown, RegExp]>([
    [
      'none',
      undefined,
      /^eeg_model\.pt2: takes 2 inputs \(eeg, pos\), expected one, the windows: set the others in constant_inputs in eeg_model\.json$/,
    ],
    [
      'an unknown name',
      { pos, place: 1 },
      /^eeg_model\.json: constant_inputs\.place: eeg_model\.pt2 takes 2 inputs \(eeg, pos\)$/,
    ],
    [
      'the windows too',
      { pos, eeg: 1 },
      /^eeg_model\.pt2: takes 2 inputs \(eeg, pos\), expected one, the windows, besides those in constant_inputs$/,
    ],
    [
      'too few electrodes',
      { pos: pos.slice(1) },
      /^eeg_model\.json: constant_inputs\.pos: the program takes \[.*4, 3\], found \[3, 3\]: expected \[4, 3\], without the batch$/,
    ],
    [
      'a batch',
      { pos: [pos] },
      /^eeg_model\.json: constant_inputs\.pos: the program takes \[.*4, 3\], found \[1, 4, 3\]/,
    ],
    ['a number', { pos: 1 }, /^eeg_model\.json: constant_inputs\.pos: the program takes /],
    [
      'no number',
      { pos: [...pos.slice(1), [0, 0, 'NaN']] },
      /^eeg_model\.json: constant_inputs\.pos\[3\]\[2\]: expected a finite number, found "NaN"$/,
    ],
    [
      'more than float32 has',
      { pos: [...pos.slice(1), [0, 0, 1e300]] },
      /^eeg_model\.json: constant_inputs\.pos: value 11: expected a finite number, found 1000/,
    ],
  ])('%s: is a load error', async (_, constantInputs, message) => {
    await expect(load(constantInputs)).rejects.toThrow(message);
  });
});
