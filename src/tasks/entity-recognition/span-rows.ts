/** Span of words with a label, before overlaps are resolved. */
export interface Candidate {
  /** Indexes of the first and last word. */
  readonly first: number;
  readonly last: number;
  /** Index of the label. */
  readonly label: number;
  readonly score: number;
}

/** Values of a span: first word, last word, label, score. */
const COLUMNS = 4;

/** Distance of the sort keys of scores. Above the number of spans of a text. */
const KEY_STEP = 2 ** 20;

/**
 * Spans of a text before overlaps are resolved. One array instead of an object for each span: a request with a low
 * threshold has thousands of spans for each of its texts.
 */
export class SpanRows {
  readonly #values: Float32Array | Float64Array;

  /** @param values rows of first word, last word, label and score */
  constructor(values: Float32Array | Float64Array) {
    this.#values = values;
  }

  get length(): number {
    return this.#values.length / COLUMNS;
  }

  /** Index of the first word. */
  first(row: number): number {
    return this.#values[COLUMNS * row] as number;
  }

  /** Index of the last word. */
  last(row: number): number {
    return this.#values[COLUMNS * row + 1] as number;
  }

  label(row: number): number {
    return this.#values[COLUMNS * row + 2] as number;
  }

  /** A float32 from 0 to 1. */
  score(row: number): number {
    return this.#values[COLUMNS * row + 3] as number;
  }

  at(row: number): Candidate {
    return {
      first: this.first(row),
      last: this.last(row),
      label: this.label(row),
      score: this.score(row),
    };
  }

  /** Spans whose row the function accepts, in the same order. */
  filter(accepts: (row: number) => boolean): SpanRows {
    const kept = new Float64Array(this.#values.length);
    let end = 0;
    for (let row = 0; row < this.length; row++) {
      if (!accepts(row)) continue;
      kept.set(this.#values.subarray(COLUMNS * row, COLUMNS * (row + 1)), end);
      end += COLUMNS;
    }
    return new SpanRows(kept.subarray(0, end));
  }

  /** Spans of each label, in the same order. */
  byLabel(): readonly SpanRows[] {
    const rows = new Map<number, number[]>();
    for (let row = 0; row < this.length; row++) {
      const own = rows.get(this.label(row));
      if (own) own.push(row);
      else rows.set(this.label(row), [row]);
    }
    return [...rows.values()].map((own) => SpanRows.of(own.map((row) => this.at(row))));
  }

  static of(candidates: readonly Candidate[]): SpanRows {
    const values = new Float64Array(COLUMNS * candidates.length);
    for (const [row, { first, last, label, score }] of candidates.entries()) {
      values.set([first, last, label, score], COLUMNS * row);
    }
    return new SpanRows(values);
  }

  /**
   * Rows by descending score; of equal scores, in their order. Sorts numbers made of score and row, which takes a tenth
   * of the time of a comparison function.
   */
  byScore(): Float64Array {
    const scores = new Float32Array(this.length);
    for (let row = 0; row < scores.length; row++) scores[row] = this.score(row);
    // The bits of floats above 0 have their order.
    const bits = new Uint32Array(scores.buffer);
    const keys = new Float64Array(scores.length);
    for (let row = 0; row < keys.length; row++) {
      keys[row] = (2 ** 32 - 1 - (bits[row] as number)) * KEY_STEP + row;
    }
    keys.sort();
    for (let place = 0; place < keys.length; place++)
      keys[place] = (keys[place] as number) % KEY_STEP;
    return keys;
  }
}
