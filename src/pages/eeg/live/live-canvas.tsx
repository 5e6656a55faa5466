import { useEffect, useRef } from 'preact/hooks';
import { theme } from '../../shared/theme';
import { samples } from '../state';
import { type Live, phase, shown } from './live';
import { HEIGHT, paletteOf, Scene } from './scene';

/** Visible seconds at speed 1 on a wide page; more at higher speeds. */
const VIEW_SECONDS = 8;
const WIDE_PIXELS = 1000;
/** Maximum delay of the drawing behind the sent samples, in seconds of real time. */
const MAX_DELAY = 0.15;
/** Rate of the animation to another span, per second. */
const EASE = 5;

/** Animated plot of signal, windows and probabilities. */
export function LiveCanvas({ live }: { readonly live: Live }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [shownTheme, now] = [theme.value, phase.value];
  // Without an animation, each result triggers a redraw.
  const came = now === 'playing' ? 0 : shown.value;
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    const signal = samples.peek();
    if (!element || !context || !signal) return;
    const film = new Film(element, new Scene(context, live, signal, paletteOf()), live);
    const observer = new ResizeObserver(() => film.fit());
    observer.observe(element);
    film.fit();
    if (now === 'playing') film.roll();
    return () => {
      observer.disconnect();
      film.stop();
    };
    // Dependency: the drawing reads the theme's colors from the document.
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

/** Draws the frames of a scene. */
class Film {
  readonly #canvas: HTMLCanvasElement;
  readonly #scene: Scene;
  readonly #live: Live;
  #position: number;
  /** 0 before the first layout. */
  #span = 0;
  #width = 0;
  #drawnAt = 0;
  #request = 0;

  constructor(canvas: HTMLCanvasElement, scene: Scene, live: Live) {
    this.#canvas = canvas;
    this.#scene = scene;
    this.#live = live;
    this.#position = live.playhead.played;
  }

  /** Called after a resize. */
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

  /** Moves at constant speed, although samples are sent in pieces. */
  #advance(): void {
    const { playhead, rate } = this.#live;
    const now = performance.now();
    const seconds = (now - this.#drawnAt) / 1000;
    this.#drawnAt = now;
    const perSecond = rate * playhead.speed;
    const min = playhead.played - MAX_DELAY * perSecond;
    this.#position = Math.min(playhead.played, Math.max(min, this.#position + seconds * perSecond));
    this.#span += (this.#wantedSpan - this.#span) * Math.min(1, seconds * EASE);
  }

  #draw(): void {
    if (this.#width === 0) return;
    this.#scene.draw({ end: this.#position, span: this.#span, width: this.#width });
  }
}
