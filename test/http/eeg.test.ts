import path from 'node:path';
import { post, postRaw, predict, request } from '../helpers/http';
import { EEG_MODEL, FIXTURES, killAll, type Service, startService } from '../helpers/service';
import { expectError, SIGNAL } from '../helpers/services';

const CLASSES = ['Control', "Alzheimer's Disease (AD)", 'Frontotemporal Dementia (FTD)'];

let service: Service;
const ask = (signal: unknown, patient_id?: unknown) =>
  post(service, '/predict', { signal, patient_id });

beforeAll(async () => {
  service = await startService('eeg', { env: { EEG_MODEL_PATH: EEG_MODEL } });
});

afterAll(killAll);

it('answers with the patient, a diagnosis and a confidence of 4 decimals', async () => {
  const { status, json, text } = await ask(SIGNAL, 'p-1');
  expect(status).toBe(200);
  const answer = json as { patient_id: string; diagnosis: string; confidence: number };
  expect(text).toBe(
    `{"patient_id":"p-1","diagnosis":"${answer.diagnosis}","confidence":${answer.confidence}}`,
  );
  expect(answer.patient_id).toBe('p-1');
  expect(CLASSES).toContain(answer.diagnosis);
  // The largest of three probabilities.
  expect(answer.confidence).toBeGreaterThan(1 / 3);
  expect(answer.confidence).toBeLessThanOrEqual(1);
  expect(Number(answer.confidence.toFixed(4))).toBe(answer.confidence);
});

it.each([
  [undefined, null],
  [null, null],
  ['', ''],
  ['Zoë \u0000 "7"', 'Zoë \u0000 "7"'],
])('gives the patient %j back as %j', async (sent, received) => {
  expect((await ask(SIGNAL, sent)).json).toMatchObject({ patient_id: received });
});

it.each([0, 1, 255, 257, 512])('refuses a signal of %d points', async (length) => {
  const signal = Array.from({ length }, (_, i) => i);
  expectError(await ask(signal), 400, 'Signal must contain exactly 256 data points.');
});

it.each([
  ['"1"', 'signal[17]: expected a number'],
  ['null', 'signal[17]: expected a number'],
  ['true', 'signal[17]: expected a number'],
  ['[]', 'signal[17]: expected a number'],
  ['1e400', 'signal[17]: expected a finite number'],
  ['-1e400', 'signal[17]: expected a finite number'],
])('names the place of %s', async (value, detail) => {
  const numbers: (number | string)[] = [...SIGNAL];
  numbers[17] = value;
  numbers[200] = '"later"';
  expectError(await postRaw(service, '/predict', `{"signal":[${numbers}]}`), 422, detail);
});

it('counts before it looks at the length', async () => {
  expectError(await ask([1, 'x']), 422, 'signal[1]: expected a number');
});

it.each([
  [5, 'patient_id: expected a string or null'],
  [false, 'patient_id: expected a string or null'],
  [['p'], 'patient_id: expected a string or null'],
])('refuses the patient %j', async (patient, detail) => {
  expectError(await ask(SIGNAL, patient), 422, detail);
});

it.each([
  ['constant', () => 3.25],
  ['constantly zero', () => 0],
  ['at both ends of float64', (i: number) => (i % 2 ? 1.7e308 : -1.7e308)],
  ['near the top of float64', (i: number) => 1.7e308 - i * 1e300],
  ['of subnormals', (i: number) => i * 5e-324],
])('answers for a signal that is %s', async (_name, value) => {
  const { status, json } = await ask(Array.from({ length: 256 }, (_, i) => value(i)));
  expect(status).toBe(200);
  expect((json as { confidence: number }).confidence).toBeGreaterThan(1 / 3);
});

it('takes a constant signal for zeros, whatever the constant', async () => {
  const answers = await Promise.all([0, 0.1, -7e300].map((value) => ask(Array(256).fill(value))));
  expect(answers[1]?.json).toEqual(answers[0]?.json);
  expect(answers[2]?.json).toEqual(answers[0]?.json);
});

it('does not depend on the unit or the offset of the signal', async () => {
  const [plain, scaled, shifted] = await Promise.all([
    ask(SIGNAL),
    ask(SIGNAL.map((value) => value * 2 ** 500)),
    ask(SIGNAL.map((value) => value + 4096)),
  ]);
  expect(scaled?.json).toEqual(plain?.json);
  expect(shifted?.json).toEqual(plain?.json);
});

describe('a model whose output is no answer', () => {
  const OUTLIER = SIGNAL.map((value, i) => (i === 9 ? 1e6 : value));

  it.each([
    ['infinite-on-large-input', "The model's output is not 3 finite numbers."],
    ['raises-on-large-input', /amplitude over 5$/],
  ])('%s: is an error for that request alone', async (model, detail) => {
    const env = { EEG_MODEL_PATH: path.join(FIXTURES, 'eeg', `${model}.pt`) };
    const failing = await startService('eeg', { env });
    const send = (signal: readonly number[]) => predict(failing, signal);
    const answers = await Promise.all([send(SIGNAL), send(OUTLIER), send(SIGNAL), send(OUTLIER)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 500, 200, 500]);
    expectError(await send(OUTLIER), 500, detail);
    expect((await send(SIGNAL)).status).toBe(200);
    expect(await failing.stop()).toEqual({ code: 0, signal: null });
  });

  it.each(['nan-output', 'four-outputs', 'short-windows'])(
    '%s: is never a diagnosis',
    async (model) => {
      const env = { EEG_MODEL_PATH: path.join(FIXTURES, 'eeg', `${model}.pt`) };
      const failing = await startService('eeg', { env });
      for (let i = 0; i < 3; i++) {
        expectError(await predict(failing, SIGNAL), 500, /./);
      }
      expect((await request(failing, { path: '/health' })).status).toBe(200);
      expect(await failing.stop()).toEqual({ code: 0, signal: null });
    },
  );
});
