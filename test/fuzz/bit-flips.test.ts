// One bit of a good file turned over, at 1,000 places: a named load error, or a model that answers.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { FIXTURES } from '../helpers/service';
import { Loader } from '../hostile/loader';

/** How many bits of each part are turned over, evenly spread. */
const PLACES: readonly (readonly [model: string, file: string, inFront: number, behind: number])[] =
  [
    // In front lie the length of the header and the header, behind the numbers.
    ['bert-single-label', 'model.safetensors', 400, 150],
    ['bert-regression-bin', 'pytorch_model.bin', 150, 50],
    ['bert-legacy-bin-base-keys', 'pytorch_model.bin', 150, 50],
    ['bert-single-label', 'tokenizer.json', 50, 0],
  ];

let loader: Loader;
let temporary: string;

beforeAll(() => {
  loader = new Loader();
  temporary = mkdtempSync(path.join(os.tmpdir(), 'bit-flips-'));
});
afterAll(async () => {
  await loader.end();
  rmSync(temporary, { recursive: true });
});

/** Where the header, or the pickle, ends. */
function frontOf(content: Buffer, file: string): number {
  if (file === 'tokenizer.json') return content.length;
  return file.endsWith('.safetensors') ? 8 + Number(content.readBigUInt64LE(0)) : 8000;
}

function spread(from: number, to: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, i) => Math.floor(from + ((to - from) * i) / count));
}

it.each(PLACES)('in %s, %s: %i in front and %i behind', async (model, file, inFront, behind) => {
  const folder = path.join(mkdtempSync(path.join(temporary, 'model-')), 'model');
  cpSync(path.join(FIXTURES, 'models', model), folder, { recursive: true });
  const place = path.join(folder, file);
  const good = readFileSync(place);
  const front = frontOf(good, file) * 8;
  // A step of 8 × n bits would meet the same bit of every byte.
  const bits = [...spread(0, front, inFront), ...spread(front, good.length * 8, behind)].map(
    (bit, i) => bit - (bit % 8) + (i % 8),
  );
  const outcomes = { refused: 0, answered: 0 };
  const wrong: string[] = [];
  for (const bit of bits) {
    const damaged = Buffer.from(good);
    damaged[bit >> 3] = (damaged[bit >> 3] as number) ^ (1 << (bit & 7));
    writeFileSync(place, damaged);
    const { code, error, answer } = await loader.load({ service: 'sentiment', place: folder });
    const isAnswered = answer !== null && Number.isFinite(answer.score);
    const isNamed = code === 'MODEL_LOAD_FAILED' && NAMED.test(error ?? '');
    outcomes[isAnswered ? 'answered' : 'refused'] += 1;
    if (!isAnswered && !isNamed) wrong.push(`bit ${bit}: ${code}: ${error}`);
  }
  expect(wrong).toEqual([]);
  expect(outcomes.refused + outcomes.answered).toBe(inFront + behind);
  expect(outcomes.refused).toBeGreaterThan(inFront / 10);
  expect(loader.processes).toBe(1);
  process.stdout.write(`${model}, ${file}: ${JSON.stringify(outcomes)}\n`);
});

/** The file at fault, or the numbers where a weight has become so large that no answer is finite. */
const NAMED =
  /^(model\.safetensors|pytorch_model\.bin|tokenizer\.json|tokenizer|\w+_token|the weights|special tokens|added tokens)\b.*: /;
