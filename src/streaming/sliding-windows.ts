import { ResampleFilter } from '../recordings/resample-filter';
import { SampleBuffer } from './sample-buffer';

/** Rates that differ by less are the same, as for recordings: amplifiers say them with few digits. */
const SAME_RATE = 0.005;
/** Of the samples that are kept, how many more there is room for. */
const SLACK = 0.5;
const LEAST_SLACK = 64;

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

/** Null: samples are taken as they come. */
export function filterOf({ samplingRate, modelRate }: Cut): ResampleFilter | null {
  if (modelRate === null || Math.abs(samplingRate - modelRate) <= SAME_RATE * modelRate)
    return null;
  return new ResampleFilter(samplingRate, modelRate);
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
      const { reach } = this.filter;
      const span = Math.ceil(this.filter.placeOf(cut.windowLength)) + 2 * Math.ceil(reach) + 2;
      this.#raw = new SampleBuffer(withSlack(span));
      this.#samples = new SampleBuffer(kept);
    }
  }

  /** Bytes of what is kept. */
  static bytesOf(cut: Cut): number {
    const filter = filterOf(cut);
    const own = withSlack(cut.windowLength);
    if (filter === null) return own * Float64Array.BYTES_PER_ELEMENT;
    const span = Math.ceil(filter.placeOf(cut.windowLength)) + 2 * Math.ceil(filter.reach) + 2;
    return (own + withSlack(span)) * Float64Array.BYTES_PER_ELEMENT;
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

  /**
   * Takes samples from `offset` on, up to where the next window is complete.
   *
   * @returns how many: 0 where one is complete
   */
  take(samples: Float64Array, offset: number): number {
    let at = offset;
    while (at < samples.length && !this.isComplete) {
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

  /** As many samples at the model's rate as there can be by now, up to the end of the window. */
  #resample(): void {
    const { filter } = this;
    if (filter === null) return;
    const raw = this.#raw;
    const wanted = this.#start + this.#length;
    const most = this.#hasEnded ? Math.min(wanted, filter.lengthOf(raw.end)) : wanted;
    const samples = this.#samples;
    while (samples.end < most && (this.#hasEnded || filter.lastOf(samples.end) < raw.end)) {
      // Those between two windows that do not touch are of no use.
      const value = samples.end < this.#start ? 0 : filter.at(samples.end, raw);
      samples.push(value, this.#start);
    }
  }
}

function withSlack(count: number): number {
  return count + Math.max(LEAST_SLACK, Math.ceil(count * SLACK));
}
