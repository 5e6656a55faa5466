import path from 'node:path';
import { softmax } from '../../src/lib/numbers';
import { Engine } from '../../src/native/engine';
import { CLASSES } from '../../src/tasks/signal-classification/model-settings';
import { signalClassification } from '../../src/tasks/signal-classification/signal-classification-task';
import { zNormalize } from '../../src/tasks/signal-classification/z-normalize';
import { TaskModel } from '../../src/tasks/task-model';
import { readTextClassifier } from '../../src/tasks/text-classification/model-directory';
import { textClassification } from '../../src/tasks/text-classification/text-classification-task';
import {
  type GoldenEeg,
  type GoldenWindows,
  readFixture,
  readGolden,
  readGoldenPairs,
  textModelNames,
} from '../helpers/golden';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES } from '../helpers/service';

/** Largest difference to transformers and torch that a probability may have. */
const TOLERANCE = 1e-5;

/** Fails with all that is too far off, the worst first. */
function expectNone(problems: readonly string[]): void {
  expect(problems.slice(0, 5)).toEqual([]);
}

function furthest(actual: ArrayLike<number>, expected: readonly number[]): number {
  expect(actual).toHaveLength(expected.length);
  return expected.reduce((worst, value, i) => {
    const difference = Math.abs((actual[i] as number) - value);
    return Math.max(worst, difference); // NaN stays NaN
  }, 0);
}

describe.each(textModelNames())('%s', (name) => {
  const directory = path.join(FIXTURES, 'models', name);
  const golden = readGolden(name);

  it('has the label and the score of the transformers pipeline', async () => {
    const classifier = await TaskModel.load(textClassification, directory, SCHEDULING);
    const problems: string[] = [];
    await Promise.all(
      golden.texts.map(async ({ text, label, score }) => {
        const answer = await classifier.run(text, {});
        // A regression's score is no probability: its tolerance grows with it.
        const tolerance = TOLERANCE * Math.max(1, Math.abs(score));
        if (answer.label !== label || !(Math.abs(answer.score - score) <= tolerance)) {
          problems.push(
            `${JSON.stringify(text)}: ${answer.label} ${answer.score}, ${label} ${score}`,
          );
        }
      }),
    );
    await classifier.close();
    expectNone(problems);
  });

  it('has its tokens and logits, alone and in a batch', async () => {
    const engine = await Engine.load(readTextClassifier(directory).source, SCHEDULING);
    expect(engine.description.maxLength).toBe(golden.max_length);
    const problems: string[] = [];
    const check = async ({ text, input_ids, truncated, logits }: (typeof golden.texts)[number]) => {
      const inference = await engine.infer(text);
      const far = furthest(inference.values, logits);
      const scale = Math.max(1, ...logits.map(Math.abs));
      if (
        inference.tokens !== input_ids.length ||
        inference.truncated !== truncated ||
        !(far <= 2 * TOLERANCE * scale)
      ) {
        const { tokens, truncated: cut } = inference;
        problems.push(
          `${JSON.stringify(text)}: ${tokens} tokens, cut ${cut}, logits off by ${far}`,
        );
      }
    };
    for (const row of golden.texts) await check(row);
    await Promise.all(golden.texts.map(check));
    await engine.close();
    expectNone(problems);
  });

  it('has its tokens, logits and labels for two texts, alone and with single ones', async () => {
    const classifier = await TaskModel.load(textClassification, directory, SCHEDULING);
    const pairs = readGoldenPairs(name);
    expect(pairs.length).toBeGreaterThan(4);
    const problems: string[] = [];
    const check = async ({ text, pair, ...expected }: (typeof pairs)[number]) => {
      const { label, inference } = await classifier.run({ text, pair }, {});
      const far = furthest(inference.values, expected.logits);
      const scale = Math.max(1, ...expected.logits.map(Math.abs));
      if (
        inference.tokens !== expected.input_ids.length ||
        inference.truncated !== expected.truncated ||
        label !== expected.label ||
        !(far <= 2 * TOLERANCE * scale)
      ) {
        problems.push(`${JSON.stringify([text, pair])}: ${label}, logits off by ${far}`);
      }
    };
    for (const row of pairs) await check(row);
    const singles = golden.texts.slice(0, 10).map(({ text }) => classifier.run(text, {}));
    await Promise.all([...singles, ...pairs.map(check)]);
    await classifier.close();
    expectNone(problems);
  });
});

describe('EEG', () => {
  const { windows } = readFixture<GoldenWindows>('eeg', 'windows.json');
  const { models } = readFixture<GoldenEeg>('eeg', 'golden.json');

  it.each(windows.map((window) => [window.name, window] as const))(
    'z-normalizes as exact arithmetic does: %s',
    (_name, { signal, normalized }) => {
      const actual = new Float32Array(zNormalize(signal));
      // One unit in the last place of a float32, for where the exact value lies between two.
      const tolerance = Math.max(1, ...normalized.map(Math.abs)) * 2 ** -23;
      expect(furthest(actual, normalized)).toBeLessThanOrEqual(tolerance);
    },
  );

  it.each(models.map((model) => [model.file, model] as const))(
    '%s has the probabilities of torch, alone and in a batch',
    async (file, { answers }) => {
      const classifier = await TaskModel.load(
        signalClassification,
        path.join(FIXTURES, 'eeg', file),
        SCHEDULING,
      );
      const problems: string[] = [];
      const check = async (index: number): Promise<void> => {
        const { probabilities } = answers[index] as (typeof answers)[number];
        const { score, label, inference } = await classifier.run(windows[index]?.signal ?? [], {});
        const actual = softmax(inference.values);
        const best = Math.max(...actual);
        if (
          !(furthest(actual, probabilities) <= TOLERANCE) ||
          score !== best ||
          label !== CLASSES[actual.indexOf(best)]
        ) {
          problems.push(`${windows[index]?.name}: ${actual}, expected ${probabilities}`);
        }
      };
      for (const index of windows.keys()) await check(index);
      await Promise.all([...windows.keys(), ...windows.keys()].map(check));
      await classifier.close();
      expectNone(problems);
    },
  );

  it.each([
    ['eegnet-same-traced-tuple', true],
    ['eegnet-same-scripted-dict', true],
    ['resnet-traced-dict', true],
    ['resnet-scripted-tuple', true],
    ['tcn-traced', true],
    ['tcn-scripted', true],
    ['cnn-gru-traced', true],
    ['cnn-gru-scripted', true],
    ['cnn-lstm-traced', true],
    ['cnn-lstm-scripted', true],
    ['transformer-traced', true],
    ['transformer-scripted', true],
    ['squeezed', true],
    ['state-kept', true],
    ['state-for-one', false],
    ['fixed-batch', false],
    ['batch-dependent', false],
    ['saved-in-training', false],
  ])('%s: whether windows may share a run was found out: %p', async (file, batching) => {
    const engine = await Engine.load(
      { type: 'signal-program', path: path.join(FIXTURES, 'eeg', `${file}.pt`), windowLength: 256 },
      SCHEDULING,
    );
    expect(engine.description).toMatchObject({ batching, numOutputs: 3, maxLength: 256 });
    await engine.close();
  });
});
