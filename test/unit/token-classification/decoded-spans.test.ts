import { decodedSpans } from '../../../src/tasks/token-classification/decoded-spans';

const TEXT = ' Ada  Lovelace\n \u{1f600}!';
const TOKENS = [
  [0, 4],
  [4, 6],
  [6, 15],
  [15, 16],
  [16, 18],
  [16, 18],
  [18, 19],
] as const;
const BIASES = {
  ...{ backgroundStay: 0, backgroundToStart: 0, insideToContinue: 0 },
  ...{ insideToEnd: 0, endToBackground: 0, endToStart: 0 },
};
const DECODER = {
  outside: 0,
  classes: [{ name: 'name', begin: 1, inside: 2, end: 3, single: 4 }],
  biases: BIASES,
};

/** Spans of a path that has the logit 5 for each of its labels. */
async function spansOf(path: readonly number[]) {
  const width = 5;
  const logits = new Float32Array(path.length * width);
  const scores = new Float32Array(path.length * width);
  for (const [token, label] of path.entries()) {
    logits[token * width + label] = 5;
    scores[token * width + label] = (token + 1) / 10;
  }
  const tokens = TOKENS.map(([start, end], index) => ({ start, end, at: index * width }));
  const spans = await decodedSpans(tokens, { text: TEXT, logits, scores }, DECODER);
  return spans.map(({ label, score, start, end, index, word }) => ({
    ...{ label, score: Number(score.toFixed(5)), start, end, index, word: word() },
  }));
}

it('joins the tokens of an entity, without white space at its ends', async () => {
  expect(await spansOf([1, 2, 3, 0, 0, 0, 0])).toEqual([
    { label: 'name', score: 0.2, start: 1, end: 14, index: null, word: 'Ada  Lovelace' },
  ]);
});

it('keeps a character whole that became several tokens', async () => {
  expect(await spansOf([0, 0, 0, 0, 0, 4, 0])).toEqual([
    { label: 'name', score: 0.6, start: 16, end: 18, index: null, word: '\u{1f600}' },
  ]);
});

it('leaves out entities of white space', async () => {
  expect(await spansOf([0, 4, 0, 4, 0, 0, 4])).toEqual([
    { label: 'name', score: 0.7, start: 18, end: 19, index: null, word: '!' },
  ]);
});
