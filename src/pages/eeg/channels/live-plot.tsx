import { useEffect, useRef } from 'preact/hooks';
import { theme } from '../../shared/theme';
import { type Live, phase, shown } from '../live/live';
import { recording } from '../state';
import { LaneNames } from './channel-names';
import type { ClassifiedWindow } from './classified-window';
import { PlotPainter, plotHeight } from './plot-scene';
import type { Selection } from './select-channels';
import { selection } from './selection';
import { gaps, traces } from './traces';
import { scale } from './view-state';

/** Visible seconds at speed 1 on a wide page; more at higher speeds. */
const VIEW_SECONDS = 8;
const WIDE_PIXELS = 1000;
/** Maximum delay of the drawing behind the sent samples, in seconds of real time. */
const MAX_DELAY = 0.15;

/** Animated signals of all channels, with the windows as they arrive. */
export function LivePlot({ live }: { readonly live: Live }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [shownTheme, now] = [theme.value, phase.value];
  // Without an animation, each result triggers a redraw.
  const received = now === 'playing' ? 0 : shown.value;
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    const chosen = selection.peek();
    if (!element || !context || !chosen) return;
    const film = new ChannelFilm(new PlotPainter(context), live, chosen);
    const observer = new ResizeObserver(() => film.fit(element.clientWidth, element.clientHeight));
    observer.observe(element);
    if (now === 'playing') film.roll();
    return () => {
      observer.disconnect();
      film.stop();
    };
    // Dependency: the painter reads the theme's colors from the document.
  }, [live, shownTheme, now, received]);
  return (
    <div class="stack">
      <LaneNames />
      <canvas
        ref={canvas}
        class="live-channels"
        role="img"
        aria-label="The signals and their windows in the colours of their classes, as they come. The last ones are in the table."
        style={{ height: `${plotHeight(traces.value.length)}px` }}
      />
    </div>
  );
}

/** Draws the frames of a live stream. */
class ChannelFilm {
  readonly #painter: PlotPainter;
  readonly #live: Live;
  readonly #chosen: Selection;
  readonly #windows: ClassifiedWindow[] = [];
  #position: number;
  #width = 0;
  #drawnAt = 0;
  #request = 0;

  constructor(painter: PlotPainter, live: Live, chosen: Selection) {
    this.#painter = painter;
    this.#live = live;
    this.#chosen = chosen;
    this.#position = live.playhead.played;
  }

  /** Called after the layout and after a resize. */
  fit(width: number, height: number): void {
    if (width === 0) return;
    this.#width = width;
    this.#painter.resize(width, height);
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

  /** Moves at constant speed, although samples are sent in pieces. */
  #advance(): void {
    const { playhead, rate } = this.#live;
    const now = performance.now();
    const seconds = (now - this.#drawnAt) / 1000;
    this.#drawnAt = now;
    const perSecond = rate * playhead.speed;
    const min = playhead.played - MAX_DELAY * perSecond;
    this.#position = Math.min(playhead.played, Math.max(min, this.#position + seconds * perSecond));
  }

  #draw(): void {
    if (this.#width === 0) return;
    const { playhead, step, rate } = this.#live;
    const { timeline } = this.#chosen;
    const seconds = VIEW_SECONDS * Math.sqrt((playhead.speed * this.#width) / WIDE_PIXELS);
    const until = timeline.toSeconds(this.#position);
    const first = timeline.toSeconds(0);
    this.#takeWindows();
    this.#painter.draw({
      traces: traces.peek(),
      view: { from: Math.max(first, until - seconds), seconds },
      scale: scale.peek(),
      windows: this.#windows,
      step: step / rate,
      annotations: recording.peek()?.annotations.filter((one) => one.onsetSeconds <= until) ?? [],
      gaps: gaps.peek(),
      cursor: null,
      selected: this.#windows.at(-1) ?? null,
      until,
    });
  }

  /** Gaps are left out of the stream: its samples have the numbers of the samples of the recording. */
  #takeWindows(): void {
    const { windows, length, rate } = this.#live;
    for (const result of windows.slice(this.#windows.length)) {
      const from = this.#chosen.timeline.toSeconds(result.first_sample);
      const { problems } = result.quality;
      this.#windows.push({ ...result, problems, from, to: from + length / rate });
    }
  }
}
