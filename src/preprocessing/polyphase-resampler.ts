import {
  type Block,
  concatenate,
  emptyBlock,
  lengthOf,
  type SignalFormat,
  type SignalStep,
} from './block';

/** Zero crossings of the sinc on each side. */
const ZERO_CROSSINGS = 10;
/** β of the Kaiser window. */
const BETA = 5;
/** Factor that makes sampling rates integers: rates have up to three decimals. */
const RATE_SCALE = 1000;
/** Maximum number of output samples per `MAX_FACTOR` input samples, and the reverse: limits the filter's length. */
export const MAX_FACTOR = 5000;
/** Maximum number of cached filters, of up to 0.8 MB each. */
const MAX_FILTERS = 16;

/** Smallest integers with the ratio of two sampling rates. */
export function resamplingFactors(
  from: number,
  to: number,
): { readonly up: number; readonly down: number } {
  const [a, b] = [Math.round(from * RATE_SCALE), Math.round(to * RATE_SCALE)];
  const divisor = greatestCommonDivisor(a, b);
  return { up: b / divisor, down: a / divisor };
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

/**
 * Polyphase resampling, like `scipy.signal.resample_poly` with its default window: output m is the sum of
 * x[k] h[m down − k up + half]. The signal is zero before its start and after its end.
 */
export class PolyphaseResampler implements SignalStep {
  readonly output: SignalFormat;
  readonly state: number;
  readonly delaySeconds: number;
  readonly #up: number;
  readonly #down: number;
  readonly #half: number;
  readonly #weights: Float64Array;
  /** Received samples that outputs still need. */
  #kept: Block;
  /** Number of the sample `kept[0]`. */
  #first = 0;
  /** Number of the next output. */
  #next = 0;

  constructor(input: SignalFormat, samplingRateHz: number) {
    const { channels } = input;
    this.output = { channels, samplingRateHz };
    const { up, down } = resamplingFactors(input.samplingRateHz, samplingRateHz);
    this.#up = up;
    this.#down = down;
    this.#half = ZERO_CROSSINGS * Math.max(up, down);
    this.#weights = cachedWeights(this.#half, up);
    this.state = Math.ceil((2 * this.#half + down) / up) + 1;
    this.delaySeconds = this.#half / up / input.samplingRateHz;
    this.#kept = emptyBlock(channels.length);
  }

  push(block: Block): Block {
    this.#keep(block);
    const received = this.#first + lengthOf(this.#kept);
    // The last sample that output m needs is (m down + half) / up.
    const end = Math.max(0, Math.floor(((received - 1) * this.#up - this.#half) / this.#down) + 1);
    return this.#outputsTo(end);
  }

  end(): Block {
    const received = this.#first + lengthOf(this.#kept);
    const rest = this.#outputsTo(Math.ceil((received * this.#up) / this.#down));
    this.#kept = emptyBlock(this.output.channels.length);
    this.#first = 0;
    this.#next = 0;
    return rest;
  }

  #keep(block: Block): void {
    const needed = Math.ceil((this.#next * this.#down - this.#half) / this.#up);
    const unneeded = Math.min(Math.max(0, needed - this.#first), lengthOf(this.#kept));
    const kept = this.#kept.map((samples) => samples.subarray(unneeded));
    this.#first += unneeded;
    this.#kept = concatenate([kept, block], this.output.channels.length);
  }

  #outputsTo(end: number): Block {
    const count = Math.max(0, end - this.#next);
    const outputs = this.#kept.map((samples) => {
      const output = new Float64Array(count);
      for (let i = 0; i < count; i++) output[i] = this.#at(this.#next + i, samples);
      return output;
    });
    this.#next += count;
    return outputs;
  }

  #at(output: number, samples: Float64Array): number {
    const center = output * this.#down;
    const first = Math.max(this.#first, Math.ceil((center - this.#half) / this.#up));
    const last = Math.min(
      this.#first + samples.length - 1,
      Math.floor((center + this.#half) / this.#up),
    );
    let sum = 0;
    for (let k = first; k <= last; k++) {
      const weight = this.#weights[center - k * this.#up + this.#half] as number;
      sum += (samples[k - this.#first] as number) * weight;
    }
    return sum;
  }
}

const filters = new Map<string, Float64Array>();

/** The weights of recently used rates are computed once: requests have few rates. */
function cachedWeights(half: number, up: number): Float64Array {
  const key = `${half} ${up}`;
  const weights = filters.get(key) ?? lowPassWeights(half, up);
  filters.delete(key);
  if (filters.size >= MAX_FILTERS) filters.delete(filters.keys().next().value as string);
  filters.set(key, weights);
  return weights;
}

/** Windowed sinc of 2 half + 1 weights, like `scipy.signal.firwin`, times `up`. */
function lowPassWeights(half: number, up: number): Float64Array {
  const cutoff = ZERO_CROSSINGS / half;
  const weights = new Float64Array(2 * half + 1);
  let sum = 0;
  for (let i = 0; i < weights.length; i++) {
    const x = (i - half) * cutoff;
    const sinc = x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
    const position = (i - half) / half;
    const weight = sinc * besselI0(BETA * Math.sqrt(Math.max(0, 1 - position * position)));
    weights[i] = weight;
    sum += weight;
  }
  return weights.map((weight) => (weight * up) / sum);
}

/** Modified Bessel function of the first kind of order 0, by its power series. */
function besselI0(x: number): number {
  let term = 1;
  let sum = 1;
  for (let k = 1; term > sum * 1e-17; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}
