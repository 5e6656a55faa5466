import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { has, needs } from '../helpers/needs';
import { ROOT } from '../helpers/service';
import { build } from './case';
import { KINDS } from './kinds';
import { Loader } from './loader';
import { deedsOf } from './trace';

const MOST_MS = 10_000;
const MOST_BYTES = 1e9;

/** Loaded before all others: the first one opens libraries. */
const GOOD_FIRST = 2;
const GOOD = {
  service: 'sentiment',
  place: path.join(ROOT, 'test/fixtures/models/bert-single-label'),
} as const;

let loader: Loader;
let temporary: string;
let idle: number;

beforeAll(async () => {
  temporary = mkdtempSync(path.join(os.tmpdir(), 'hostile-'));
  loader = new Loader(has('strace') ? path.join(temporary, 'trace') : null);
  for (let i = 0; i < GOOD_FIRST; i++) idle = (await loader.load(GOOD)).peak;
});
afterAll(async () => {
  await loader.end();
  rmSync(temporary, { recursive: true });
});

it('has at least 150 of them, each with a name of its own', () => {
  const names = Object.values(KINDS).flatMap((cases) =>
    cases.map(({ name, base }) => `${base}: ${name}`),
  );
  expect(names.length).toBeGreaterThanOrEqual(150);
  expect(new Set(names).size).toBe(names.length);
});

describe.each(Object.entries(KINDS))('of %s', (_kind, cases) => {
  it.each(cases.map((one) => [one.name, one] as const))(
    '%s is a named error',
    async (_name, one) => {
      const place = path.join(mkdtempSync(path.join(temporary, 'case-')), 'model');
      mkdirSync(place);
      build(one, place);
      const model = one.service === 'eeg' ? path.join(place, one.file ?? 'eeg_model.pt') : place;
      const { error, code, ms, peak } = await loader.load({ service: one.service, place: model });
      const expected = one.failsAt === 'request' ? 'INFERENCE_FAILED' : 'MODEL_LOAD_FAILED';
      expect([code, error]).toEqual([expected, expect.stringMatching(one.error)]);
      expect(error).not.toMatch(/\n/);
      expect(ms).toBeLessThan(one.mostMs ?? MOST_MS);
      expect(peak - idle).toBeLessThan(MOST_BYTES);
      rmSync(path.dirname(place), { recursive: true });
    },
  );
});

it('none of them ended the process, and a good model is loaded by the same one', async () => {
  expect(loader.processes).toBe(1);
  expect(await loader.load(GOOD)).toMatchObject({ error: null, answer: { truncated: false } });
  expect(existsSync(path.join(ROOT, 'malicious-pickle-ran'))).toBe(false);
});

needs('strace').it(
  'none of them had a file read outside of its folder, or one written',
  async () => {
    await loader.end();
    const { loads, read, others } = deedsOf(path.join(temporary, 'trace'), GOOD_FIRST);
    const cases = Object.values(KINDS).flat().length;
    expect(loads).toBe(GOOD_FIRST + cases + 1);
    expect(others).toEqual([]);
    const own = new RegExp(`^${temporary}/case-\\w+/model/`);
    const allowed = (place: string): boolean =>
      own.test(place) || place.startsWith(`${GOOD.place}/`) || /^\/(proc|sys)\//.test(place);
    expect([...read].filter((place) => !allowed(place))).toEqual([]);
    expect([...read].filter((place) => own.test(place)).length).toBeGreaterThan(cases);
  },
);
