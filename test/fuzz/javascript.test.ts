import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { zNormalize } from '../../src/tasks/signal-classification/z-normalize';
import { readFixture } from '../helpers/golden';
import { seededRandom } from '../helpers/random';
import { budgeted, report, SEED } from './budget';

const run = promisify(execFile);

const SCRIPT = path.join(__dirname, 'scripts', 'coverage-guided.mjs');
const SECONDS = budgeted({ ci: 0.3, standard: 20, long: 600 });

const TARGETS = readdirSync(path.join(__dirname, 'javascript', 'corpus')).map((file) =>
  path.basename(file, '.json'),
);

interface Result {
  /** An error's stack; null: nothing was found. */
  readonly found: string | null;
  readonly runs: number;
}

it('has all targets', () => {
  expect(TARGETS.sort()).toEqual([
    'bdf',
    'brainvision',
    'csv',
    'edf',
    'redaction',
    'request-target',
    'rounding',
    'schemas',
    'settings',
    'traceparent',
    'xdf',
    'z-normalization',
  ]);
});

it.each(TARGETS)('finds nothing wrong with %s, guided by what runs', async (target) => {
  const args = [SCRIPT, target, String(SECONDS), String(SEED)];
  const { stdout } = await run(process.execPath, args);
  const result = JSON.parse(stdout) as Result;
  report(`javascript, ${target}`, { seed: SEED, seconds: SECONDS, ...result });
  expect(result.found).toBeNull();
  expect(result.runs).toBeGreaterThan(0);
});

it('z-normalizes as numpy does', () => {
  const { windows } = readFixture<{
    readonly windows: readonly { seed: number; scale: number; offset: number; float32: string }[];
  }>('eeg', 'z-normalization-numpy.json');
  expect(windows.length).toBeGreaterThan(20);
  for (const { seed, scale, offset, float32 } of windows) {
    const random = seededRandom(seed);
    const window = Array.from({ length: 256 }, () => offset + (random() - 0.5) * scale);
    const bytes = Uint8Array.from(Buffer.from(float32, 'base64'));
    const expected = new Float32Array(bytes.buffer);
    const actual = new Float32Array(zNormalize(window));
    const errors = actual.map((value, index) => Math.abs(value - (expected[index] as number)));
    // z-scores of 256 values are below 16.
    expect(Math.max(...errors)).toBeLessThan(16 * 2 ** -24);
  }
});
