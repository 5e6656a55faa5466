import { useEffect, useRef } from 'preact/hooks';
import { theme } from '../../shared/theme';
import { type Live, phase, shown } from './live';
import { HEIGHT, paletteOf, Scene } from './scene';

/** Seconds in view at the recording's own speed, on a wide page; faster, there are more, or nobody could follow. */
const VIEW_SECONDS = 8;
const WIDE_PIXELS = 1000;
/** How far what is drawn may be behind what was sent, in seconds of the wall. */
const MOST_BEHIND = 0.15;
/** Of the way to another span, in a second. */
const EASE = 5;

/** The signal, its windows and their probabilities, drawn in each frame while they move. */
export function LiveCanvas({ live }: { readonly live: Live }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [shownTheme, now] = [theme.value, phase.value];
  // While it stands still, it is drawn anew when answers come.
  const came = now === 'playing' ? 0 : shown.value;
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (!element || !context) return;
    const film = new Film(element, new Scene(context, live, paletteOf()), live);
    const observer = new ResizeObserver(() => film.fit());
    observer.observe(element);
    film.fit();
    if (now === 'playing') film.roll();
    return () => {
      observer.disconnect();
      film.stop();
    };
    // The colours of the theme are read from the document.
  }, [live, shownTheme, now, came]);
  return (
    <canvas
      ref={canvas}
      class="live"
      role="img"
      aria-label="The signal, its windows in the colours of their classes, and their probabilities, as they come. The last ones are in the table."
      height={HEIGHT}
    />
  );
}

/** Frame after frame of a scene. */
class Film {
  readonly #canvas: HTMLCanvasElement;
  readonly #scene: Scene;
  readonly #live: Live;
  #place: number;
  /** 0: not known yet. */
  #span = 0;
  #width = 0;
  #drawnAt = 0;
  #request = 0;

  constructor(canvas: HTMLCanvasElement, scene: Scene, live: Live) {
    this.#canvas = canvas;
    this.#scene = scene;
    this.#live = live;
    this.#place = live.playhead.given;
  }

  /** It has another size. */
  fit(): void {
    const { clientWidth } = this.#canvas;
    if (clientWidth === 0) return;
    const scale = devicePixelRatio;
    this.#width = clientWidth;
    if (this.#span === 0) this.#span = this.#wantedSpan;
    this.#canvas.width = Math.round(clientWidth * scale);
    this.#canvas.height = Math.round(HEIGHT * scale);
    this.#canvas.getContext('2d')?.setTransform(scale, 0, 0, scale, 0, 0);
    this.#draw();
  }

  roll(): void {
    this.#drawnAt = performance.now();
    const frame = (): void => {
      this.#request = requestAnimationFrame(frame);
      this.#advance();
      this.#draw();
    };
    this.#request = requestAnimationFrame(frame);
  }

  stop(): void {
    cancelAnimationFrame(this.#request);
  }

  get #wantedSpan(): number {
    const { playhead, rate } = this.#live;
    return VIEW_SECONDS * Math.sqrt((playhead.speed * this.#width) / WIDE_PIXELS) * rate;
  }

  /** Evenly, though samples are sent some at a time. */
  #advance(): void {
    const { playhead, rate } = this.#live;
    const now = performance.now();
    const seconds = (now - this.#drawnAt) / 1000;
    this.#drawnAt = now;
    const perSecond = rate * playhead.speed;
    const least = playhead.given - MOST_BEHIND * perSecond;
    this.#place = Math.min(playhead.given, Math.max(least, this.#place + seconds * perSecond));
    this.#span += (this.#wantedSpan - this.#span) * Math.min(1, seconds * EASE);
  }

  #draw(): void {
    if (this.#width === 0) return;
    this.#scene.draw({ end: this.#place, span: this.#span, width: this.#width });
  }
}
