import { QUALITY_FLAGS, type QualityFlag, type QualitySettings } from './quality-thresholds';

/** Minimum run of equal samples at the minimum or maximum that counts as clipping. */
const MIN_CLIPPED_RUN = 3;
/** Number of cached tables from which on unused entries are removed. */
const MAX_CACHED_TABLES = 64;

function bitOf(problem: QualityFlag): number {
  return 1 << QUALITY_FLAGS.indexOf(problem);
}

/** Quality problems of a bit set. */
export function problemsOf(bits: number): readonly QualityFlag[] {
  return QUALITY_FLAGS.filter((_, index) => bits & (1 << index));
}

const FLAT = bitOf('flat');
const CLIPPED = bitOf('clipped');
const AMPLITUDE = bitOf('amplitude');
const JUMP = bitOf('jump');
const MAINS_HUM = bitOf('mains_hum');

/** Problems that exclude a window from inference. */
function unusableBits({ unusable }: QualitySettings): number {
  return unusable.reduce((bits, problem) => bits | bitOf(problem), bitOf('not_finite'));
}

/** Analyzes the raw samples of windows. The fields hold the result of the last call of `analyze`. */
export class SignalQualityAnalyzer {
  /** Bit set: bit i stands for `QUALITY_FLAGS[i]`. */
  problems = 0;
  /** Peak-to-peak amplitude in the unit of the samples; NaN if a sample is not finite. */
  peakToPeak = 0;
  /** Share of the signal power at the strongest mains frequency; NaN if all are above the Nyquist frequency. */
  mainsShare = 0;
  readonly #settings: QualitySettings;
  readonly #unusable: number;
  readonly #tables: readonly Table[];

  /** @param length window length in samples @param rate sampling rate in Hz */
  constructor(length: number, rate: number, settings: QualitySettings) {
    this.#settings = settings;
    this.#unusable = unusableBits(settings);
    this.#tables = settings.mainsHz
      .filter((hz) => hz < rate / 2)
      .map((hz) => tableOf(length, hz / rate));
  }

  /** Size in bytes of the tables for a window length in samples. */
  static bytesOf(length: number, { mainsHz }: QualitySettings): number {
    return mainsHz.length * 3 * length * Float64Array.BYTES_PER_ELEMENT;
  }

  /** Whether the analyzed window is sent to the model. */
  get isUsable(): boolean {
    return (this.problems & this.#unusable) === 0;
  }

  /** @param resampled input of the model, computed also from samples around the window; only checked for being finite */
  analyze(samples: Float64Array, resampled = samples): void {
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    let sum = 0;
    let jump = 0;
    let before = samples[0] as number;
    for (let i = 0; i < samples.length; i++) {
      const value = samples[i] as number;
      if (value < low) low = value;
      if (value > high) high = value;
      sum += value;
      const difference = Math.abs(value - before);
      if (difference > jump) jump = difference;
      before = value;
    }
    if (
      !areFinite(samples, sum) ||
      (resampled !== samples && !areFinite(resampled, sumOf(resampled)))
    ) {
      this.problems = bitOf('not_finite');
      this.peakToPeak = Number.NaN;
      this.mainsShare = Number.NaN;
      return;
    }
    this.peakToPeak = high - low;
    this.mainsShare = this.#mainsShareOf(samples, sum / samples.length);
    this.problems = this.#findProblems(samples, { low, high, jump });
  }

  #findProblems(
    samples: Float64Array,
    { low, high, jump }: { readonly low: number; readonly high: number; readonly jump: number },
  ): number {
    const {
      flatBelow,
      clippedShare,
      amplitudeRange: range,
      mainsShare,
      jumpAbove,
    } = this.#settings;
    let problems = 0;
    if (this.peakToPeak <= flatBelow) problems |= FLAT;
    else if (clippedShareOf(samples, low, high) >= clippedShare) problems |= CLIPPED;
    if (range !== null && (low < range[0] || high > range[1])) problems |= AMPLITUDE;
    if (this.mainsShare > mainsShare) problems |= MAINS_HUM;
    if (jumpAbove !== null && jump > jumpAbove) problems |= JUMP;
    return problems;
  }

  /**
   * Share of the power without the mean that a sinusoid of a mains frequency has: 1 for a pure sinusoid, about 3/n
   * for white noise. A Hann window separates frequencies that are some multiples of rate / n apart.
   */
  #mainsShareOf(samples: Float64Array, mean: number): number {
    if (this.peakToPeak === 0) return this.#tables.length > 0 ? 0 : Number.NaN;
    let largest = Number.NaN;
    for (const { cosines, sines, window, scale } of this.#tables) {
      let real = 0;
      let imaginary = 0;
      let power = 0;
      for (let i = 0; i < samples.length; i++) {
        const value = (samples[i] as number) - mean;
        real += value * (cosines[i] as number);
        imaginary += value * (sines[i] as number);
        const weighted = value * (window[i] as number);
        power += weighted * weighted;
      }
      const share = power > 0 ? (scale * (real * real + imaginary * imaginary)) / power : 0;
      if (!(share <= largest)) largest = Math.min(1, share);
    }
    return largest;
  }
}

/** The sum of finite values near the float64 maximum can be infinite; then each value is checked. */
function areFinite(samples: Float64Array, sum: number): boolean {
  return Number.isFinite(sum) || samples.every(Number.isFinite);
}

function sumOf(samples: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < samples.length; i++) sum += samples[i] as number;
  return sum;
}

/** Share of samples in runs at the minimum or maximum. */
function clippedShareOf(samples: Float64Array, low: number, high: number): number {
  let clipped = 0;
  let run = 0;
  let before = Number.NaN;
  for (let i = 0; i < samples.length; i++) {
    const value = samples[i] as number;
    if (value !== low && value !== high) {
      run = 0;
    } else {
      run = value === before ? run + 1 : 1;
      if (run === MIN_CLIPPED_RUN) clipped += MIN_CLIPPED_RUN;
      else if (run > MIN_CLIPPED_RUN) clipped++;
    }
    before = value;
  }
  return clipped / samples.length;
}

/** Sine and cosine of one mains frequency. */
interface Table {
  /** Hann window. */
  readonly window: Float64Array;
  /** Multiplied by the window. */
  readonly cosines: Float64Array;
  readonly sines: Float64Array;
  /** 2 Σw² / (Σw)² of the window w. */
  readonly scale: number;
}

/** Tables in use by length and frequency. */
const tables = new Map<string, WeakRef<Table>>();

type Columns = [Float64Array, Float64Array, Float64Array];

/** @param frequency in cycles per sample */
function tableOf(length: number, frequency: number): Table {
  const key = `${length} ${frequency}`;
  const cached = tables.get(key)?.deref();
  if (cached) return cached;
  if (tables.size >= MAX_CACHED_TABLES) {
    for (const [unused, reference] of tables) if (!reference.deref()) tables.delete(unused);
  }
  const table = makeTable(length, frequency);
  tables.set(key, new WeakRef(table));
  return table;
}

function makeTable(length: number, frequency: number): Table {
  const [window, cosines, sines] = [1, 2, 3].map(() => new Float64Array(length)) as Columns;
  const angle = 2 * Math.PI * frequency;
  let sum = 0;
  let squares = 0;
  // A loop is several times faster than callbacks per element.
  for (let i = 0; i < length; i++) {
    const w = Math.sin((Math.PI * (i + 0.5)) / length) ** 2;
    window[i] = w;
    cosines[i] = w * Math.cos(angle * i);
    sines[i] = w * Math.sin(angle * i);
    sum += w;
    squares += w * w;
  }
  return { window, cosines, sines, scale: (2 * squares) / sum ** 2 };
}
