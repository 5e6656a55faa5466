import {
  PROBLEMS,
  type Problem,
  type QualitySettings,
} from '../tasks/signal-classification/quality-settings';

/** So many equal samples in a row, at the highest or the lowest value, are what a limit looks like. */
const LEAST_RUN = 3;
/** Tables that are remembered, in use or not, before those that are not are forgotten. */
const MOST_TABLES = 64;

export function bitOf(problem: Problem): number {
  return 1 << PROBLEMS.indexOf(problem);
}

export function problemsOf(bits: number): readonly Problem[] {
  return PROBLEMS.filter((_, index) => bits & (1 << index));
}

const FLAT = bitOf('flat');
const CLIPPED = bitOf('clipped');
const AMPLITUDE = bitOf('amplitude');
const JUMP = bitOf('jump');
const MAINS_HUM = bitOf('mains_hum');

/** Of which a window is not asked about. */
function unusableBits({ unusable }: QualitySettings): number {
  return unusable.reduce((bits, problem) => bits | bitOf(problem), bitOf('not_finite'));
}

/**
 * Looks at windows as they came, before anything is resampled or normalized; what it has seen in the last one is
 * in its fields.
 */
export class SignalQualityAnalyzer {
  /** Bit i: the window has `PROBLEMS[i]`. */
  problems = 0;
  /** In the unit of the samples; NaN: they are not finite. */
  peakToPeak = 0;
  /** The largest share of the power that a frequency of mains has; NaN: none can be seen at this rate. */
  mainsShare = 0;
  readonly #settings: QualitySettings;
  readonly #unusable: number;
  readonly #tables: readonly Table[];

  /** @param length samples of a window @param rate of them, in Hz */
  constructor(length: number, rate: number, settings: QualitySettings) {
    this.#settings = settings;
    this.#unusable = unusableBits(settings);
    this.#tables = settings.mainsHz
      .filter((hz) => hz < rate / 2)
      .map((hz) => tableOf(length, hz / rate));
  }

  /** Bytes of what it needs for a window of so many samples. */
  static bytesOf(length: number, { mainsHz }: QualitySettings): number {
    return mainsHz.length * 3 * length * Float64Array.BYTES_PER_ELEMENT;
  }

  /** Whether the model is asked about what it has seen. */
  get isUsable(): boolean {
    return (this.problems & this.#unusable) === 0;
  }

  /** @param taken what the model takes of them: the same, or resampled, for which the filter looks around */
  see(samples: Float64Array, taken = samples): void {
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
    if (!areFinite(samples, sum) || (taken !== samples && !areFinite(taken, sumOf(taken)))) {
      this.problems = bitOf('not_finite');
      this.peakToPeak = Number.NaN;
      this.mainsShare = Number.NaN;
      return;
    }
    this.peakToPeak = high - low;
    this.mainsShare = this.#mainsShareOf(samples, sum / samples.length);
    this.problems = this.#problemsOf(samples, low, high) | (this.#isJump(jump) ? JUMP : 0);
  }

  #problemsOf(samples: Float64Array, low: number, high: number): number {
    const { flatBelow, clippedShare, amplitudeRange: range, mainsShare } = this.#settings;
    let problems = 0;
    if (this.peakToPeak <= flatBelow) problems |= FLAT;
    else if (clippedShareOf(samples, low, high) >= clippedShare) problems |= CLIPPED;
    if (range !== null && (low < range[0] || high > range[1])) problems |= AMPLITUDE;
    if (this.mainsShare > mainsShare) problems |= MAINS_HUM;
    return problems;
  }

  #isJump(difference: number): boolean {
    const { jumpAbove } = this.#settings;
    return jumpAbove !== null && difference > jumpAbove;
  }

  /**
   * Of the power about the mean, what a sinusoid of that frequency has: 1 of a pure one, about 3/n of white
   * noise. A Hann window keeps apart what is a few multiples of rate / n away.
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

/** A sum of values near the largest double may be infinite though each is finite. */
function areFinite(samples: Float64Array, sum: number): boolean {
  return Number.isFinite(sum) || samples.every(Number.isFinite);
}

function sumOf(samples: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < samples.length; i++) sum += samples[i] as number;
  return sum;
}

/** Of the samples that stand at either end of the range in a row. */
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
      if (run === LEAST_RUN) clipped += LEAST_RUN;
      else if (run > LEAST_RUN) clipped++;
    }
    before = value;
  }
  return clipped / samples.length;
}

interface Table {
  readonly window: Float64Array;
  /** Times the window. */
  readonly cosines: Float64Array;
  readonly sines: Float64Array;
  /** 2 Σw² / (Σw)². */
  readonly scale: number;
}

/** Those that are in use, by what they are of. */
const tables = new Map<string, WeakRef<Table>>();

type Columns = [Float64Array, Float64Array, Float64Array];

/** @param frequency in cycles per sample */
function tableOf(length: number, frequency: number): Table {
  const key = `${length} ${frequency}`;
  const known = tables.get(key)?.deref();
  if (known) return known;
  if (tables.size >= MOST_TABLES) {
    for (const [other, reference] of tables) if (!reference.deref()) tables.delete(other);
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
  // A loop: callbacks for each element take several times as long, on the event loop.
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
