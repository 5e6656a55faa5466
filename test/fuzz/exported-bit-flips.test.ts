// Files of torch.export.save with bits turned over, cut off, and such as write into themselves.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { seededRandom } from '../helpers/random';
import { FIXTURES } from '../helpers/service';
import { programCase } from '../hostile/exported-archive';
import { WRITES } from '../hostile/exported-operators';
import { Loader, type Outcome } from '../hostile/loader';

const FILES = ['signals/plain-cnn', 'versions/2.6.0-training'] as const;
const FLIPS = 150;
const CUTS = 60;

let loader: Loader;
let temporary: string;
let place: string;

beforeAll(() => {
  loader = new Loader();
  temporary = mkdtempSync(path.join(os.tmpdir(), 'hostile-exported-'));
  place = path.join(temporary, 'eeg_model.pt2');
});
afterAll(async () => {
  await loader.end();
  rmSync(temporary, { recursive: true });
});

const read = (file: string): Buffer => readFileSync(path.join(FIXTURES, 'exported', `${file}.pt2`));

async function load(bytes: Buffer): Promise<Outcome> {
  writeFileSync(place, bytes);
  return loader.load({ service: 'eeg', place });
}

/** It answers, or it says in one line of which file it is. */
function isNamed({ answer, code, error }: Outcome): boolean {
  if (answer !== null) return true;
  if (error === null || error.includes(temporary)) return false;
  return code === 'INFERENCE_FAILED' || /^eeg_model\.pt2: [^\n]+$/.test(error);
}

describe.each(FILES)('%s', (file) => {
  it(`with one bit turned over, ${FLIPS} times: a named error, or a model that answers`, async () => {
    const random = seededRandom(file.length);
    const good = read(file);
    const wrong: string[] = [];
    let refused = 0;
    for (let i = 0; i < FLIPS; i++) {
      const bit = Math.floor(random() * good.length * 8);
      const damaged = Buffer.from(good);
      damaged[bit >> 3] = (damaged[bit >> 3] as number) ^ (1 << (bit & 7));
      const outcome = await load(damaged);
      if (outcome.answer === null) refused += 1;
      if (!isNamed(outcome)) wrong.push(`bit ${bit}: ${outcome.code}: ${outcome.error}`);
    }
    expect(wrong).toEqual([]);
    expect(refused).toBeGreaterThan(0);
    expect(loader.processes).toBe(1);
    process.stdout.write(`${file}: ${refused} of ${FLIPS} refused\n`);
  });

  it(`cut off at ${CUTS} places: a load error`, async () => {
    const good = read(file);
    for (let i = 0; i < CUTS; i++) {
      const { code, error } = await load(good.subarray(0, (good.length * i) / CUTS));
      expect([code, error]).toEqual([
        'MODEL_LOAD_FAILED',
        expect.stringMatching(/^eeg_model\.pt2: is (empty|no zip archive, or is truncated)$/),
      ]);
    }
    expect(loader.processes).toBe(1);
  });
});

it.each(WRITES)('a program that writes into %s answers the same each time', async (name, edit) => {
  programCase(name, 'plain-cnn', edit, /./).make(temporary);
  const before = readFileSync(place);
  const first = await loader.load({ service: 'eeg', place });
  expect(first).toMatchObject({ error: null, answer: { repeats: true } });
  expect(await loader.load({ service: 'eeg', place })).toMatchObject({ answer: first.answer });
  expect(readFileSync(place).equals(before)).toBe(true);
  expect(loader.processes).toBe(1);
});
