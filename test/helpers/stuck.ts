import path from 'node:path';
import { FIXTURES, type Service, startService } from './service';

/** The test/parity/eeg_models.py class behind each name says when it does not come back. */
export function eegModel(name: string): Readonly<Record<string, string>> {
  return { EEG_MODEL_PATH: path.join(FIXTURES, 'eeg', `${name}.pt`) };
}

/** A window whose largest value, once z-normalized, is this (up to 15). */
export function windowOfAmplitude(amplitude: number): readonly number[] {
  // Of a window with one value v among ±1, the z-score of v is v / sqrt((255 + v²) / 256), nearly.
  const value = Math.sqrt((255 * amplitude ** 2) / (256 - amplitude ** 2));
  return Array.from({ length: 256 }, (_, i) => (i === 100 ? value : i % 2 === 0 ? 1 : -1));
}

export const CALM = windowOfAmplitude(2);
/** The model slow-on-large-input takes seconds for it; endless-on-large-input loops for ever. */
export const SLOW = windowOfAmplitude(8);
/** The model slow-on-large-input takes a minute and more for it. */
export const ENDLESS = windowOfAmplitude(15);

/** A service with one worker, so that what comes after a window that is stuck has to wait. */
export function startEeg(
  model: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Service> {
  return startService('eeg', { env: { ...eegModel(model), WORKERS: '1', ...env } });
}
