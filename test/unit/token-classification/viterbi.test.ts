/** Viterbi decoding, compared with all paths of short sequences. */
import { bioesLabels } from '../../../src/tasks/token-classification/bioes-labels';
import {
  decodePath,
  entitiesOf,
  type TransitionBiases,
  type ViterbiDecoder,
} from '../../../src/tasks/token-classification/viterbi';

const NAMES = ['secret', 'private_date'];
/** In an order in which no label is where a fixed table would expect it. */
const LABELS = [
  ...['S-secret', 'I-private_date', 'O', 'E-secret'],
  ...['B-private_date', 'B-secret', 'E-private_date', 'I-secret', 'S-private_date'],
];

/** Mulberry32: numbers from 0 to 1. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function decoder(biases: TransitionBiases): ViterbiDecoder {
  const labels = bioesLabels(LABELS);
  if (labels === null) throw new Error('expected BIOES labels');
  return { ...labels, biases };
}

/** Bias of a transition by the names of its labels; null: it is not allowed. */
function biasOf(from: string, to: string, biases: TransitionBiases): number | null {
  const starts = /^[BS]-/.test(to);
  if (from === 'O') {
    if (to === 'O') return biases.backgroundStay;
    return starts ? biases.backgroundToStart : null;
  }
  if (/^[ES]-/.test(from)) {
    if (to === 'O') return biases.endToBackground;
    return starts ? biases.endToStart : null;
  }
  if (to === `I-${from.slice(2)}`) return biases.insideToContinue;
  return to === `E-${from.slice(2)}` ? biases.insideToEnd : null;
}

/** Sum of log-probabilities and biases of a path; null: it is not valid. */
function sumOf(path: readonly string[], logits: readonly number[][], biases: TransitionBiases) {
  if (!/^(O|[BS]-)/.test(path[0] as string) || !/^(O|[ES]-)/.test(path.at(-1) as string)) {
    return null;
  }
  let sum = 0;
  for (const [token, label] of path.entries()) {
    const row = logits[token] as number[];
    const total = Math.log(row.reduce((all, one) => all + Math.exp(one), 0));
    sum += (row[LABELS.indexOf(label)] as number) - total;
    if (token === 0) continue;
    const bias = biasOf(path[token - 1] as string, label, biases);
    if (bias === null) return null;
    sum += bias;
  }
  return sum;
}

function* allPaths(length: number): Generator<readonly string[]> {
  if (length === 0) yield [];
  else for (const path of allPaths(length - 1)) for (const label of LABELS) yield [...path, label];
}

function example(seed: number) {
  const random = randomNumbers(seed);
  const count = 1 + (seed % 4);
  const logits = Array.from({ length: count }, () =>
    LABELS.map(() => Math.fround(6 * random() - 3)),
  );
  const [
    backgroundStay = 0,
    backgroundToStart = 0,
    insideToContinue = 0,
    insideToEnd = 0,
    endToBackground = 0,
    endToStart = 0,
  ] = Array.from({ length: 6 }, () => (seed % 3 === 0 ? 0 : 4 * random() - 2));
  const biases = {
    ...{ backgroundStay, backgroundToStart, insideToContinue },
    ...{ insideToEnd, endToBackground, endToStart },
  };
  return { logits, biases };
}

/** Decodes logits whose rows are in reverse order, with a gap between them. */
async function decode(logits: readonly number[][], biases: TransitionBiases) {
  const stride = LABELS.length + 2;
  const flat = new Float32Array(logits.length * stride).fill(1e9);
  const rows = logits.map((_, token) => (logits.length - 1 - token) * stride);
  for (const [token, row] of logits.entries()) flat.set(row, rows[token] as number);
  const path = await decodePath({ logits: flat, rows }, decoder(biases));
  return path.map((label) => LABELS[label] as string);
}

it('finds the best of all valid paths', async () => {
  let withEntities = 0;
  for (let seed = 0; seed < 60; seed++) {
    const { logits, biases } = example(seed);
    const path = await decode(logits, biases);
    let best = Number.NEGATIVE_INFINITY;
    for (const other of allPaths(logits.length)) {
      best = Math.max(best, sumOf(other, logits, biases) ?? Number.NEGATIVE_INFINITY);
    }
    expect(path).toHaveLength(logits.length);
    expect({ seed, sum: sumOf(path, logits, biases) }).toEqual({
      seed,
      sum: expect.closeTo(best, 9),
    });
    if (path.some((label) => label !== 'O')) withEntities++;
  }
  expect(withEntities).toBeGreaterThan(20);
});

it('yields valid paths for long sequences', async () => {
  const { biases } = example(1);
  const random = randomNumbers(7);
  const logits = Array.from({ length: 3000 }, () =>
    LABELS.map(() => Math.fround(6 * random() - 3)),
  );
  const path = await decode(logits, biases);
  expect(sumOf(path, logits, biases)).not.toBeNull();
  expect(new Set(path).size).toBe(LABELS.length);
});

it('is empty without tokens', async () => {
  expect(await decode([], example(0).biases)).toEqual([]);
});

it('each bias acts on its transitions', async () => {
  const none = example(0).biases;
  const flat = (count: number) => Array.from({ length: count }, () => LABELS.map(() => 0));
  const path = (biases: Partial<TransitionBiases>, count = 4) =>
    decode(flat(count), { ...none, ...biases });
  const kinds = async (biases: Partial<TransitionBiases>) =>
    (await path(biases)).map((label) => label[0]).join('');
  expect(await kinds({ backgroundStay: 1 })).toBe('OOOO');
  expect(await kinds({ insideToContinue: 1 })).toBe('BIIE');
  expect(await kinds({ insideToEnd: 1 })).toBe('BEBE');
  expect(await kinds({ endToStart: 1 })).toBe('SSSS');
  expect(await kinds({ backgroundToStart: 3, endToBackground: 2, backgroundStay: -9 })).toBe(
    'OSOS',
  );
});

it('reads entities from a path', () => {
  const names = ['O', 'B-secret', 'I-secret', 'E-secret', 'S-private_date', 'S-secret', 'O'];
  const path = names.map((name) => LABELS.indexOf(name));
  expect(entitiesOf(path, decoder(example(0).biases))).toEqual([
    { name: 'secret', begin: 1, end: 4 },
    { name: 'private_date', begin: 4, end: 5 },
    { name: 'secret', begin: 5, end: 6 },
  ]);
});

describe('labels', () => {
  it('are found in any order', () => {
    const found = bioesLabels(LABELS);
    expect(found?.outside).toBe(2);
    expect(found?.classes.map(({ name }) => name).sort()).toEqual([...NAMES].sort());
    expect(found?.classes.find(({ name }) => name === 'secret')).toEqual({
      ...{ name: 'secret', begin: 5, inside: 7, end: 3, single: 0 },
    });
  });

  it.each([
    [['B-a', 'I-a', 'E-a', 'S-a']],
    [['O', 'B-a', 'I-a']],
    [['O', 'B-a', 'I-a', 'E-a', 'S-b']],
    [['O', 'B-a', 'I-a', 'E-a', 'S-a', 'MISC']],
    [['O', 'O', 'B-a', 'I-a', 'E-a', 'S-a']],
  ])('of another scheme are none: %j', (labels) => {
    expect(bioesLabels(labels)).toBeNull();
  });
});
