import {
  type Block,
  emptyBlock,
  lengthOf,
  PreprocessingError,
  type SignalFormat,
  type SignalStep,
} from './block';
import type { Section } from './butterworth';

/** Values at the start of a filter: 0 as before a signal, or those of a constant signal of its first value. */
export type InitialState = 'zero' | 'steady';

/** States of all sections of a filter for one channel: two values per section (direct form II transposed). */
type State = Float64Array;

/** Filters samples in place, like `scipy.signal.sosfilt`. */
function filterInPlace(sections: readonly Section[], samples: Float64Array, state: State): void {
  for (let index = 0; index < sections.length; index++) {
    const {
      b: [b0, b1, b2],
      a: [a1, a2],
    } = sections[index] as Section;
    let first = state[2 * index] as number;
    let second = state[2 * index + 1] as number;
    for (let i = 0; i < samples.length; i++) {
      const x = samples[i] as number;
      const y = b0 * x + first;
      first = b1 * x - a1 * y + second;
      second = b2 * x - a2 * y;
      samples[i] = y;
    }
    state[2 * index] = first;
    state[2 * index + 1] = second;
  }
}

/** State of a filter whose input has always been `value`, like `scipy.signal.sosfilt_zi`. */
function steadyState(sections: readonly Section[], value: number): State {
  const state = new Float64Array(2 * sections.length);
  let input = value;
  for (const [index, { b, a }] of sections.entries()) {
    const output = (input * (b[0] + b[1] + b[2])) / (1 + a[0] + a[1]);
    state[2 * index] = output - b[0] * input;
    state[2 * index + 1] = b[2] * input - a[1] * output;
    input = output;
  }
  return state;
}

/** A filter that only uses past samples. */
export class CausalFilter implements SignalStep {
  readonly output: SignalFormat;
  readonly state: number;
  readonly #sections: readonly Section[];
  readonly #initial: InitialState;
  /** By channel; empty before the first sample. */
  #states: State[] = [];

  constructor(input: SignalFormat, sections: readonly Section[], initial: InitialState) {
    this.output = input;
    this.state = 2 * sections.length;
    this.#sections = sections;
    this.#initial = initial;
  }

  push(block: Block): Block {
    if (lengthOf(block) === 0) return block;
    const isSteady = this.#initial === 'steady';
    for (const [channel, samples] of block.entries()) {
      this.#states[channel] ??= steadyState(this.#sections, isSteady ? (samples[0] as number) : 0);
      filterInPlace(this.#sections, samples, this.#states[channel]);
    }
    return block;
  }

  end(): Block {
    this.#states = [];
    return emptyBlock(this.output.channels.length);
  }
}

/** Forward and backward filter without delay, like `scipy.signal.sosfiltfilt`. It needs the whole signal. */
export class ZeroPhaseFilter implements SignalStep {
  readonly output: SignalFormat;
  readonly state = null;
  readonly #sections: readonly Section[];
  readonly #padding: number;
  readonly #blocks: Block[] = [];

  constructor(input: SignalFormat, sections: readonly Section[]) {
    this.output = input;
    this.#sections = sections;
    this.#padding = zeroPhasePadding(sections);
  }

  push(block: Block): Block {
    this.#blocks.push(block);
    return emptyBlock(this.output.channels.length);
  }

  end(): Block {
    const blocks = this.#blocks.splice(0);
    return this.output.channels.map((_, channel) =>
      this.#filter(blocks.map((block) => block[channel] as Float64Array)),
    );
  }

  #filter(parts: readonly Float64Array[]): Float64Array {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    if (length === 0) return new Float64Array(0);
    const padding = this.#padding;
    if (length <= padding) {
      throw new PreprocessingError(
        `a zero-phase filter needs more than ${padding} samples, found ${length}: use a longer signal or "phase": "causal"`,
      );
    }
    const padded = new Float64Array(length + 2 * padding);
    let at = padding;
    for (const part of parts) {
      padded.set(part, at);
      at += part.length;
    }
    padOdd(padded, padding);
    for (let pass = 0; pass < 2; pass++) {
      filterInPlace(this.#sections, padded, steadyState(this.#sections, padded[0] as number));
      padded.reverse();
    }
    return padded.slice(padding, padding + length);
  }
}

/** Samples that are added on each side, as many as SciPy adds by default. */
function zeroPhasePadding(sections: readonly Section[]): number {
  const firstOrder = sections.filter(({ b, a }) => b[2] === 0 && a[1] === 0).length;
  return 3 * (2 * sections.length + 1 - firstOrder);
}

/** Extends a signal on both sides by its point reflections at the first and the last sample. */
function padOdd(padded: Float64Array, padding: number): void {
  const last = padded.length - padding - 1;
  const first = padded[padding] as number;
  const end = padded[last] as number;
  for (let i = 1; i <= padding; i++) {
    padded[padding - i] = 2 * first - (padded[padding + i] as number);
    padded[last + i] = 2 * end - (padded[last - i] as number);
  }
}
