import type { Candidate } from './entities';

/** Maximum number of spans of a text. The native side has a limit for each window. */
export const MAX_SPANS = 32_768;

/**
 * Spans of the windows of a text: the highest score of each span and label. If there are more than `MAX_SPANS`, those
 * with the highest scores: with a low threshold, every pair of words is a span of every label.
 */
export class WindowSpans {
  readonly #words: number;
  readonly #labels: number;
  #best = new Map<number, Candidate>();

  /** @param counts number of words of the text and of labels */
  constructor({ words, labels }: { readonly words: number; readonly labels: number }) {
    this.#words = words;
    this.#labels = labels;
  }

  add(span: Candidate): void {
    const key = (span.first * this.#words + span.last) * this.#labels + span.label;
    const other = this.#best.get(key);
    if (other && other.score >= span.score) return;
    this.#best.set(key, span);
    if (this.#best.size >= 2 * MAX_SPANS) this.#dropLowest();
  }

  /** Spans in the order of their words. */
  sorted(): readonly Candidate[] {
    this.#dropLowest();
    return [...this.#best].sort(([key], [other]) => key - other).map(([, span]) => span);
  }

  #dropLowest(): void {
    const excess = this.#best.size - MAX_SPANS;
    if (excess <= 0) return;
    // Sorting numbers takes a tenth of the time of sorting objects.
    const scores = Float64Array.from(this.#best.values(), ({ score }) => score).sort();
    const lowest = scores[excess] as number;
    // Of equal scores, the first ones are dropped.
    let equal = scores.subarray(0, excess).filter((score) => score === lowest).length;
    for (const [key, { score }] of this.#best) {
      if (score < lowest || (score === lowest && equal-- > 0)) this.#best.delete(key);
    }
  }
}
