import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { readFixture } from '../helpers/golden';
import { post, postRaw, predict, request } from '../helpers/http';
import { FIXTURES, killAll, type Service, startService } from '../helpers/service';
import { expectError, SIGNAL } from '../helpers/services';

interface Golden {
  readonly windows: readonly {
    readonly signal: readonly number[];
    readonly probabilities: readonly number[];
  }[];
}

/** Half a unit of the fourth decimal, and what a probability may differ from torch. */
const TOLERANCE = 0.5e-4 + 1e-5;

let temporary: string;

beforeEach(() => {
  temporary = mkdtempSync(path.join(os.tmpdir(), 'eeg-settings-'));
});

afterEach(() => rmSync(temporary, { recursive: true }));
afterAll(killAll);

/** A service with this model, and these settings beside it, if any. */
function start(
  model: string,
  settings?: object,
  env: Readonly<Record<string, string>> = {},
): Promise<Service> {
  const file = path.join(temporary, 'mine.pt');
  copyFileSync(path.join(FIXTURES, 'eeg', `${model}.pt`), file);
  if (settings) writeFileSync(path.join(temporary, 'mine.json'), JSON.stringify(settings));
  return startService('eeg', { env: { EEG_MODEL_PATH: file, ...env } });
}

const warningsOf = (service: Service) =>
  service.logs.filter(({ level }) => level === 'warn').map(({ msg }) => msg);

describe('a model with windows and classes of its own', () => {
  const classes = ['wake', 'N1', 'N2', 'REM — schnell'];
  const settings = {
    name: 'sleep',
    version: '2.1',
    classes,
    output: 'probabilities',
    window_length: 100,
    sampling_rate_hz: 100,
    channel: 'Fpz-Cz',
  };

  it('answers with its classes and its own probabilities, alone and in a batch', async () => {
    const { windows } = readFixture<Golden>('eeg', 'short-windows-golden.json');
    const service = await start('short-windows', settings);
    const health = await request(service, { path: '/health' });
    expect(health.text).toBe('{"status":"healthy","model_loaded":true}');
    const check = async ({ signal, probabilities }: (typeof windows)[number]): Promise<void> => {
      const { status, json } = await post(service, '/predict', { signal, patient_id: 'p' });
      const best = Math.max(...probabilities);
      const diagnosis = classes[probabilities.indexOf(best)];
      const confidence = expect.any(Number);
      expect({ status, json }).toEqual({
        status: 200,
        json: { patient_id: 'p', diagnosis, confidence },
      });
      const answer = json as { confidence: number };
      expect(Math.abs(answer.confidence - best)).toBeLessThanOrEqual(TOLERANCE);
    };
    for (const window of windows) await check(window);
    await Promise.all([...windows, ...windows].map(check));
    await service.stop();
    expect(warningsOf(service)).toEqual([]);
    expect(service.logs.find(({ msg }) => msg === 'model loaded')?.settings).toMatchObject({
      file: 'mine.json',
      name: 'sleep',
      version: '2.1',
      windowLength: 100,
      samplingRateHz: 100,
      channel: 'Fpz-Cz',
    });
  });

  it('names its length where a signal has another', async () => {
    const service = await start('short-windows', settings);
    const message = 'Signal must contain exactly 100 data points.';
    for (const length of [0, 99, 101, 256]) {
      expectError(await predict(service, Array(length).fill(1)), 400, message);
    }
    const body = `{"signal":[${Array(100).fill(1)},"x"]}`;
    const detail = 'signal[100]: expected a number';
    expectError(await postRaw(service, '/predict', body), 422, detail);
    expect(await service.stop()).toEqual({ code: 0, signal: null });
  });

  it('is described with its length, and without the examples of another model', async () => {
    const service = await start('short-windows', settings, { MAX_LIST_LENGTH: '7' });
    const { json } = await request(service, { path: '/openapi.json' });
    const signal = { minItems: 100, maxItems: 100 };
    const { components, paths } = json as {
      components: object;
      paths: Record<string, { post: { requestBody: { content: object } } }>;
    };
    expect(components).toMatchObject({
      schemas: {
        PredictRequest: { properties: { signal } },
        PredictBatchRequest: { properties: { signals: { maxItems: 7, items: signal } } },
      },
    });
    expect(paths['/predict']?.post.requestBody.content).toEqual({
      'application/json': { schema: { $ref: '#/components/schemas/PredictRequest' } },
    });
    await service.stop();
  });
});

describe('a model whose outputs are probabilities', () => {
  const confidenceOf = async (service: Service): Promise<number> => {
    const { json } = await predict(service, SIGNAL);
    return (json as { confidence: number }).confidence;
  };

  it('gets a softmax and a warning without settings, neither with them', async () => {
    const plain = await start('probabilities');
    const softened = await confidenceOf(plain);
    expect(warningsOf(plain)).toEqual([
      expect.stringMatching(/^mine\.pt: its outputs always sum to 1.* "output" in mine\.json /),
    ]);
    await plain.stop();

    const told = await start('probabilities', { output: 'probabilities' });
    const confidence = await confidenceOf(told);
    await told.stop();
    expect(warningsOf(told)).toEqual([]);
    // The softmax of three probabilities is at most e / (e + 2).
    expect(softened).toBeLessThan(0.5762);
    expect(confidence).toBeGreaterThan(softened);

    const asLogits = await start('probabilities', { output: 'logits' });
    expect(await confidenceOf(asLogits)).toBe(softened);
    await asLogits.stop();
    expect(warningsOf(asLogits)).toEqual([]);
  });
});

it.each([
  ['plain-cnn-scripted', []],
  ['saved-in-training', [/^mine\.pt: returns different results for the same window/]],
  ['four-outputs', [/describe it in mine\.json: classes: names 3 classes, but mine\.pt gives 4 /]],
  [
    'short-windows',
    [
      /window_length: mine\.pt cannot run .* 256 samples: a linear layer takes float32 \[\.\.\., 92\], received .*248\]/,
    ],
  ],
])('%s without settings is loaded, and warned of where it needs to be', async (model, expected) => {
  const service = await start(model);
  const { json } = await request(service, { path: '/health' });
  expect(json).toEqual({ status: 'healthy', model_loaded: true });
  await service.stop();
  expect(warningsOf(service)).toEqual(expected.map((text) => expect.stringMatching(text)));
  expect(service.stderr).toBe('');
});

it('says when a body with a whole window may be over the limit', async () => {
  const settings = { classes: ['a', 'b', 'c'], window_length: 50_000 };
  const service = await start('plain-cnn-traced', settings);
  const signal = Array.from({ length: 50_000 }, (_, i) => Math.round(Math.sin(i / 9) * 99));
  const answers = await Promise.all([1, 2, 3].map(() => predict(service, signal)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  await service.stop();
  expect(warningsOf(service)).toEqual([
    'BODY_LIMIT: 1048576 bytes can be too small for a window of 50000 samples. Set it to 1250000',
  ]);
});

it('runs at the same time do not see the state that a model keeps', async () => {
  const service = await start('state-kept', undefined, { WORKERS: '4' });
  const signals = [1, 2, 3, 4, 5, 6].map((k) => SIGNAL.map((_, i) => Math.sin((i * k) / 7)));
  const ask = async (signal: readonly number[]) =>
    (await predict(service, signal)).json as { confidence: number };
  const alone: { confidence: number }[] = [];
  for (const signal of signals) alone.push(await ask(signal));
  const many = Array.from({ length: 240 }, (_, i) => i % signals.length);
  const together = await Promise.all(many.map((i) => ask(signals[i] ?? [])));
  for (const [n, i] of many.entries()) {
    const difference = Math.abs((together[n]?.confidence ?? 0) - (alone[i]?.confidence ?? 1));
    expect(difference).toBeLessThanOrEqual(1.1e-4);
  }
  await service.stop();
});
