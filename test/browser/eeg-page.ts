import path from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { seededRandom } from '../helpers/random';
import { ROOT } from '../helpers/service';
import type { Visit } from './browser';

/** The shipped model: windows of 256 samples of channel T3 at 95 Hz. */
export const MODEL = { env: { EEG_MODEL_PATH: path.join(ROOT, 'models', 'eeg', 'eeg_model.pt') } };
export const WINDOW = 256;

/** A rhythm and some noise, in microvolts. */
export function signal(length: number, { hz = 10, rate = 95, seed = 1 } = {}): number[] {
  const random = seededRandom(seed);
  return Array.from({ length }, (_, i) => {
    const value = 20 * Math.sin((2 * Math.PI * hz * i) / rate) + 15 * (random() - 0.5);
    return Math.round(value * 10) / 10;
  });
}

/** Two channels with a column of times, at 95 Hz. */
export function table(t3: readonly number[]): string {
  const rows = t3.map((value, i) => `${(i / 95).toFixed(5)},${(i * 7) % 13},${value}`);
  return ['time,Fp1,T3', ...rows].join('\n');
}

export async function paste(visit: Visit, text: string): Promise<void> {
  await visit.page.getByText('Paste', { exact: true }).click();
  await visit.put('Numbers:', text);
  await visit.page.getByRole('button', { name: 'Read' }).click();
}

export async function generate({ page }: Visit, seconds: number): Promise<void> {
  await page.getByText('Generate', { exact: true }).first().click();
  await page.getByLabel('Length, s').fill(String(seconds));
  await page.getByRole('button', { name: 'Generate' }).click();
}

export function openFile(page: Page, name: string, buffer: Buffer): Promise<void> {
  return page.getByLabel('Open a recording').setInputFiles({ name, mimeType: '', buffer });
}

export function answerOf({ page }: Visit): Locator {
  return page.getByRole('region', { name: 'Prediction for this window' });
}
