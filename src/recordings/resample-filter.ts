/** Zero crossings of the sinc on each side: more of them make the transition band narrower. */
const ZERO_CROSSINGS = 32;
/** Of the lower Nyquist frequency; the transition band ends at it. */
const PASSBAND = 0.92;
/** Kaiser's β: side lobes below −80 dB. */
const BETA = 8;
/** Entries of the kernel's table between two zero crossings; linear in between. */
const TABLE_STEPS = 512;
/** Rates are written with so many digits behind the point at most, where they are a ratio of whole numbers. */
const DECIMALS = 1000;
/** Weights that are kept for one pair of rates (2 MB), and pairs of rates. Others are computed each time. */
const MOST_WEIGHTS = 2 ** 18;
const MOST_BANKS = 8;
/** Entries of banks in use, before those of former ones are removed. */
const MOST_BANKS_IN_USE = 64;

/** Samples of a signal from `first` on: `values[0]` is the sample with that number. */
export interface Samples {
  readonly values: Float64Array;
  readonly first: number;
  /** Of those that there are, the number behind the last one's. */
  readonly end: number;
}

/**
 * Interpolation with a windowed sinc (Smith, "Digital Audio Resampling",
 * https://ccrma.stanford.edu/~jos/resample): linear phase, so that each output has the time of its place.
 * Downwards, the sinc is as wide as the new rate asks, which takes away what would be aliased. A constant
 * stays what it is, at the ends too, where what is missing has no weight.
 *
 * Of rates that are a ratio of small whole numbers, the weights come from a bank of polyphase filters, one for
 * each place that an output can have between two samples.
 */
export class ResampleFilter {
  readonly from: number;
  readonly to: number;
  /** How far before and behind its place an output needs samples, in samples. */
  readonly reach: number;
  readonly #cutoff: number;
  readonly #bank: Bank | null;

  /** @param from Hz of the samples @param to Hz of the outputs */
  constructor(from: number, to: number) {
    this.from = from;
    this.to = to;
    this.#cutoff = cutoffOf(from, to);
    this.reach = reachOf(from, to);
    this.#bank = bankOf(from, to, this.#cutoff);
  }

  /** Where an output is, in samples. */
  positionOf(output: number): number {
    return (output * this.from) / this.to;
  }

  /** The number of the last sample that an output needs, where there is such a one. */
  lastOf(output: number): number {
    const bank = this.#bank;
    if (!bank) return Math.floor(this.positionOf(output) + this.reach);
    const phase = (output * bank.samples) % bank.phases;
    return floorOf(bank, output, phase) + (bank.lasts[phase] as number);
  }

  /** The same of the first one. */
  firstOf(output: number): number {
    const bank = this.#bank;
    if (!bank) return Math.max(0, Math.ceil(this.positionOf(output) - this.reach));
    const phase = (output * bank.samples) % bank.phases;
    return Math.max(0, floorOf(bank, output, phase) + (bank.firsts[phase] as number));
  }

  /** Outputs of so many samples. */
  lengthOf(samples: number): number {
    if (samples === 0) return 0;
    return Math.max(1, Math.floor(((samples - 1) * this.to) / this.from + 1e-9) + 1);
  }

  /** @param samples all that there are around its place */
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

/** See `ResampleFilter.reach`. */
export function reachOf(from: number, to: number): number {
  return ZERO_CROSSINGS / cutoffOf(from, to);
}

/** Bytes of the polyphase filters of two rates, which are not built for that; 0: there are none. */
export function bankBytes(from: number, to: number): number {
  const shape = shapeOf(from, to);
  return shape === null ? 0 : shape.phases * (shape.width + 2) * Float64Array.BYTES_PER_ELEMENT;
}

/** Of outputs whose places are `phases` different ones between two samples. */
interface Bank {
  /** from / to in lowest terms. */
  readonly samples: number;
  readonly phases: number;
  /** Of each phase `width` of them, of which those for the samples from `firsts` to `lasts` count. */
  readonly weights: Float64Array;
  readonly width: number;
  /** From the sample at or before the place. */
  readonly firsts: Int32Array;
  readonly lasts: Int32Array;
  /** Of the weights. */
  readonly sums: Float64Array;
}

/** The sample at or before the place of an output. */
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

/** By rates, those that were asked for last at the end. */
const banks = new Map<string, Bank>();
/** Those in use: streams of the same rates share one, however many other rates there are. */
const banksInUse = new Map<string, WeakRef<Bank>>();

/** Null: their ratio is none of small whole numbers. */
function bankOf(from: number, to: number, cutoff: number): Bank | null {
  const key = `${from} ${to}`;
  const known = banks.get(key) ?? banksInUse.get(key)?.deref() ?? makeBank(from, to, cutoff);
  if (known === null) return null;
  if (banksInUse.size >= MOST_BANKS_IN_USE) forgetUnused();
  banksInUse.set(key, new WeakRef(known));
  banks.delete(key);
  banks.set(key, known);
  if (banks.size > MOST_BANKS) banks.delete(banks.keys().next().value as string);
  return known;
}

function forgetUnused(): void {
  for (const [key, reference] of banksInUse) if (!reference.deref()) banksInUse.delete(key);
}

/** Null: the ratio of the rates is none of small whole numbers. */
function shapeOf(from: number, to: number): Pick<Bank, 'samples' | 'phases' | 'width'> | null {
  const [a, b] = [from * DECIMALS, to * DECIMALS];
  if (!Number.isSafeInteger(a) || !Number.isSafeInteger(b)) return null;
  const divisor = greatestCommonDivisor(a, b);
  const [samples, phases] = [a / divisor, b / divisor];
  const width = 2 * Math.floor(reachOf(from, to)) + 2;
  return phases * width > MOST_WEIGHTS ? null : { samples, phases, width };
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
    const place = phase / phases;
    const first = Math.ceil(place - reach);
    const last = Math.floor(place + reach);
    bank.firsts[phase] = first;
    bank.lasts[phase] = last;
    for (let k = first; k <= last; k++) {
      const weight = kernel(Math.abs(place - k) * cutoff);
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

/** @param x zero crossings from the centre, 0 to ZERO_CROSSINGS */
function kernel(x: number): number {
  const place = x * TABLE_STEPS;
  const index = Math.floor(place);
  const below = table[index] as number;
  return below + (place - index) * ((table[index + 1] as number) - below);
}

function makeTable(): Float64Array {
  const values = new Float64Array(ZERO_CROSSINGS * TABLE_STEPS + 2);
  for (let i = 0; i < values.length - 2; i++) {
    const x = i / TABLE_STEPS;
    const sinc = x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
    const window = bessel(BETA * Math.sqrt(1 - (x / ZERO_CROSSINGS) ** 2)) / bessel(BETA);
    values[i] = sinc * window;
  }
  return values; // beyond the last crossing it is 0
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
