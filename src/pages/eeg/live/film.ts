import type { Live } from './live';

/** Visible seconds at speed 1 on a wide page; more at higher speeds. */
const VIEW_SECONDS = 8;
const WIDE_PIXELS = 1000;
/** Maximum delay of the drawing behind the sent samples, in seconds of real time. */
const MAX_DELAY = 0.15;

/** Frames of a live stream, up to a position that moves at constant speed, although samples are sent in pieces. */
export abstract class Film {
  protected readonly live: Live;
  /** Last visible sample; can be fractional. */
  protected position: number;
  /** 0 before the first layout. */
  protected width = 0;
  #drawnAt = 0;
  #request = 0;

  constructor(live: Live) {
    this.live = live;
    this.position = live.playhead.played;
  }

  /** Draws frames until `stop`. */
  roll(): void {
    this.#drawnAt = performance.now();
    const frame = (): void => {
      this.#request = requestAnimationFrame(frame);
      this.#advance();
      if (this.width > 0) this.draw();
    };
    this.#request = requestAnimationFrame(frame);
  }

  stop(): void {
    cancelAnimationFrame(this.#request);
  }

  protected abstract draw(): void;

  /** Called before each frame. @param _seconds since the last frame */
  protected onAdvance(_seconds: number): void {}

  /** Visible time in seconds. */
  protected get viewSeconds(): number {
    return VIEW_SECONDS * Math.sqrt((this.live.playhead.speed * this.width) / WIDE_PIXELS);
  }

  #advance(): void {
    const { playhead, rate } = this.live;
    const now = performance.now();
    const seconds = (now - this.#drawnAt) / 1000;
    this.#drawnAt = now;
    const perSecond = rate * playhead.speed;
    const min = playhead.played - MAX_DELAY * perSecond;
    this.position = Math.min(playhead.played, Math.max(min, this.position + seconds * perSecond));
    this.onAdvance(seconds);
  }
}
