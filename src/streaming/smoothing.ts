/** How probabilities are smoothed over windows. */
export type SmoothingKind =
  /** Median per class over so many windows, including the current window; odd. */
  | { readonly median: number }
  /** Weight of the current window in an exponential moving average, in (0, 1]. */
  | { readonly exponential: number };

export interface Smoothing {
  /** Adds the probabilities of a window and writes the smoothed probabilities to `output`. */
  add(probabilities: Float32Array, output: Float32Array): void;
  /** Discards the windows before a gap. */
  restart(): void;
}

export function createSmoothing(kind: SmoothingKind, classes: number): Smoothing {
  return 'median' in kind
    ? new MedianSmoothing(kind.median, classes)
    : new ExponentialSmoothing(kind.exponential, classes);
}

/** s ← α p + (1 − α) s, starting with the first p. Sums stay 1. */
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

/** Median per class, divided by the sum over classes to get probabilities. */
class MedianSmoothing implements Smoothing {
  readonly #span: number;
  readonly #classes: number;
  /** Ring of the last `span` probabilities per class. */
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
    const slot = this.#count % this.#span;
    this.#count++;
    let sum = 0;
    for (let i = 0; i < this.#classes; i++) {
      this.#last[i * this.#span + slot] = probabilities[i] as number;
      output[i] = this.#median(i);
      sum += output[i] as number;
    }
    for (let i = 0; sum > 0 && i < this.#classes; i++) output[i] = (output[i] as number) / sum;
  }

  restart(): void {
    this.#count = 0;
  }

  /** Median over the windows since the last restart; the mean of the middle two for an even number. */
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
