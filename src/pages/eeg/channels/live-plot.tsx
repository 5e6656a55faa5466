import { useEffect, useRef } from 'preact/hooks';
import { theme } from '../../shared/theme';
import { Film } from '../live/film';
import { type Live, phase, shown } from '../live/live';
import { recording } from '../state';
import { LaneNames } from './channel-names';
import type { ClassifiedWindow } from './classified-window';
import { PlotPainter, plotHeight } from './plot-scene';
import type { Selection } from './select-channels';
import { selection } from './selection';
import { gaps, traces } from './traces';
import { scale } from './view-state';

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
class ChannelFilm extends Film {
  readonly #painter: PlotPainter;
  readonly #chosen: Selection;
  readonly #windows: ClassifiedWindow[] = [];

  constructor(painter: PlotPainter, live: Live, chosen: Selection) {
    super(live);
    this.#painter = painter;
    this.#chosen = chosen;
  }

  /** Called after the layout and after a resize. */
  fit(width: number, height: number): void {
    if (width === 0) return;
    this.width = width;
    this.#painter.resize(width, height);
    this.draw();
  }

  protected override draw(): void {
    const { step, rate } = this.live;
    const { timeline } = this.#chosen;
    const seconds = this.viewSeconds;
    const until = timeline.toSeconds(this.position);
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
    const { windows, length, rate } = this.live;
    for (const result of windows.slice(this.#windows.length)) {
      const from = this.#chosen.timeline.toSeconds(result.first_sample);
      const { problems } = result.quality;
      this.#windows.push({ ...result, problems, from, to: from + length / rate });
    }
  }
}
