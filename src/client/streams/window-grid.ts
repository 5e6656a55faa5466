import type { StreamOpened } from '../../streaming/stream-messages';

type Opened = Pick<
  StreamOpened,
  'window_length' | 'step' | 'sampling_rate_hz' | 'resampled_to_hz' | 'delay_ms'
>;

/** Maximum period of the grid in windows. */
const MAX_PERIOD = 256;

/**
 * Window positions in the samples of a signal without gaps, as the server computes them: window k begins at the
 * model's sample nearest to k × step.
 */
export class WindowGrid {
  readonly step: number;
  /** Maximum number of samples from the first sample of a window until the window is complete. */
  readonly span: number;
  readonly #length: number;
  readonly #from: number;
  readonly #to: number;
  /** Number of windows before a window with which a signal must begin for a bitwise identical result. */
  readonly #lead: number;
  /** Number of windows after which sample positions at both rates coincide again. */
  readonly #period: number;

  /** @param smoothed number of preceding windows that contribute to a smoothed result */
  constructor(opened: Opened, smoothed: number) {
    const { step, window_length: length, sampling_rate_hz: rate, resampled_to_hz: to } = opened;
    this.step = step;
    this.#length = length;
    [this.#from, this.#to] = to === null ? [1, 1] : [rate, to];
    const reach = to === null ? 0 : Math.ceil((opened.delay_ms * rate) / 1000) + 1;
    this.span = Math.ceil((length * this.#from) / this.#to) + 2 * reach;
    // If windows do not overlap, the next window can begin after the last received sample.
    const apart = step > this.span ? 1 : 0;
    this.#lead = Math.max(apart, smoothed, Math.ceil(reach / step));
    this.#period = this.#findPeriod();
  }

  /** Number of the window with a first sample. */
  indexOf(firstSample: number): number {
    let index = Math.max(0, Math.round(firstSample / this.step) - 3);
    while (this.#firstOf(index) < firstSample) index++;
    return index;
  }

  /** Number of complete windows in so many samples. */
  countIn(samples: number): number {
    const last = this.#lengthOf(samples) - this.#length;
    if (last < 0) return 0;
    let count = Math.max(0, Math.floor((last * this.#from) / this.#to / this.step) - 1);
    while (this.#startOf(count) <= last) count++;
    return count;
  }

  /** Window with which a new stream must begin, for a bitwise identical result of a window. */
  restartFor(index: number): number {
    const begin = Math.max(0, index - this.#lead);
    return begin - (begin % this.#period);
  }

  #firstOf(index: number): number {
    return Math.floor((this.#startOf(index) * this.#from) / this.#to);
  }

  #startOf(index: number): number {
    return Math.round((index * this.step * this.#to) / this.#from);
  }

  #lengthOf(samples: number): number {
    if (samples === 0 || this.#from === this.#to) return samples;
    return Math.max(1, Math.floor(((samples - 1) * this.#to) / this.#from + 1e-9) + 1);
  }

  /** Period of the grid; 1 if there is none, and results of a new stream differ in the last digits. */
  #findPeriod(): number {
    for (let period = 1; period <= MAX_PERIOD; period++) {
      if (Number.isInteger((period * this.step * this.#to) / this.#from)) return period;
    }
    return 1;
  }
}
