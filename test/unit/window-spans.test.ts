/** Spans of the windows of a text: the highest score of each, and a limit of their number. */
import { MAX_SPANS, WindowSpans } from '../../src/tasks/entity-recognition/window-spans';

it('keeps the highest score of each span and label, in the order of the words', () => {
  const spans = new WindowSpans({ words: 100, labels: 3 });
  const [a, b, c] = [
    { first: 5, last: 6, label: 1, score: 0.5 },
    { first: 5, last: 6, label: 0, score: 0.4 },
    { first: 1, last: 99, label: 2, score: 0.3 },
  ];
  for (const span of [a, b, c, { ...a, score: 0.2 }, { ...c, score: 0.9 }]) spans.add(span);
  expect(spans.sorted()).toEqual([{ ...c, score: 0.9 }, b, a]);
});

it('keeps the spans with the highest scores, however many are added', () => {
  const count = 5 * MAX_SPANS + 7;
  const spans = new WindowSpans({ words: count, labels: 1 });
  for (let index = 0; index < count; index++) {
    const word = (index * 10) % count;
    spans.add({ first: word, last: word, label: 0, score: word });
  }
  const kept = spans.sorted().map(({ first }) => first);
  expect(kept).toEqual(Array.from({ length: MAX_SPANS }, (_, i) => count - MAX_SPANS + i));
});

it('keeps no more than the limit of spans with equal scores', () => {
  const spans = new WindowSpans({ words: 2 * MAX_SPANS, labels: 1 });
  for (let word = 0; word < 2 * MAX_SPANS; word++) {
    spans.add({ first: word, last: word, label: 0, score: word === 3 ? 0.7 : 0.5 });
  }
  const kept = spans.sorted();
  expect(kept).toHaveLength(MAX_SPANS);
  expect(kept[0]).toEqual({ first: 3, last: 3, label: 0, score: 0.7 });
});
