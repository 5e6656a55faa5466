/** Zero crossings of the sinc on each side; more zero crossings make the transition band narrower. */
const ZERO_CROSSINGS = 32;
/** Passband as a share of the lower Nyquist frequency, at which the transition band ends. */
const PASSBAND = 0.92;
/** β of the Kaiser window: side lobes below −80 dB. */
const BETA = 8;
/** Entries of the kernel table per zero crossing, with linear interpolation. */
const TABLE_STEPS = 512;
/** Factor that makes sampling rates integers: rates have up to three decimals. */
const RATE_SCALE = 1000;
/** Maximum number of weights in a filter bank (2 MB), and of cached banks. Other filters are computed per sample. */
const MAX_WEIGHTS = 2 ** 18;
const MAX_CACHED_BANKS = 8;
/** Number of entries from which on unused banks are removed. */
const MAX_BANKS_IN_USE = 64;

/** Part of a signal; `values[0]` is the sample with the number `first`. */
export interface Samples {
  readonly values: Float64Array;
  readonly first: number;
  /** Number of the first sample that is not available. */
  readonly end: number;
}

/**
 * Resampling filter: interpolation with a windowed sinc (Smith, "Digital Audio Resampling",
 * https://ccrma.stanford.edu/~jos/resample). The phase is linear, so that outputs are not delayed. For a lower rate
 * the sinc is wider, which prevents aliasing. Weights are normalized, so that a constant signal does not change, not
 * even at the ends.
 *
 * If the ratio of the rates consists of small integers, the weights come from a bank of polyphase filters, with one
 * filter per position of an output between two samples.
 */
export class ResampleFilter {
  readonly from: number;
  readonly to: number;
  /** Distance from an output to the first and last sample that it needs, in samples. */
  readonly reach: number;
  readonly #cutoff: number;
  readonly #bank: Bank | null;

  /** @param from sampling rate of the samples in Hz @param to sampling rate of the outputs in Hz */
  constructor(from: number, to: number) {
    this.from = from;
    this.to = to;
    this.#cutoff = cutoffOf(from, to);
    this.reach = reachOf(from, to);
    this.#bank = bankOf(from, to, this.#cutoff);
  }

  /** Position of an output in samples; can be fractional. */
  positionOf(output: number): number {
    return (output * this.from) / this.to;
  }

  /** Number of the last sample that an output needs; can be behind the end of the signal. */
  lastOf(output: number): number {
    const bank = this.#bank;
    if (!bank) return Math.floor(this.positionOf(output) + this.reach);
    const phase = (output * bank.samples) % bank.phases;
    return floorOf(bank, output, phase) + (bank.lasts[phase] as number);
  }

  /** Number of the first sample that an output needs. */
  firstOf(output: number): number {
    const bank = this.#bank;
    if (!bank) return Math.max(0, Math.ceil(this.positionOf(output) - this.reach));
    const phase = (output * bank.samples) % bank.phases;
    return Math.max(0, floorOf(bank, output, phase) + (bank.firsts[phase] as number));
  }

  /** Number of outputs for so many samples. */
  lengthOf(samples: number): number {
    if (samples === 0) return 0;
    return Math.max(1, Math.floor(((samples - 1) * this.to) / this.from + 1e-9) + 1);
  }

  /** Computes an output. @param samples available samples within `reach` */
  at(output: number, samples: Samples): number {
    const bank = this.#bank;
    return bank ? fromBank(bank, output, samples) : this.#computed(output, samples);
  }

  #computed(output: number, { values, first, end }: Samples): number {
    const center = this.positionOf(output);
    const last = Math.min(end - 1, this.lastOf(output));
    let sum = 0;
    let weights = 0;
    for (let k = this.firstOf(output); k <= last; k++) {
      const weight = kernel(Math.abs(center - k) * this.#cutoff);
      sum += weight * (values[k - first] as number);
      weights += weight;
    }
    return sum / weights;
  }
}

function cutoffOf(from: number, to: number): number {
  return Math.min(1, to / from) * PASSBAND;
}

export function reachOf(from: number, to: number): number {
  return ZERO_CROSSINGS / cutoffOf(from, to);
}

/** Size in bytes of the filter bank for two rates, without creating it; 0 without a bank. */
export function bankBytes(from: number, to: number): number {
  const shape = shapeOf(from, to);
  return shape === null ? 0 : shape.phases * (shape.width + 2) * Float64Array.BYTES_PER_ELEMENT;
}

/** Polyphase filters, one per phase: a position of an output between two samples. */
interface Bank {
  /** from / to in lowest terms. */
  readonly samples: number;
  readonly phases: number;
  /** `width` weights per phase, for the samples from `firsts` to `lasts`. */
  readonly weights: Float64Array;
  readonly width: number;
  /** First and last sample per phase, relative to the sample at or before the output. */
  readonly firsts: Int32Array;
  readonly lasts: Int32Array;
  /** Sum of the weights per phase. */
  readonly sums: Float64Array;
}

/** Number of the sample at or before an output. */
function floorOf({ samples, phases }: Bank, output: number, phase: number): number {
  return (output * samples - phase) / phases;
}

function fromBank(bank: Bank, output: number, { values, first, end }: Samples): number {
  const phase = (output * bank.samples) % bank.phases;
  const at = floorOf(bank, output, phase);
  const from = at + (bank.firsts[phase] as number);
  const last = at + (bank.lasts[phase] as number);
  const { weights } = bank;
  const offset = phase * bank.width - from;
  let sum = 0;
  if (from >= 0 && last < end) {
    for (let k = from; k <= last; k++) {
      sum += (weights[offset + k] as number) * (values[k - first] as number);
    }
    return sum / (bank.sums[phase] as number);
  }
  let total = 0;
  for (let k = Math.max(0, from); k <= Math.min(last, end - 1); k++) {
    const weight = weights[offset + k] as number;
    sum += weight * (values[k - first] as number);
    total += weight;
  }
  return sum / total;
}

/** Cached banks by rates, most recently used last. */
const banks = new Map<string, Bank>();
/** Banks in use by rates: all streams with the same rates share a bank. */
const banksInUse = new Map<string, WeakRef<Bank>>();

/** Null if the ratio of the rates does not consist of small integers. */
function bankOf(from: number, to: number, cutoff: number): Bank | null {
  const key = `${from} ${to}`;
  const bank = banks.get(key) ?? banksInUse.get(key)?.deref() ?? makeBank(from, to, cutoff);
  if (bank === null) return null;
  if (banksInUse.size >= MAX_BANKS_IN_USE) removeUnused();
  banksInUse.set(key, new WeakRef(bank));
  banks.delete(key);
  banks.set(key, bank);
  if (banks.size > MAX_CACHED_BANKS) banks.delete(banks.keys().next().value as string);
  return bank;
}

function removeUnused(): void {
  for (const [key, reference] of banksInUse) if (!reference.deref()) banksInUse.delete(key);
}

/** Null if the ratio of the rates does not consist of small integers. */
function shapeOf(from: number, to: number): Pick<Bank, 'samples' | 'phases' | 'width'> | null {
  const [a, b] = [from * RATE_SCALE, to * RATE_SCALE];
  if (!Number.isSafeInteger(a) || !Number.isSafeInteger(b)) return null;
  const divisor = greatestCommonDivisor(a, b);
  const [samples, phases] = [a / divisor, b / divisor];
  const width = 2 * Math.floor(reachOf(from, to)) + 2;
  return phases * width > MAX_WEIGHTS ? null : { samples, phases, width };
}

function makeBank(from: number, to: number, cutoff: number): Bank | null {
  const shape = shapeOf(from, to);
  if (shape === null) return null;
  const { samples, phases, width } = shape;
  const reach = ZERO_CROSSINGS / cutoff;
  const bank = {
    samples,
    phases,
    width,
    weights: new Float64Array(phases * width),
    firsts: new Int32Array(phases),
    lasts: new Int32Array(phases),
    sums: new Float64Array(phases),
  };
  for (let phase = 0; phase < phases; phase++) {
    const position = phase / phases;
    const first = Math.ceil(position - reach);
    const last = Math.floor(position + reach);
    bank.firsts[phase] = first;
    bank.lasts[phase] = last;
    for (let k = first; k <= last; k++) {
      const weight = kernel(Math.abs(position - k) * cutoff);
      bank.weights[phase * width + k - first] = weight;
      (bank.sums[phase] as number) += weight;
    }
  }
  return bank;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

const table = makeTable();

/** @param x distance from the center in zero crossings, 0 to ZERO_CROSSINGS */
function kernel(x: number): number {
  const position = x * TABLE_STEPS;
  const index = Math.floor(position);
  const below = table[index] as number;
  return below + (position - index) * ((table[index + 1] as number) - below);
}

function makeTable(): Float64Array {
  const values = new Float64Array(ZERO_CROSSINGS * TABLE_STEPS + 2);
  for (let i = 0; i < values.length - 2; i++) {
    const x = i / TABLE_STEPS;
    const sinc = x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
    const window = bessel(BETA * Math.sqrt(1 - (x / ZERO_CROSSINGS) ** 2)) / bessel(BETA);
    values[i] = sinc * window;
  }
  return values;
}

/** Modified Bessel function of the first kind, order 0, by its power series. */
function bessel(x: number): number {
  let sum = 1;
  let term = 1;
  for (let k = 1; term > 1e-17 * sum; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}
