import { copyFileSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { addon } from '../../src/native/addon';
import { Engine } from '../../src/native/engine';
import { signalClassification } from '../../src/tasks/signal-classification/signal-classification-task';
import { TaskModel } from '../../src/tasks/task-model';
import { readTextClassifier } from '../../src/tasks/text-classification/model-directory';
import { readFixture, readGolden } from '../helpers/golden';
import { post } from '../helpers/http';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES, killAll, startService } from '../helpers/service';

const SIGNALS = path.join(FIXTURES, 'exported', 'signals');
const TEXTS = ['exported-bert', 'exported-gpt2', 'exported-llama'];

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'exported-'));
});

afterEach(() => rmSync(folder, { recursive: true }));
afterAll(killAll);

function put(model: string, settings?: object): string {
  const place = path.join(folder, 'eeg_model.pt2');
  copyFileSync(path.join(SIGNALS, `${model}.pt2`), place);
  if (settings) writeFileSync(path.join(folder, 'eeg_model.json'), JSON.stringify(settings));
  return place;
}

async function whyNotLoaded(model: string, settings?: object): Promise<string> {
  try {
    await (await TaskModel.load(signalClassification, put(model, settings), SCHEDULING)).close();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error(`${model} was loaded`);
}

describe('a signal model that torch.export saved', () => {
  it('is served where it alone lies in the folder of the start', async () => {
    put('plain-cnn');
    const service = await startService('eeg', { cwd: folder, env: {} });
    const signal = Array.from({ length: 256 }, (_, i) => Math.sin(i / 7));
    const body = { patient_id: 'p', signal };
    expect((await post(service, '/predict', body)).status).toBe(200);
    await service.stop();
  });

  it.each<[string, boolean, RegExp[]]>([
    ['plain-cnn', true, []],
    ['batch-dependent', false, []],
    ['four-at-most', true, []],
    [
      'one-at-a-time',
      false,
      [/^eeg_model\.pt2: was exported for exactly 1 window: .*scripts\/export\.py/],
    ],
  ])('%s: windows share runs: %p', async (model, batching, warnings) => {
    const classifier = await TaskModel.load(signalClassification, put(model), SCHEDULING);
    const engine = await Engine.load(
      { type: 'signal-program', path: put(model), windowLength: 256 },
      SCHEDULING,
    );
    expect(engine.description).toMatchObject({ backend: 'exported', batching, maxLength: 256 });
    expect(classifier.warnings).toEqual(warnings.map((text) => expect.stringMatching(text)));
    await Promise.all([classifier.close(), engine.close()]);
  });

  it('takes windows of the shape that its file says', async () => {
    const { windows } = readFixture<{
      readonly windows: readonly {
        readonly signal: readonly number[];
        readonly probabilities: readonly number[];
      }[];
    }>('exported', 'signals/mobile-image-golden.json');
    const settings = { input_shape: [3, 16, 16] };
    const classifier = await TaskModel.load(
      signalClassification,
      put('mobile-image', settings),
      SCHEDULING,
    );
    const answers = await classifier.runAll(
      windows.map(({ signal }) => signal),
      {},
    );
    expect(answers.length).toBeGreaterThan(1);
    for (const [i, { scores: probabilities }] of answers.entries()) {
      const expected = windows[i]?.probabilities ?? [];
      expect(probabilities).toHaveLength(expected.length);
      for (const [j, value] of expected.entries()) expect(probabilities[j]).toBeCloseTo(value, 5);
    }
    await classifier.close();
  });

  it.each([
    [
      'two-inputs',
      undefined,
      'takes 2 inputs (x, y), expected one, the windows: set the others in constant_inputs in eeg_model.json',
    ],
    [
      'mobile-image',
      undefined,
      'takes windows of [3, 16, 16], but eeg_model.json specifies (or defaults to) window_length 256: ' +
        'set it there to the product of these',
    ],
    [
      'plain-cnn',
      { input_shape: [2, 128] },
      'takes windows of [1, 256], but is given [2, 128]: set input_shape in eeg_model.json',
    ],
  ])('%s is a load error with the settings %j', async (model, settings, message) => {
    expect(await whyNotLoaded(model, settings)).toBe(`eeg_model.pt2: ${message}`);
  });
});

describe('a text model that torch.export saved', () => {
  it.each(TEXTS)(
    '%s: texts of close lengths share runs, padded, and answer as alone',
    async (name) => {
      const engine = await Engine.load(
        readTextClassifier(path.join(FIXTURES, 'models', name)).source,
        { ...SCHEDULING, workers: 1, maxQueueDelayMs: 50 },
      );
      const { texts } = readGolden(name);
      expect(engine.description).toMatchObject({ backend: 'exported', batching: true });
      const together = await Promise.all(texts.map(({ text }) => engine.infer(text)));
      expect(Math.max(...together.map(({ batchSize }) => batchSize))).toBeGreaterThan(1);
      for (const [i, { values }] of together.entries()) {
        const expected = texts[i]?.logits ?? [];
        const tolerance = 2e-5 * Math.max(1, ...expected.map(Math.abs));
        for (const [j, value] of expected.entries()) {
          expect(Math.abs((values[j] as number) - value)).toBeLessThanOrEqual(tolerance);
        }
      }
      await engine.close();
    },
  );

  it.each(['bfloat16', 'int8'] as const)(
    'computes in %s, or says what the processor lacks',
    async (dtype) => {
      const { source } = readTextClassifier(path.join(FIXTURES, 'models', 'exported-bert'));
      const loading = Engine.load(source, { ...SCHEDULING, dtype });
      const problem = addon().dtypeProblem(dtype);
      if (problem.startsWith('this processor has no ')) {
        await expect(loading).rejects.toThrow(`DTYPE: ${dtype}: ${problem}`);
        return;
      }
      const engine = await loading;
      const { texts } = readGolden('exported-bert');
      for (const { text, logits } of texts.slice(0, 5)) {
        const actual = (await engine.infer(text)).values;
        const differences = logits.map((value, i) => Math.abs((actual[i] as number) - value));
        expect(Math.max(...differences)).toBeGreaterThan(0);
        expect(Math.max(...differences)).toBeLessThan(0.15);
      }
      await engine.close();
    },
  );

  it('is taken before a TorchScript file, and after weights', async () => {
    cpSync(path.join(FIXTURES, 'models', 'exported-bert'), folder, { recursive: true });
    const file = path.join(FIXTURES, 'models', 'torchscript-dict', 'model.pt');
    copyFileSync(file, path.join(folder, 'model.pt'));
    const engine = await Engine.load(readTextClassifier(folder).source, SCHEDULING);
    expect(engine.description.backend).toBe('exported');
    await engine.close();
  });
});
