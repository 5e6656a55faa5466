/** Selection of entities: that of gliner for any spans, in a time that their number limits. */
import { findEntities } from '../../src/tasks/entity-recognition/find-entities';
import { selectEntities } from '../../src/tasks/entity-recognition/overlaps';
import { type Candidate, SpanRows } from '../../src/tasks/entity-recognition/span-rows';
import { MAX_SPANS } from '../../src/tasks/entity-recognition/window-spans';

const MODES = [
  { isFlat: true, isMultiLabel: false },
  { isFlat: true, isMultiLabel: true },
  { isFlat: false, isMultiLabel: false },
  { isFlat: false, isMultiLabel: true },
];

/** Numbers below 1, the same in each run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function spansOf(
  next: () => number,
  { count, words, width }: { count: number; words: number; width: number },
): readonly Candidate[] {
  return Array.from({ length: count }, () => {
    const first = Math.floor(next() * words);
    const last = Math.min(words - 1, first + Math.floor(next() * width));
    return { first, last, label: Math.floor(next() * 3), score: Math.fround(next()) };
  });
}

const rowsOf = (spans: readonly Candidate[]): SpanRows =>
  new SpanRows(
    Float32Array.from(
      spans.flatMap(({ first, last, label, score }) => [first, last, label, score]),
    ),
  );

/** Source: gliner 0.2.29, decoding/decoder.py (`greedy_search`) and utils.py (`has_overlapping`). */
function greedySearch(
  spans: readonly Candidate[],
  { isFlat, isMultiLabel }: (typeof MODES)[number],
): readonly Candidate[] {
  const isOverlapping = (a: Candidate, b: Candidate): boolean => {
    if (a.first === b.first && a.last === b.last) return !isMultiLabel;
    if (a.first > b.last || b.first > a.last) return false;
    if (isFlat) return true;
    const isInside = a.first <= b.first && a.last >= b.last;
    return !isInside && !(b.first <= a.first && b.last >= a.last);
  };
  const kept: Candidate[] = [];
  for (const span of spans.toSorted((a, b) => b.score - a.score)) {
    if (!kept.some((other) => isOverlapping(span, other))) kept.push(span);
  }
  return kept.sort((a, b) => a.first - b.first);
}

it.each(MODES)('selects as gliner does: %j', (mode) => {
  const next = numbers(7);
  for (let round = 0; round < 300; round++) {
    const size = { count: Math.floor(next() * 40), words: 1 + Math.floor(next() * 20), width: 6 };
    const spans = spansOf(next, size);
    expect(selectEntities(rowsOf(spans), mode)).toEqual(greedySearch(spans, mode));
  }
});

it('keeps the order of spans with equal scores', () => {
  const [a, b] = [
    { first: 0, last: 1, label: 0, score: 0.5 },
    { first: 1, last: 2, label: 0, score: 0.5 },
  ];
  const mode = { isFlat: true, isMultiLabel: false };
  expect(selectEntities(rowsOf([a, b]), mode)).toEqual([a]);
  expect(selectEntities(rowsOf([b, a]), mode)).toEqual([b]);
});

it.each(MODES)('takes no longer for long and nested spans: %j', (mode) => {
  const next = numbers(11);
  const size = { count: MAX_SPANS, words: 100_000 };
  const nested = Array.from({ length: MAX_SPANS }, (_, index) => ({
    first: index,
    last: 2 * MAX_SPANS - index,
    label: 0,
    score: 0.5,
  }));
  const equal = Array.from({ length: MAX_SPANS }, (_, label) => ({ ...nested[0], label }));
  for (const spans of [
    spansOf(next, { ...size, width: 50_000 }),
    spansOf(next, { ...size, width: 3 }),
    nested,
    equal as readonly Candidate[],
  ]) {
    const rows = rowsOf(spans);
    const begin = process.cpuUsage();
    selectEntities(rows, mode);
    // About 20 ms. A comparison of each span with the selected ones, or with its words, takes many seconds.
    expect(process.cpuUsage(begin).user).toBeLessThan(1e6);
  }
});

it('shares the event loop, also among many texts', async () => {
  const next = numbers(5);
  const rows = rowsOf(spansOf(next, { count: 8192, words: 400, width: 100 }));
  const inference = { words: { offsets: new Uint32Array(800), starts: [0], lengths: [400] } };
  const texts = Array.from({ length: 32 }, () => 'A text.');
  const model = { runAll: async () => texts.map(() => ({ candidates: rows, inference })) };
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  const labels = ['a', 'b', 'c'].map((name) => ({ name, prompt: name }));
  const options = { labels, threshold: 0, isFlat: false, isMultiLabel: true };
  const { entities } = await findEntities(model as never, texts, options, {});
  clearInterval(timer);
  expect(entities.map(({ length }) => length)).toEqual(texts.map(() => entities[0]?.length));
  expect(turns).toBeGreaterThan(10);
});
