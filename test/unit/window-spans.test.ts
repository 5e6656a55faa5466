/** Spans of the windows of a text: the highest score of each, and a limit of their number. */
import { type Candidate, SpanRows } from '../../src/tasks/entity-recognition/span-rows';
import { MAX_SPANS, WindowSpans } from '../../src/tasks/entity-recognition/window-spans';

const rowsOf = (spans: readonly Candidate[]): SpanRows =>
  new SpanRows(
    Float64Array.from(
      spans.flatMap(({ first, last, label, score }) => [first, last, label, score]),
    ),
  );
const spansOf = (rows: SpanRows): readonly Candidate[] =>
  Array.from({ length: rows.length }, (_, row) => rows.at(row));
const word = (index: number, score: number): Candidate => ({
  first: index,
  last: index,
  label: 0,
  score,
});

it('keeps the highest score of each span and label, in the order of the words', () => {
  const spans = new WindowSpans({ words: 100, labels: 3 });
  const [a, b, c] = [
    { first: 5, last: 6, label: 1, score: 0.5 },
    { first: 5, last: 6, label: 0, score: 0.4 },
    { first: 1, last: 99, label: 2, score: 0.3 },
  ];
  spans.add(rowsOf([a, b, c]), 0);
  spans.add(rowsOf([{ ...a, first: 3, last: 4, score: 0.2 }]), 2);
  spans.add(rowsOf([{ ...c, first: 0, last: 98, score: 0.9 }]), 1);
  expect(spansOf(spans.sorted())).toEqual([{ ...c, score: 0.9 }, b, a]);
  expect(spans.lowestScore).toBe(0);
});

it('keeps the spans with the highest scores, however many are added', () => {
  const count = 5 * MAX_SPANS + 7;
  const spans = new WindowSpans({ words: count, labels: 1 });
  const all = Array.from({ length: count }, (_, index) => (index * 10) % count);
  spans.add(rowsOf(all.map((index) => word(index, index))), 0);
  const kept = spansOf(spans.sorted()).map(({ first }) => first);
  expect(kept).toEqual(Array.from({ length: MAX_SPANS }, (_, i) => count - MAX_SPANS + i));
  expect(spans.lowestScore).toBe(count - MAX_SPANS);
});

it('keeps no more than the limit of spans with equal scores', () => {
  const spans = new WindowSpans({ words: 2 * MAX_SPANS, labels: 1 });
  const all = Array.from({ length: 2 * MAX_SPANS }, (_, i) => word(i, i === 3 ? 0.7 : 0.5));
  spans.add(rowsOf(all), 0);
  const kept = spansOf(spans.sorted());
  expect(kept).toHaveLength(MAX_SPANS);
  expect(kept[0]).toEqual({ first: 3, last: 3, label: 0, score: 0.7 });
});
