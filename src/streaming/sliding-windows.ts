import { ResampleFilter, reachOf } from '../recordings/resample-filter';
import { SampleBuffer } from './sample-buffer';

/** Rates that differ by less are the same, as for recordings: amplifiers say them with few digits. */
const SAME_RATE = 0.005;
/** Of the samples that are kept, how many more there is room for. */
const SLACK = 0.5;
const LEAST_SLACK = 64;
/** Weights that one call of `work` multiplies samples with: some milliseconds. */
const MOST_WORK = 2 ** 21;

export interface Cut {
  /** Of the model, at its own rate. */
  readonly windowLength: number;
  /** Of the samples, in Hz. */
  readonly samplingRate: number;
  /** Of the model, in Hz; null: it takes any. */
  readonly modelRate: number | null;
  /** From one window to the next, in samples as they come. */
  readonly step: number;
}

/** Whether the samples are resampled; false: they are taken as they come. */
export function resamples({ samplingRate, modelRate }: Cut): boolean {
  return modelRate !== null && Math.abs(samplingRate - modelRate) > SAME_RATE * modelRate;
}

function filterOf(cut: Cut): ResampleFilter | null {
  return resamples(cut) ? new ResampleFilter(cut.samplingRate, cut.modelRate as number) : null;
}

/** Samples as they come of which the filter makes a window. */
function spanOf({ windowLength, samplingRate, modelRate }: Cut): number {
  const to = modelRate as number;
  const place = (windowLength * samplingRate) / to;
  return Math.ceil(place) + 2 * Math.ceil(reachOf(samplingRate, to)) + 2;
}

/**
 * Cuts samples that come bit by bit into the windows of a model: the same as those of the whole signal at the
 * model's rate (`resample`), of which window k begins at the sample nearest to k × step.
 *
 * Samples are put in with `take` until a window is complete (`isComplete`); `advance` goes on to the next one.
 */
export class SlidingWindows {
  readonly filter: ResampleFilter | null;
  readonly #length: number;
  readonly #step: number;
  /** Samples at the model's rate that one call of `work` makes. */
  readonly #mostAtOnce: number;
  /** As they come. */
  readonly #raw: SampleBuffer;
  /** At the model's rate; the same where nothing is resampled. */
  readonly #samples: SampleBuffer;
  /** Of the next window: its number since the beginning of the signal, and the number of its first sample. */
  #window = 0;
  #start = 0;
  /** No more samples of this signal come. */
  #hasEnded = false;

  constructor(cut: Cut) {
    this.filter = filterOf(cut);
    this.#length = cut.windowLength;
    this.#step = cut.step;
    const kept = withSlack(cut.windowLength);
    if (this.filter === null) {
      this.#raw = new SampleBuffer(kept);
      this.#samples = this.#raw;
    } else {
      this.#raw = new SampleBuffer(withSlack(spanOf(cut)));
      this.#samples = new SampleBuffer(kept);
    }
    this.#mostAtOnce = Math.max(1, Math.floor(MOST_WORK / (2 * (this.filter?.reach ?? 0) + 1)));
  }

  /** Bytes of what is kept. */
  static bytesOf(cut: Cut): number {
    const own = withSlack(cut.windowLength);
    const count = resamples(cut) ? own + withSlack(spanOf(cut)) : own;
    return count * Float64Array.BYTES_PER_ELEMENT;
  }

  /** Samples of a window as they come. */
  static rawLengthOf(cut: Cut): number {
    const last = cut.windowLength - 1;
    if (!resamples(cut)) return last + 1;
    return Math.floor((last * cut.samplingRate) / (cut.modelRate as number)) + 1;
  }

  get isComplete(): boolean {
    return this.#samples.end >= this.#start + this.#length;
  }

  /** The samples of the complete window, at the model's rate, until more are taken. */
  get window(): Float64Array {
    return this.#samples.view(this.#start, this.#start + this.#length);
  }

  /** Samples of a window as they come. */
  get rawLength(): number {
    return Math.floor(this.#placeOf(this.#length - 1)) + 1;
  }

  /** The same as they came, as far as the window goes in time. */
  get rawWindow(): Float64Array {
    const first = this.firstRaw;
    return this.#raw.view(first, first + this.rawLength);
  }

  /** Of the window, in samples as they come, since the beginning of the signal. */
  get place(): number {
    return this.#placeOf(this.#start);
  }

  /** The number of the sample at or right before it. */
  get firstRaw(): number {
    return Math.floor(this.place);
  }

  /** Samples of this signal that have come. */
  get count(): number {
    return this.#raw.end;
  }

  /** Whether there are samples that wait for `work`, before more are taken. */
  get hasWork(): boolean {
    const { filter } = this;
    if (filter === null) return false;
    const { end } = this.#samples;
    return end < this.#mostSamples && (this.#hasEnded || filter.lastOf(end) < this.#raw.end);
  }

  /** Resamples some of what has been taken, for milliseconds. */
  work(): void {
    this.#resample();
  }

  /**
   * Takes samples from `offset` on, up to where the next window is complete, or to where there is work to do first.
   *
   * @returns how many: 0 where one is complete
   */
  take(samples: Float64Array, offset: number): number {
    let at = offset;
    while (at < samples.length && !this.isComplete && !this.hasWork) {
      const needed = this.#neededRaw();
      const lacking = Math.max(
        1,
        this.#lastRawOf(this.#start + this.#length - 1) + 1 - this.#raw.end,
      );
      const count = Math.min(lacking, samples.length - at, this.#raw.room(needed));
      this.#raw.append(samples, at, count, needed);
      at += count;
      this.#resample();
    }
    return at - offset;
  }

  /** There is a next window, whether it is complete or not. */
  advance(): void {
    this.#window++;
    this.#start = this.#startOf(this.#window);
    // Samples between two windows that do not touch are of no use.
    if (this.filter !== null) this.#samples.skipTo(this.#start);
    this.#resample();
  }

  /** No more samples come: what the filter has held back until it knows what follows comes now. */
  end(): void {
    this.#hasEnded = true;
    this.#resample();
  }

  /** Another signal begins, of which no window reaches into this one. */
  restart(): void {
    this.#hasEnded = false;
    this.#raw.clear();
    this.#samples.clear();
    this.#window = 0;
    this.#start = 0;
  }

  #startOf(window: number): number {
    const { filter } = this;
    const place = window * this.#step;
    return filter === null ? place : Math.round((place * filter.to) / filter.from);
  }

  #placeOf(sample: number): number {
    return this.filter === null ? sample : this.filter.placeOf(sample);
  }

  #lastRawOf(sample: number): number {
    return this.filter === null ? sample : this.filter.lastOf(sample);
  }

  /** The first sample that is still needed as it came: for the filter, or to look at the window. */
  #neededRaw(): number {
    const { filter } = this;
    if (filter === null) return this.#start;
    return Math.min(this.firstRaw, filter.firstOf(this.#samples.end));
  }

  /** Samples at the model's rate that there can be, up to the end of the window. */
  get #mostSamples(): number {
    const wanted = this.#start + this.#length;
    if (!this.#hasEnded || this.filter === null) return wanted;
    return Math.min(wanted, this.filter.lengthOf(this.#raw.end));
  }

  /** As many samples at the model's rate as there can be by now, and as one call may make. */
  #resample(): void {
    const { filter } = this;
    if (filter === null) return;
    const raw = this.#raw;
    const samples = this.#samples;
    const most = Math.min(this.#mostSamples, samples.end + this.#mostAtOnce);
    while (samples.end < most && (this.#hasEnded || filter.lastOf(samples.end) < raw.end)) {
      samples.push(filter.at(samples.end, raw), this.#start);
    }
  }
}

function withSlack(count: number): number {
  return count + Math.max(LEAST_SLACK, Math.ceil(count * SLACK));
}
