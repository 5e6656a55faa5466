import { useEffect, useRef } from 'preact/hooks';
import { theme } from '../../shared/theme';
import { samples } from '../state';
import { Film } from './film';
import { type Live, phase, shown } from './live';
import { HEIGHT, paletteOf, Scene } from './scene';

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
    const film = new SceneFilm(element, new Scene(context, live, signal, paletteOf()), live);
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
class SceneFilm extends Film {
  readonly #canvas: HTMLCanvasElement;
  readonly #scene: Scene;
  /** Visible samples; 0 before the first layout. */
  #span = 0;

  constructor(canvas: HTMLCanvasElement, scene: Scene, live: Live) {
    super(live);
    this.#canvas = canvas;
    this.#scene = scene;
  }

  /** Called after a resize. */
  fit(): void {
    const { clientWidth } = this.#canvas;
    if (clientWidth === 0) return;
    const scale = devicePixelRatio;
    this.width = clientWidth;
    if (this.#span === 0) this.#span = this.#wantedSpan;
    this.#canvas.width = Math.round(clientWidth * scale);
    this.#canvas.height = Math.round(HEIGHT * scale);
    this.#canvas.getContext('2d')?.setTransform(scale, 0, 0, scale, 0, 0);
    this.draw();
  }

  protected override onAdvance(seconds: number): void {
    this.#span += (this.#wantedSpan - this.#span) * Math.min(1, seconds * EASE);
  }

  protected override draw(): void {
    this.#scene.draw({ end: this.position, span: this.#span, width: this.width });
  }

  get #wantedSpan(): number {
    return this.viewSeconds * this.live.rate;
  }
}
