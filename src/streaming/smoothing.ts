/** How the probabilities of windows are smoothed over those before. */
export type SmoothingKind =
  /** Of each class the median over so many windows, the last one included; an odd number. */
  | { readonly median: number }
  /** The weight of the last window, above 0 and up to 1; the rest has that of those before. */
  | { readonly exponential: number };

export interface Smoothing {
  /** Takes the probabilities of a window, and writes what they are when smoothed to `output`. */
  add(probabilities: Float32Array, output: Float32Array): void;
  /** What follows does not follow on what was before. */
  restart(): void;
}

export function smoothingOf(kind: SmoothingKind, classes: number): Smoothing {
  return 'median' in kind
    ? new MedianSmoothing(kind.median, classes)
    : new ExponentialSmoothing(kind.exponential, classes);
}

/** s ← α p + (1 − α) s, which begins as the first p. Sums stay 1. */
class ExponentialSmoothing implements Smoothing {
  readonly #alpha: number;
  readonly #state: Float64Array;
  #count = 0;

  constructor(alpha: number, classes: number) {
    this.#alpha = alpha;
    this.#state = new Float64Array(classes);
  }

  add(probabilities: Float32Array, output: Float32Array): void {
    const alpha = this.#count++ === 0 ? 1 : this.#alpha;
    const state = this.#state;
    for (let i = 0; i < state.length; i++) {
      state[i] = alpha * (probabilities[i] as number) + (1 - alpha) * (state[i] as number);
      output[i] = state[i] as number;
    }
  }

  restart(): void {
    this.#count = 0;
  }
}

/** The median of each class, divided by their sum, which makes them probabilities again. */
class MedianSmoothing implements Smoothing {
  readonly #span: number;
  readonly #classes: number;
  /** Of each class the last `span` probabilities, in a ring. */
  readonly #last: Float32Array;
  readonly #sorted: Float32Array;
  #count = 0;

  constructor(span: number, classes: number) {
    this.#span = span;
    this.#classes = classes;
    this.#last = new Float32Array(span * classes);
    this.#sorted = new Float32Array(span);
  }

  add(probabilities: Float32Array, output: Float32Array): void {
    const place = this.#count % this.#span;
    this.#count++;
    let sum = 0;
    for (let i = 0; i < this.#classes; i++) {
      this.#last[i * this.#span + place] = probabilities[i] as number;
      output[i] = this.#median(i);
      sum += output[i] as number;
    }
    for (let i = 0; sum > 0 && i < this.#classes; i++) output[i] = (output[i] as number) / sum;
  }

  restart(): void {
    this.#count = 0;
  }

  /** Of the windows that there are; of an even number the mean of the two in the middle. */
  #median(index: number): number {
    const count = Math.min(this.#count, this.#span);
    const begin = index * this.#span;
    const sorted = this.#sorted.subarray(0, count);
    sorted.set(this.#last.subarray(begin, begin + count));
    sorted.sort();
    const middle = count >> 1;
    const upper = sorted[middle] as number;
    return count % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
  }
}
