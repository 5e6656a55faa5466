import { ResampleFilter, reachOf } from '../recordings/resample-filter';
import { isSameRate } from '../recordings/sampling-rate';
import type { ModelSettings } from '../tasks/signal-classification/model-settings';
import type { SignalQualityAnalyzer } from '../tasks/signal-classification/signal-quality';
import { SampleBuffer } from './sample-buffer';
import type { StreamWindows, WindowQuality } from './stream-windows';

/** Share of extra buffer space, which makes moves of the samples rare, and its minimum in samples. */
const BUFFER_SLACK = 0.5;
const MIN_BUFFER_SLACK = 64;
/** Maximum number of multiplications in one call of `resample`: some milliseconds. */
const MAX_MULTIPLICATIONS = 2 ** 21;

/** How a signal is divided into windows. */
export interface Windowing {
  /** Window length in samples, at the model's sampling rate. */
  readonly windowLength: number;
  /** Sampling rate of the signal, in Hz. */
  readonly samplingRate: number;
  /** Sampling rate of the model, in Hz; null if the model takes any rate. */
  readonly modelRate: number | null;
  /** Hop size from one window to the next, in samples of the signal. */
  readonly step: number;
}

export function windowingOf(
  options: { readonly sampling_rate_hz: number; readonly step?: number | undefined },
  { windowLength, samplingRateHz, channels }: ModelSettings,
): Windowing {
  const rate = options.sampling_rate_hz;
  const perModelSample = samplingRateHz === null ? 1 : rate / samplingRateHz;
  const usual = channels?.step ?? windowLength;
  const step = options.step ?? Math.max(1, Math.round(usual * perModelSample));
  return { windowLength, samplingRate: rate, modelRate: samplingRateHz, step };
}

/** Whether the signal has to be resampled to the model's rate. */
export function isResampled({ samplingRate, modelRate }: Windowing): boolean {
  return modelRate !== null && !isSameRate(samplingRate, modelRate);
}

/** Number of samples of the signal that the filter needs for one window. */
function filterSpan({ windowLength, samplingRate, modelRate }: Windowing): number {
  const to = modelRate as number;
  const length = (windowLength * samplingRate) / to;
  return Math.ceil(length) + 2 * Math.ceil(reachOf(samplingRate, to)) + 2;
}

/**
 * Divides a signal that arrives in pieces into the windows of a model. The windows are bitwise identical to those of
 * the whole signal resampled at once (`resample`): window k begins at the model's sample nearest to k × step.
 *
 * Call `take` until `isComplete`, then read `window`, then call `advance`.
 */
export class SlidingWindows implements StreamWindows {
  readonly valuesPerSample = 1;
  /** Resampling filter; null if the signal has the model's rate. */
  readonly filter: ResampleFilter | null;
  /** Window length in samples of the signal. */
  readonly rawLength: number;
  readonly #length: number;
  readonly #step: number;
  /** Maximum number of samples that one call of `resample` computes. */
  readonly #maxResampled: number;
  /** Received samples. */
  readonly #raw: SampleBuffer;
  /** Samples at the model's rate; the same buffer as `#raw` without resampling. */
  readonly #samples: SampleBuffer;
  /** Number of the current window, and the number of its first sample. */
  #window = 0;
  #start = 0;
  #hasEnded = false;

  constructor(windowing: Windowing) {
    const { windowLength, samplingRate, modelRate, step } = windowing;
    this.filter = isResampled(windowing)
      ? new ResampleFilter(samplingRate, modelRate as number)
      : null;
    this.rawLength = SlidingWindows.rawLengthOf(windowing);
    this.#length = windowLength;
    this.#step = step;
    const samples = new SampleBuffer(withSlack(windowLength));
    this.#samples = samples;
    this.#raw = this.filter === null ? samples : new SampleBuffer(withSlack(filterSpan(windowing)));
    const weights = 2 * (this.filter?.reach ?? 0) + 1;
    this.#maxResampled = Math.max(1, Math.floor(MAX_MULTIPLICATIONS / weights));
  }

  /** Size of the buffers in bytes. */
  static bytesOf(windowing: Windowing): number {
    const own = withSlack(windowing.windowLength);
    const raw = isResampled(windowing) ? withSlack(filterSpan(windowing)) : 0;
    return (own + raw) * Float64Array.BYTES_PER_ELEMENT;
  }

  /** Window length in samples of the signal. */
  static rawLengthOf(windowing: Windowing): number {
    const last = windowing.windowLength - 1;
    if (!isResampled(windowing)) return last + 1;
    return Math.floor((last * windowing.samplingRate) / (windowing.modelRate as number)) + 1;
  }

  get isComplete(): boolean {
    return this.#samples.end >= this.#start + this.#length;
  }

  /** Samples of the complete window at the model's rate: a view that is valid until the next `take`. */
  get window(): Float64Array {
    return this.#samples.view(this.#start, this.#start + this.#length);
  }

  /** Samples of the signal within the complete window: a view that is valid until the next `take`. */
  get rawWindow(): Float64Array {
    const first = this.firstRaw;
    return this.#raw.view(first, first + this.rawLength);
  }

  /** Start of the current window, in samples of the signal; can be fractional. */
  get position(): number {
    return this.#rawPositionOf(this.#start);
  }

  /** Number of the sample at or before `position`. */
  get firstRaw(): number {
    return Math.floor(this.position);
  }

  get delayMs(): number {
    const { filter } = this;
    return filter === null ? 0 : (Math.ceil(filter.reach) / filter.from) * 1000;
  }

  get resampledToHz(): number | null {
    return this.filter?.to ?? null;
  }

  analyze(analyzer: SignalQualityAnalyzer): WindowQuality {
    const { rawWindow } = this;
    analyzer.analyze(rawWindow, this.filter === null ? rawWindow : this.window);
    return analyzer;
  }

  /** Whether received samples have to be resampled before `take` accepts more. */
  get needsResampling(): boolean {
    const { filter } = this;
    if (filter === null) return false;
    const { end } = this.#samples;
    return end < this.#maxEnd && (this.#hasEnded || filter.lastOf(end) < this.#raw.end);
  }

  /** Resamples received samples, for some milliseconds at most. */
  resample(): void {
    const { filter } = this;
    if (filter === null) return;
    const raw = this.#raw;
    const samples = this.#samples;
    const end = Math.min(this.#maxEnd, samples.end + this.#maxResampled);
    while (samples.end < end && (this.#hasEnded || filter.lastOf(samples.end) < raw.end)) {
      samples.push(filter.at(samples.end, raw), this.#start);
    }
  }

  /**
   * Takes samples from `offset` on, until the window is complete or resampling is needed.
   *
   * @returns number of samples taken
   */
  take(samples: Float64Array, offset: number): number {
    let at = offset;
    while (at < samples.length && !this.isComplete && !this.needsResampling) {
      const keepFrom = this.#firstNeededRaw();
      const lastNeeded = this.#lastRawOf(this.#start + this.#length - 1);
      const missing = Math.max(1, lastNeeded + 1 - this.#raw.end);
      const count = Math.min(missing, samples.length - at, this.#raw.roomFor(keepFrom));
      this.#raw.append(samples.subarray(at, at + count), keepFrom);
      at += count;
      this.resample();
    }
    return at - offset;
  }

  /** Moves on to the next window. */
  advance(): void {
    this.#window++;
    this.#start = this.#startOf(this.#window);
    // Samples between two windows that do not overlap are not computed.
    if (this.filter !== null) this.#samples.skipTo(this.#start);
    this.resample();
  }

  /** Ends the signal: the filter no longer waits for samples behind the last one. */
  end(): void {
    this.#hasEnded = true;
    this.resample();
  }

  /** Begins a new signal. No window spans both signals. */
  restart(): void {
    this.#hasEnded = false;
    this.#raw.clear();
    this.#samples.clear();
    this.#window = 0;
    this.#start = 0;
  }

  #startOf(window: number): number {
    const { filter } = this;
    const position = window * this.#step;
    return filter === null ? position : Math.round((position * filter.to) / filter.from);
  }

  #rawPositionOf(sample: number): number {
    return this.filter === null ? sample : this.filter.positionOf(sample);
  }

  #lastRawOf(sample: number): number {
    return this.filter === null ? sample : this.filter.lastOf(sample);
  }

  /** First received sample that the filter or the quality analysis still needs. */
  #firstNeededRaw(): number {
    const { filter } = this;
    if (filter === null) return this.#start;
    return Math.min(this.firstRaw, filter.firstOf(this.#samples.end));
  }

  /** End of the current window, or of the signal if that comes first. */
  get #maxEnd(): number {
    const end = this.#start + this.#length;
    if (!this.#hasEnded || this.filter === null) return end;
    return Math.min(end, this.filter.lengthOf(this.#raw.end));
  }
}

function withSlack(count: number): number {
  return count + Math.max(MIN_BUFFER_SLACK, Math.ceil(count * BUFFER_SLACK));
}
