/** How often samples are given, in ms. */
const TICK_MS = 25;
/** What has passed since they were last given counts up to here: a page in the background gets a tick a second. */
const LONGEST_MS = 1000;

/** Plays a recording: its samples, as an amplifier would give them, at some times its speed. */
export class Playhead {
  readonly #samples: Float64Array;
  /** Hz. */
  readonly #rate: number;
  /** Samples that have been given. */
  given = 0;
  /** Times that of the recording. */
  speed: number;
  isPaused = false;

  constructor(samples: Float64Array, rate: number, speed: number) {
    this.#samples = samples;
    this.#rate = rate;
    this.speed = speed;
  }

  get isAtEnd(): boolean {
    return this.given === this.#samples.length;
  }

  /** Where nobody asks for more, it waits: a service that takes its time slows it. */
  async *samples(signal: AbortSignal): AsyncGenerator<Float64Array, undefined> {
    let place = 0;
    let at = performance.now();
    while (!this.isAtEnd) {
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
      if (signal.aborted) return;
      const now = performance.now();
      const seconds = Math.min(now - at, LONGEST_MS) / 1000;
      at = now;
      if (this.isPaused) continue;
      place = Math.min(this.#samples.length, place + seconds * this.#rate * this.speed);
      const [from, to] = [this.given, Math.floor(place)];
      if (to === from) continue;
      this.given = to;
      yield this.#samples.subarray(from, to);
    }
  }
}
