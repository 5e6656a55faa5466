import type { Answer } from './http';
import { EEG_MODEL, type ServiceOptions, textModel } from './service';

/** What a test of both services needs to know of each. */
export interface ServiceCase {
  readonly name: 'sentiment' | 'eeg';
  readonly path: string;
  /** A body that is answered 200. */
  readonly body: Readonly<Record<string, unknown>>;
  /** A body that is answered 400, and its message. */
  readonly refused: Readonly<Record<string, unknown>>;
  readonly refusedDetail: string;
  readonly options: ServiceOptions;
  /** Settings under which the model cannot be loaded. */
  readonly unloadable: Readonly<Record<string, string>>;
}

export const SIGNAL: readonly number[] = Array.from(
  { length: 256 },
  (_, i) => Math.sin(i / 5) * 20,
);

export const SERVICE_CASES: readonly ServiceCase[] = [
  {
    name: 'sentiment',
    path: '/analyze',
    body: { text: 'A quiet, funny film.' },
    refused: { text: ' \t\n' },
    refusedDetail: 'Text payload cannot be empty.',
    options: { env: textModel('bert-single-label') },
    unloadable: { SENTIMENT_MODEL_DIR: '/nonexistent/model' },
  },
  {
    name: 'eeg',
    path: '/predict',
    body: { signal: SIGNAL, patient_id: 'p-1' },
    refused: { signal: SIGNAL.slice(1) },
    refusedDetail: 'Signal must contain exactly 256 data points.',
    options: { env: { EEG_MODEL_PATH: EEG_MODEL } },
    unloadable: { EEG_MODEL_PATH: '/nonexistent/eeg_model.pt' },
  },
];

/** A JSON error with this status, and no more in it than a one-line message. */
export function expectError(answer: Answer, status: number, detail: string | RegExp): void {
  expect({ status: answer.status, body: answer.json }).toEqual({
    status,
    body: { detail: typeof detail === 'string' ? detail : expect.stringMatching(detail) },
  });
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  expect((answer.json as { detail: string }).detail).not.toMatch(/\n|node_modules|\.[jt]s:|dist\//);
}
