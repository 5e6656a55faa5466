import { readFileSync } from 'node:fs';
import path from 'node:path';
import { FIXTURES } from './service';

/** A model of five channels at 128 Hz, with windows of 64 samples, and a recording. */
export const MODEL = path.join(FIXTURES, 'multichannel');
export const CHANNELS = ['Fp1', 'Fp2', 'Cz', 'O1', 'O2'];
export const CLASSES = ['left', 'right', 'rest'];
export const RATE = 128;
export const LENGTH = 64;
export const STEP = 32;

interface Epoch {
  readonly event: string;
  readonly sample: number;
  readonly probabilities: readonly number[];
}

/** Values of MNE, SciPy and PyTorch, see test/parity/multichannel_golden.py. */
export const golden = JSON.parse(readFileSync(path.join(MODEL, 'golden.json'), 'utf8')) as {
  readonly signal: readonly (readonly number[])[];
  /** Of the windows of the whole signal. */
  readonly windows: readonly (readonly number[])[];
  /** Of the windows, each as a signal of its own. */
  readonly alone: readonly (readonly number[])[];
  readonly epochs: readonly Epoch[];
};

/** Samples of a window, by channel. */
export const rowsAt = (start: number) =>
  golden.signal.map((row) => row.slice(start, start + LENGTH));

/** Rows by the name of the channel. */
export const byName = <Row>(rows: readonly Row[]) =>
  Object.fromEntries(CHANNELS.map((name, index) => [name, rows[index] as Row]));

/** Frames of all channels. */
export const framesOf = (signal: readonly (readonly number[])[]) =>
  (signal[0] ?? []).map((_, i) => signal.map((row) => row[i] as number));
