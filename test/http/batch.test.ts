import os from 'node:os';
import path from 'node:path';
import { type GoldenTexts, readFixture } from '../helpers/golden';
import { type Answer, analyze, post, postRaw, predict, request } from '../helpers/http';
import { FIXTURES, killAll, ROOT, type Service, startService, textModel } from '../helpers/service';
import { expectError, SIGNAL } from '../helpers/services';

/** What sharing a batch may move, once rounded to four decimals. */
const TOLERANCE = 1.01e-4;
const OUTLIER = SIGNAL.map((value, i) => (i === 9 ? 1e6 : value));

interface Row {
  readonly [key: string]: unknown;
  readonly probabilities: Readonly<Record<string, number>>;
}

afterAll(killAll);

function resultsOf(answer: Answer): readonly Row[] {
  expect({ status: answer.status, text: answer.status === 200 ? '' : answer.text }).toEqual({
    status: 200,
    text: '',
  });
  expect(Object.keys(answer.json as object)).toEqual(['results']);
  return (answer.json as { results: readonly Row[] }).results;
}

/** The single route's answer, but for the last digit of the score. */
function expectSame(row: Row, single: Answer, score: 'score' | 'confidence'): void {
  const expected = single.json as Readonly<Record<string, unknown>>;
  const shared = Object.fromEntries(Object.keys(expected).map((key) => [key, row[key]]));
  expect({ ...shared, [score]: 0 }).toEqual({ ...expected, [score]: 0 });
  expect(Math.abs(Number(row[score]) - Number(expected[score]))).toBeLessThan(TOLERANCE);
}

describe('POST /analyze/batch with the shipped model', () => {
  let service: Service;
  const batch = (texts: unknown) => post(service, '/analyze/batch', { texts });

  beforeAll(async () => {
    service = await startService('sentiment', { cwd: os.tmpdir() });
  });

  it('answers in order what /analyze answers, with the probabilities of all labels', async () => {
    const golden = readFixture<GoldenTexts>('shipped-sentiment.json').texts.slice(0, 60);
    const answer = await batch(golden.map(({ text }) => text));
    const results = resultsOf(answer);
    expect(results).toHaveLength(golden.length);
    for (const [i, { text, truncated }] of golden.entries()) {
      const row = results[i] as Row;
      expect(Object.keys(row)).toEqual([
        'input_text',
        'label',
        'score',
        'probabilities',
        'truncated',
      ]);
      expect(row).toMatchObject({ input_text: text, truncated });
      const { NEGATIVE = 0, POSITIVE = 0, ...others } = row.probabilities;
      expect(others).toEqual({});
      expect(Math.max(NEGATIVE, POSITIVE)).toBe(row.score);
      expect(Math.abs(NEGATIVE + POSITIVE - 1)).toBeLessThan(TOLERANCE);
      expectSame(row, await analyze(service, text), 'score');
    }
    expect(answer.headers['x-compute-tokens']).toMatch(/^\d+$/);
  });

  it('answers an empty list with an empty list', async () => {
    const answer = await batch([]);
    expect([answer.status, answer.text]).toEqual([200, '{"results":[]}']);
  });

  it('gives back each lone surrogate as it was sent', async () => {
    const answer = await postRaw(service, '/analyze/batch', '{"texts":["\\ud800","good \\udc00"]}');
    const texts = resultsOf(answer).map(({ input_text }) => input_text);
    expect(texts).toEqual(['\ud800', 'good \udc00']);
  });

  it.each([
    ['{}', 'texts: is required'],
    ['{"texts":"good"}', 'texts: expected an array of texts'],
    ['{"texts":{"0":"good"}}', 'texts: expected an array of texts'],
    ['{"texts":["a","b","c",4,null]}', 'texts[3]: expected a string or an object'],
    ['{"texts":["a",null]}', 'texts[1]: expected a string or an object'],
    ['{"texts":[["a"]]}', 'texts[0]: expected a string or an object'],
    ['[]', 'body: expected an object'],
  ])('%s is 422', async (body, detail) => {
    expectError(await postRaw(service, '/analyze/batch', body), 422, detail);
  });

  it('names the first empty text, after wrong types and a list that is too long', async () => {
    const detail = 'texts[2]: Text payload cannot be empty.';
    expectError(await batch(['a', 'b', ' \n', '']), 400, detail);
    expectError(await batch(['', 1]), 422, 'texts[1]: expected a string or an object');
    expectError(
      await batch(Array(1025).fill('')),
      413,
      'texts: 1025 elements exceed the limit of 1024.',
    );
  });

  it('says which texts were cut', async () => {
    const answer = await batch(['good', 'good film '.repeat(600)]);
    expect(resultsOf(answer).map(({ truncated }) => truncated)).toEqual([false, true]);
    expect(answer.headers['x-input-truncated']).toBe('true');
  });

  it('lets others be answered while the longest list runs', async () => {
    let isAnswered = false;
    const list = batch(Array(1024).fill('good film')).finally(() => {
      isAnswered = true;
    });
    for (let i = 0; i < 5; i++) {
      expect((await request(service, { path: '/health' })).status).toBe(200);
    }
    expect(isAnswered).toBe(false);
    expect(resultsOf(await list)).toHaveLength(1024);
  });

  it('leaves other paths and methods as they are', async () => {
    const wrong = await request(service, { path: '/analyze/batch' });
    expectError(wrong, 405, 'This path accepts POST only.');
    expectError(await request(service, { path: '/analyze/batch/' }), 404, /Path not found/);
  });
});

describe('POST /predict/batch with the shipped model', () => {
  let service: Service;
  const batch = (signals: unknown, patient_id?: unknown) =>
    post(service, '/predict/batch', { signals, patient_id });

  beforeAll(async () => {
    service = await startService('eeg', { cwd: path.join(ROOT, 'models', 'eeg') });
  });

  it('answers in order what /predict answers, with the probabilities of all classes', async () => {
    const { windows } = readFixture<{
      windows: readonly { signal: readonly number[]; probabilities: readonly number[] }[];
    }>('shipped-eeg.json');
    const results = resultsOf(await batch(windows.map(({ signal }) => signal)));
    expect(results).toHaveLength(windows.length);
    for (const [i, { signal, probabilities }] of windows.entries()) {
      const row = results[i] as Row;
      expect(Object.keys(row)).toEqual(['patient_id', 'diagnosis', 'confidence', 'probabilities']);
      expect(Object.keys(row.probabilities)).toEqual([
        'Control',
        "Alzheimer's Disease (AD)",
        'Frontotemporal Dementia (FTD)',
      ]);
      for (const [j, value] of Object.values(row.probabilities).entries()) {
        expect(Math.abs(value - Number(probabilities[j]))).toBeLessThan(TOLERANCE);
      }
      expect(row.probabilities[row.diagnosis as string]).toBe(row.confidence);
      expectSame(row, await predict(service, signal), 'confidence');
    }
  });

  it('gives every element the patient', async () => {
    const patients = async (patient_id?: unknown) =>
      resultsOf(await batch([SIGNAL, SIGNAL], patient_id)).map((row) => row.patient_id);
    expect(await patients('p-1')).toEqual(['p-1', 'p-1']);
    expect(await patients(null)).toEqual([null, null]);
    expect(await patients()).toEqual([null, null]);
    expect(resultsOf(await batch([], 'p-1'))).toEqual([]);
  });

  it.each([
    ['{}', 'signals: is required'],
    ['{"signals":1}', 'signals: expected an array of signals'],
    ['{"signals":[[1,2],3]}', 'signals[1]: expected an array of numbers'],
    ['{"signals":[[1],[2],[3,"4"]]}', 'signals[2][1]: expected a number'],
    ['{"signals":[[1],[1e400]]}', 'signals[1][0]: expected a finite number'],
    ['{"signals":[],"patient_id":5}', 'patient_id: expected a string or null'],
  ])('%s is 422', async (body, detail) => {
    expectError(await postRaw(service, '/predict/batch', body), 422, detail);
  });

  it('names the first signal of another length', async () => {
    const detail = 'signals[1]: Signal must contain exactly 256 data points.';
    expectError(await batch([SIGNAL, SIGNAL.slice(1), []]), 400, detail);
  });
});

describe('models of other kinds', () => {
  it.each(['bert-multi-label-bfloat16', 'bert-regression-bin', 'roberta-one-label'])(
    '%s: the top label has the score of the single route',
    async (model) => {
      const service = await startService('sentiment', { env: textModel(model) });
      const texts = ['good', 'a bad film', 'never'];
      const results = resultsOf(await post(service, '/analyze/batch', { texts }));
      for (const [i, text] of texts.entries()) {
        const row = results[i] as Row;
        expectSame(row, await analyze(service, text), 'score');
        expect(row.probabilities[row.label as string]).toBe(row.score);
        expect(Math.max(...Object.values(row.probabilities))).toBe(row.score);
      }
      await service.stop();
    },
  );
});

describe('an element that fails', () => {
  it.each([
    ['infinite-on-large-input', "signals[2]: The model's output is not 3 finite numbers."],
    ['raises-on-large-input', /^signals\[2\]: .*amplitude over 5$/],
  ])('%s: is named, and takes nobody else down', async (model, detail) => {
    const env = { EEG_MODEL_PATH: path.join(FIXTURES, 'eeg', `${model}.pt`) };
    const service = await startService('eeg', { env });
    const batch = (signals: unknown) => post(service, '/predict/batch', { signals });
    const [failed, other] = await Promise.all([
      batch([SIGNAL, SIGNAL, OUTLIER, SIGNAL]),
      batch([SIGNAL, SIGNAL]),
    ]);
    expectError(failed, 500, detail);
    expect(resultsOf(other)).toHaveLength(2);
    await service.stop();
  });

  it('names the deadline that passed', async () => {
    const service = await startService('sentiment', {
      env: {
        ...textModel('bert-single-label'),
        MAX_QUEUE_DELAY_MS: '20000',
        REQUEST_TIMEOUT_MS: '2000',
      },
    });
    const answer = await post(service, '/analyze/batch', { texts: ['good', 'bad'] });
    expectError(
      answer,
      504,
      /^texts\[[01]\]: The deadline of 2000 ms passed before the model ran\.$/,
    );
    await service.stop();
  });

  it('is 500 for the list when no model is loaded', async () => {
    const env = { EEG_MODEL_PATH: '/nonexistent/eeg_model.pt', MAX_LIST_LENGTH: '2' };
    const service = await startService('eeg', { env });
    const batch = (signals: unknown) => post(service, '/predict/batch', { signals });
    expectError(await batch([[1]]), 500, 'Model is not loaded.');
    expectError(await batch([]), 500, 'Model is not loaded.');
    expectError(await batch([1]), 422, /^signals\[0\]/);
    expectError(await batch([[], [], []]), 413, /exceed the limit of 2\.$/);
    await service.stop();
  });
});
