import type { StreamOpened } from '../../streaming/stream-messages';

type Told = Pick<
  StreamOpened,
  'window_length' | 'step' | 'sampling_rate_hz' | 'resampled_to_hz' | 'delay_ms'
>;

/** Of windows after which the places of samples at the two rates are alike again. */
const LONGEST_PERIOD = 256;

/**
 * Where the windows of a signal without gaps are, in its samples: window k begins at the sample of the model's rate
 * that is nearest to k steps, as the service has it.
 */
export class WindowGrid {
  readonly step: number;
  /** Samples from the first one of a window to when it is complete, at most. */
  readonly span: number;
  readonly #length: number;
  readonly #from: number;
  readonly #to: number;
  /** How many windows before one a signal has to begin for it to be the same, to the last bit. */
  readonly #lead: number;
  /** Windows after which a signal can begin for those that follow to be the same. */
  readonly #period: number;

  /** @param smoothed windows before one that have a part in what is smoothed */
  constructor(told: Told, smoothed: number) {
    const { step, window_length: length, sampling_rate_hz: rate, resampled_to_hz: to } = told;
    this.step = step;
    this.#length = length;
    [this.#from, this.#to] = to === null ? [1, 1] : [rate, to];
    const reach = to === null ? 0 : Math.ceil((told.delay_ms * rate) / 1000) + 1;
    this.span = Math.ceil((length * this.#from) / this.#to) + 2 * reach;
    // Where windows do not touch, the next one may begin with a sample that has not come.
    const apart = step > this.span ? 1 : 0;
    this.#lead = Math.max(apart, smoothed, Math.ceil(reach / step));
    this.#period = this.#findPeriod();
  }

  /** Of the window whose first sample is that. */
  indexOf(firstSample: number): number {
    let index = Math.max(0, Math.round(firstSample / this.step) - 3);
    while (this.#firstOf(index) < firstSample) index++;
    return index;
  }

  /** Windows of a signal of so many samples. */
  countIn(samples: number): number {
    const last = this.#lengthOf(samples) - this.#length;
    if (last < 0) return 0;
    let count = Math.max(0, Math.floor((last * this.#from) / this.#to / this.step) - 1);
    while (this.#startOf(count) <= last) count++;
    return count;
  }

  /** The window with which to begin anew where this one is the next, so that it is the same. */
  beginFor(index: number): number {
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

  /** 1 as well where there is none, and a signal that begins anew differs in the last digits. */
  #findPeriod(): number {
    for (let period = 1; period <= LONGEST_PERIOD; period++) {
      if (Number.isInteger((period * this.step * this.#to) / this.#from)) return period;
    }
    return 1;
  }
}
