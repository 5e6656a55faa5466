import type { LiveSource } from './live-source';

/** Interval between pieces of samples, in ms. */
const TICK_MS = 25;
/** Maximum time of one piece, in ms: timers of background pages run once per second. */
const MAX_PIECE_MS = 1000;

type PlayheadSource = Pick<LiveSource, 'length' | 'read'>;

/** Plays a signal: yields its samples in real time, multiplied by the speed. */
export class Playhead {
  readonly #source: PlayheadSource;
  /** Sampling rate in Hz. */
  readonly #rate: number;
  /** Number of yielded samples. */
  played = 0;
  /** Speed relative to the recording. */
  speed: number;
  isPaused = false;

  constructor(source: PlayheadSource, rate: number, speed: number) {
    this.#source = source;
    this.#rate = rate;
    this.speed = speed;
  }

  get isAtEnd(): boolean {
    return this.played === this.#source.length;
  }

  /** Waits while the consumer is busy: a slow server slows the playback down. */
  async *samples(signal: AbortSignal): AsyncGenerator<Float64Array | Float32Array, undefined> {
    let position = 0;
    let at = performance.now();
    while (!this.isAtEnd) {
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
      if (signal.aborted) return;
      const now = performance.now();
      const seconds = Math.min(now - at, MAX_PIECE_MS) / 1000;
      at = now;
      if (this.isPaused) continue;
      position = Math.min(this.#source.length, position + seconds * this.#rate * this.speed);
      const [from, to] = [this.played, Math.floor(position)];
      if (to === from) continue;
      this.played = to;
      yield this.#source.read(from, to);
    }
  }
}
