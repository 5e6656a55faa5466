import { SpanRows } from './span-rows';

/** Maximum number of spans of a text. The native side has a limit for each window. */
export const MAX_SPANS = 32_768;

/**
 * Spans of the windows of a text: the highest score of each span and label. If there are more than `MAX_SPANS`, those
 * with the highest scores: with a low threshold, every pair of words is a span of every label.
 */
export class WindowSpans {
  readonly #words: number;
  readonly #labels: number;
  /** Scores by span and label. */
  readonly #best = new Map<number, number>();
  #lowest = 0;

  /** @param counts number of words of the text and of labels */
  constructor({ words, labels }: { readonly words: number; readonly labels: number }) {
    this.#words = words;
    this.#labels = labels;
  }

  /** Spans with a lower score are not among the highest. */
  get lowestScore(): number {
    return this.#lowest;
  }

  /** @param start index of the first word of the window */
  add(spans: SpanRows, start: number): void {
    for (let row = 0; row < spans.length; row++) {
      const score = spans.score(row);
      if (score < this.#lowest) continue;
      const [first, last] = [start + spans.first(row), start + spans.last(row)];
      const key = (first * this.#words + last) * this.#labels + spans.label(row);
      if ((this.#best.get(key) ?? Number.NEGATIVE_INFINITY) >= score) continue;
      this.#best.set(key, score);
      if (this.#best.size >= 2 * MAX_SPANS) this.#dropLowest();
    }
  }

  /** Spans in the order of their words. */
  sorted(): SpanRows {
    this.#dropLowest();
    const rows = new Float64Array(4 * this.#best.size);
    const keys = Float64Array.from(this.#best.keys()).sort();
    for (const [index, key] of keys.entries()) {
      const span = Math.floor(key / this.#labels);
      const words = [Math.floor(span / this.#words), span % this.#words];
      rows.set([...words, key % this.#labels, this.#best.get(key) as number], 4 * index);
    }
    return new SpanRows(rows);
  }

  #dropLowest(): void {
    const excess = this.#best.size - MAX_SPANS;
    if (excess <= 0) return;
    const scores = Float64Array.from(this.#best.values()).sort();
    this.#lowest = scores[excess] as number;
    // Of equal scores, the first ones are dropped.
    let equal = scores.subarray(0, excess).filter((score) => score === this.#lowest).length;
    for (const [key, score] of this.#best) {
      if (score < this.#lowest || (score === this.#lowest && equal-- > 0)) this.#best.delete(key);
    }
  }
}
