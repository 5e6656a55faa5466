import type { Annotation } from '../../../recordings/recording';
import { clock } from '../../shared/format';
import { color } from '../plot';
import type { Gap } from '../timeline';
import { toneOf } from '../tones';
import type { ClassifiedWindow } from './classified-window';
import { drawTrace, type Raster, TraceColumns } from './trace-raster';
import type { ChannelTrace } from './traces';
import { laneHeight, timeMarks, type View } from './view';

/** Heights in CSS pixels: margin above the lanes, band of windows, time axis. */
const TOP = 16;
const BAND = 18;
const AXIS = 20;
const MARK_PIXELS = 80;
/** Maximum number of drawn annotations: more would cover the signals. */
const MAX_ANNOTATIONS = 500;
const MAX_TEXT = 24;
const TEXT_PIXELS = 64;
const FONT = '11px system-ui, sans-serif';
const TONES = 6;

/** Everything that a frame shows. */
export interface PlotScene {
  readonly traces: readonly ChannelTrace[];
  readonly view: View;
  /** Amplitude of the height of a lane. */
  readonly scale: number;
  /** In order of time. */
  readonly windows: readonly ClassifiedWindow[];
  /** Distance of the windows in seconds. */
  readonly step: number;
  readonly annotations: readonly Annotation[];
  readonly gaps: readonly Gap[];
  /** Time of the cursor; null: no cursor. */
  readonly cursor: number | null;
  /** Window that the cursor selects; null if none. */
  readonly selected: ClassifiedWindow | null;
  /** Time at which the signals end. */
  readonly until: number;
}

/** Place of the lanes, in CSS pixels. */
export const LANES_TOP = TOP;

/** Height of the plot in CSS pixels. */
export function plotHeight(channels: number): number {
  return TOP + channels * laneHeight(channels) + BAND + AXIS;
}

/** Colors of the theme. */
interface Palette {
  readonly series: readonly string[];
  readonly text: string;
  readonly quiet: string;
  readonly line: string;
  readonly warn: string;
  readonly sunken: string;
  readonly surface: string;
  readonly accent: string;
}

/** Draws frames of the stacked signals. Create another one for another theme, because it reads colors once. */
export class PlotPainter {
  readonly #context: CanvasRenderingContext2D;
  readonly #palette: Palette;
  /** Size in CSS pixels, and device pixels per CSS pixel. */
  #width = 0;
  #height = 0;
  #ratio = 1;
  #image: ImageData | null = null;
  #pixels = new Uint32Array(0);
  readonly #columns = new WeakMap<ChannelTrace, TraceColumns>();

  constructor(context: CanvasRenderingContext2D) {
    this.#context = context;
    const names = ['text', 'quiet', 'line', 'warn', 'sunken', 'surface', 'accent'] as const;
    const colors = Object.fromEntries(names.map((name) => [name, color(`--${name}`)]));
    this.#palette = {
      ...(colors as Record<(typeof names)[number], string>),
      series: Array.from({ length: TONES }, (_, tone) => color(`--series-${tone}`)),
    };
  }

  /** Sets the size of the canvas, in CSS pixels. */
  resize(width: number, height: number): void {
    const { canvas } = this.#context;
    this.#ratio = devicePixelRatio;
    this.#width = width;
    this.#height = height;
    canvas.width = Math.max(1, Math.round(width * this.#ratio));
    canvas.height = Math.max(1, Math.round(height * this.#ratio));
    const lanes = Math.max(1, Math.round((height - BAND - AXIS) * this.#ratio));
    this.#image = this.#context.createImageData(canvas.width, lanes);
    this.#pixels = new Uint32Array(this.#image.data.buffer);
  }

  draw(scene: PlotScene): void {
    if (this.#image === null) return;
    const context = this.#context;
    this.#rasterize(scene, this.#image);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, context.canvas.width, context.canvas.height);
    context.putImageData(this.#image, 0, 0);
    context.setTransform(this.#ratio, 0, 0, this.#ratio, 0, 0);
    context.font = FONT;
    // Below the traces, which are on the canvas already.
    context.globalCompositeOperation = 'destination-over';
    this.#drawGrid(scene);
    this.#drawSelected(scene);
    this.#drawGaps(scene);
    context.globalCompositeOperation = 'source-over';
    this.#drawWindows(scene);
    this.#drawAnnotations(scene);
    this.#drawCursor(scene);
  }

  get #bandTop(): number {
    return this.#height - BAND - AXIS + 2;
  }

  #x({ view }: PlotScene, seconds: number): number {
    return ((seconds - view.from) / view.seconds) * this.#width;
  }

  #rasterize({ traces, view, scale, until }: PlotScene, { width, height }: ImageData): void {
    this.#pixels.fill(0);
    const secondsPerColumn = view.seconds / width;
    const raster: Raster = {
      pixels: this.#pixels,
      width,
      height,
      firstColumn: Math.round(view.from / secondsPerColumn),
      secondsPerColumn,
    };
    const lane = laneHeight(traces.length) * this.#ratio;
    const [used, unused] = [toPixel(this.#palette.text), toPixel(this.#palette.quiet)];
    for (const [index, trace] of traces.entries()) {
      const columns = this.#columns.get(trace) ?? new TraceColumns(trace);
      this.#columns.set(trace, columns);
      drawTrace(raster, columns, {
        middle: TOP * this.#ratio + (index + 0.5) * lane,
        rowsPerUnit: lane / scale,
        thickness: 1.1 * this.#ratio,
        color: trace.isUsed ? used : unused,
        until,
      });
    }
  }

  #drawGrid(scene: PlotScene): void {
    const context = this.#context;
    const bottom = this.#height - AXIS;
    context.fillStyle = this.#palette.quiet;
    context.textAlign = 'left';
    context.textBaseline = 'alphabetic';
    const marks = timeMarks(scene.view, this.#width, MARK_PIXELS);
    for (const mark of marks) {
      const x = this.#x(scene, mark);
      if (x < this.#width - 40) context.fillText(axisText(mark, marks), x + 3, this.#height - 5);
    }
    context.fillStyle = this.#palette.line;
    for (const mark of marks) context.fillRect(this.#x(scene, mark), 0, 1, this.#height);
    context.fillRect(0, bottom, this.#width, 1);
  }

  #drawGaps(scene: PlotScene): void {
    this.#context.fillStyle = this.#palette.line;
    for (const { from, to } of scene.gaps) {
      const left = this.#x(scene, from);
      const width = Math.max(1, this.#x(scene, to) - left);
      if (left + width < 0 || left > this.#width) continue;
      this.#context.fillRect(left, 0, width, this.#height - AXIS);
    }
  }

  /** Shades the selected window. */
  #drawSelected(scene: PlotScene): void {
    const { selected } = scene;
    if (!selected) return;
    const left = this.#x(scene, selected.from);
    this.#context.globalAlpha = 0.16;
    this.#context.fillStyle = this.#colorOf(selected);
    this.#context.fillRect(left, 0, this.#x(scene, selected.to) - left, this.#bandTop);
    this.#context.globalAlpha = 1;
  }

  /** Band of the windows in the colors of their classes; less certain ones are paler. */
  #drawWindows(scene: PlotScene): void {
    const context = this.#context;
    const { windows, step, view } = scene;
    const first = Math.max(
      0,
      windows.findLastIndex(({ from }) => from <= view.from),
    );
    for (let index = first; index < windows.length; index++) {
      const window = windows[index] as ClassifiedWindow;
      if (window.from > view.from + view.seconds) break;
      const left = this.#x(scene, window.from);
      const width = this.#x(scene, window.from + step) - left;
      context.fillStyle = this.#colorOf(window);
      context.globalAlpha = window.diagnosis === null ? 1 : 0.35 + 0.65 * (window.confidence ?? 0);
      context.fillRect(left, this.#bandTop, Math.max(1, width - (width > 6 ? 1 : 0)), BAND - 4);
      if (window.problems.length === 0) continue;
      context.globalAlpha = 1;
      context.fillStyle = this.#palette.warn;
      context.fillRect(left, this.#bandTop - 2, Math.max(1, width), 2);
    }
    context.globalAlpha = 1;
  }

  #colorOf({ diagnosis }: ClassifiedWindow): string {
    return diagnosis === null
      ? this.#palette.sunken
      : (this.#palette.series[toneOf(diagnosis)] as string);
  }

  #drawAnnotations(scene: PlotScene): void {
    const context = this.#context;
    const { from, seconds } = scene.view;
    const visible = scene.annotations.filter(
      ({ onsetSeconds }) => onsetSeconds >= from && onsetSeconds <= from + seconds,
    );
    context.textBaseline = 'top';
    context.textAlign = 'left';
    let nextText = Number.NEGATIVE_INFINITY;
    for (const { onsetSeconds, text } of visible.slice(0, MAX_ANNOTATIONS)) {
      const x = this.#x(scene, onsetSeconds);
      context.fillStyle = this.#palette.warn;
      context.fillRect(x, 0, 1, this.#bandTop);
      if (x < nextText || text === '') continue;
      const shown = text.slice(0, MAX_TEXT);
      const width = Math.min(context.measureText(shown).width, TEXT_PIXELS - 8);
      context.fillStyle = this.#palette.surface;
      context.fillRect(x + 1, 0, width + 6, TOP - 1);
      context.fillStyle = this.#palette.warn;
      context.fillText(shown, x + 4, 2, width);
      nextText = x + TEXT_PIXELS;
    }
  }

  #drawCursor(scene: PlotScene): void {
    if (scene.cursor === null) return;
    this.#context.fillStyle = this.#palette.accent;
    this.#context.fillRect(this.#x(scene, scene.cursor) - 1, 0, 2, this.#height - AXIS);
  }
}

/** Time as text, with as many digits as the distance of the marks needs. */
function axisText(mark: number, marks: readonly number[]): string {
  const distance = (marks[1] ?? mark + 1) - (marks[0] ?? mark);
  if (mark >= 60) return clock(mark).replace(/\.0$/, '');
  const digits = distance >= 1 ? 0 : distance >= 0.1 - 1e-9 ? 1 : 2;
  return `${mark.toFixed(digits)} s`;
}

/** "#rrggbb" as 0xBBGGRR, the order of a canvas. */
function toPixel(hex: string): number {
  const value = Number.parseInt(hex.slice(1), 16);
  return ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16);
}
