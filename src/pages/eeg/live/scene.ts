import type { WindowResult } from '../../../client';
import { clock } from '../../shared/format';
import { color } from '../plot';
import { toneOf } from '../tones';
import type { Live } from './live';

const TONES = 6;
/** Heights in CSS pixels, from the top: signal, windows, probabilities, time axis. */
const SIGNAL = { top: 4, height: 150 };
const BAND = { top: 162, height: 14 };
const CHANCES = { top: 186, height: 74 };
export const HEIGHT = 284;
/** Width of the label "100 %". */
const LEFT = 42;
/** Possible intervals of time marks in seconds. */
const MARKS = [1, 2, 5, 10, 20, 30, 60, 120, 300];
const MARK_PIXELS = 90;
const QUANTILE = 0.005;
const MAX_INSPECTED = 20_000;

export interface Palette {
  readonly series: readonly string[];
  readonly text: string;
  readonly quiet: string;
  readonly line: string;
  readonly warn: string;
  readonly sunken: string;
}

/** Colors of the theme. */
export function paletteOf(): Palette {
  return {
    series: Array.from({ length: TONES }, (_, tone) => color(`--series-${tone}`)),
    text: color('--text'),
    quiet: color('--quiet'),
    line: color('--line'),
    warn: color('--warn'),
    sunken: color('--sunken'),
  };
}

/** Range of a signal without outliers. */
export function rangeOf(samples: Float64Array): readonly [number, number] {
  const every = Math.max(1, Math.ceil(samples.length / MAX_INSPECTED));
  const looked = samples.filter((value, i) => i % every === 0 && Number.isFinite(value)).sort();
  const at = (share: number): number => looked[Math.floor(share * (looked.length - 1))] ?? 0;
  const [low, high] = [at(QUANTILE), at(1 - QUANTILE)];
  const margin = (high - low) * 0.15 || 1;
  return [low - margin, high + margin];
}

/** Visible range: `span` samples up to `end`, or from 0 on. */
export interface View {
  readonly end: number;
  readonly span: number;
  readonly width: number;
}

/** Draws one frame of a stream. */
export class Scene {
  readonly #context: CanvasRenderingContext2D;
  readonly #live: Live;
  readonly #samples: Float64Array;
  readonly #palette: Palette;
  readonly #range: readonly [number, number];
  #view: View = { end: 0, span: 1, width: 1 };

  constructor(
    context: CanvasRenderingContext2D,
    live: Live,
    samples: Float64Array,
    palette: Palette,
  ) {
    this.#context = context;
    this.#live = live;
    this.#samples = samples;
    this.#palette = palette;
    this.#range = rangeOf(samples);
  }

  draw(view: View): void {
    this.#view = view;
    const context = this.#context;
    context.clearRect(0, 0, view.width, HEIGHT);
    context.font = '11px system-ui, sans-serif';
    this.#drawAxes();
    context.save();
    context.beginPath();
    context.rect(LEFT, 0, view.width - LEFT, HEIGHT);
    context.clip();
    const windows = this.#visible();
    for (const window of windows) this.#drawWindow(window);
    this.#drawLatest();
    this.#drawSignal();
    if (this.#live.windows.some(({ smoothed }) => smoothed)) {
      this.#drawChances(windows, { isSmoothed: false, width: 1, alpha: 0.4 });
      this.#drawChances(windows, { isSmoothed: true, width: 2, alpha: 1 });
    } else this.#drawChances(windows, { isSmoothed: false, width: 1.75, alpha: 1 });
    context.restore();
  }

  get #first(): number {
    return Math.max(0, this.#view.end - this.#view.span);
  }

  #x(sample: number): number {
    const { span, width } = this.#view;
    return LEFT + ((sample - this.#first) * (width - LEFT)) / span;
  }

  /** Visible windows and the preceding window, where lines start. */
  #visible(): readonly WindowResult[] {
    const { windows, length, step } = this.#live;
    const first = this.#first - Math.max(length, step) - step;
    let [low, high] = [0, windows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((windows[middle] as WindowResult).first_sample < first) low = middle + 1;
      else high = middle;
    }
    return windows.slice(low);
  }

  #drawAxes(): void {
    const context = this.#context;
    const { width, span } = this.#view;
    const { rate } = this.#live;
    context.strokeStyle = this.#palette.line;
    context.fillStyle = this.#palette.quiet;
    context.lineWidth = 1;
    context.textAlign = 'right';
    context.textBaseline = 'middle';
    for (const share of [0, 0.5, 1]) {
      const y = Math.round(this.#chanceY(share)) + 0.5;
      this.#line(LEFT, y, width, y);
      context.fillText(`${share * 100} %`, LEFT - 6, y);
    }
    const seconds = (span / rate / (width - LEFT)) * MARK_PIXELS;
    const every = MARKS.find((mark) => mark >= seconds) ?? Math.ceil(seconds / 600) * 600;
    context.textAlign = 'left';
    context.textBaseline = 'alphabetic';
    const from = Math.ceil(this.#first / rate / every);
    for (let mark = from; mark * every * rate <= this.#first + span; mark++) {
      const x = Math.round(this.#x(mark * every * rate)) + 0.5;
      this.#line(x, SIGNAL.top, x, HEIGHT - 16);
      if (x < width - 30)
        context.fillText(clock(mark * every).replace('.0', ''), x + 2, HEIGHT - 4);
    }
  }

  #drawWindow({ first_sample, diagnosis, confidence, quality }: WindowResult): void {
    const context = this.#context;
    const { step } = this.#live;
    const [left, right] = [this.#x(first_sample), this.#x(first_sample + step)];
    const width = Math.max(1, right - left - (right - left > 6 ? 1 : 0));
    context.fillStyle = diagnosis === null ? this.#palette.sunken : this.#toneOf(diagnosis);
    context.globalAlpha = diagnosis === null ? 1 : 0.35 + 0.65 * (confidence ?? 0);
    context.fillRect(left, BAND.top, width, BAND.height);
    // Narrow windows have no border.
    context.globalAlpha = 0.55;
    if (right - left > 4) context.fillRect(left, SIGNAL.top, 1, BAND.top - SIGNAL.top);
    context.globalAlpha = 1;
    if (quality.problems.length === 0) return;
    context.fillStyle = this.#palette.warn;
    context.fillRect(left, BAND.top - 5, width, 3);
  }

  /** Outline of the last window, which overlaps with other windows. */
  #drawLatest(): void {
    const latest = this.#live.windows.at(-1);
    if (!latest || latest.diagnosis === null) return;
    const left = this.#x(latest.first_sample);
    this.#context.fillStyle = this.#toneOf(latest.diagnosis);
    this.#context.globalAlpha = 0.12;
    const width = this.#x(latest.first_sample + this.#live.length) - left;
    this.#context.fillRect(left, SIGNAL.top, width, SIGNAL.height);
    this.#context.globalAlpha = 1;
  }

  #drawSignal(): void {
    const context = this.#context;
    const samples = this.#samples;
    const { end, span, width } = this.#view;
    const first = Math.floor(this.#first);
    const perPixel = span / (width - LEFT);
    context.strokeStyle = this.#palette.text;
    context.lineWidth = 1;
    context.beginPath();
    if (perPixel <= 2) {
      for (let i = first; i < end; i++) context.lineTo(this.#x(i), this.#y(samples[i] as number));
    } else this.#traceColumns(first, perPixel);
    context.stroke();
  }

  /** Draws the range of the samples per pixel column. Columns keep their samples while the signal moves. */
  #traceColumns(first: number, perPixel: number): void {
    const samples = this.#samples;
    const { end } = this.#view;
    const size = Math.ceil(perPixel);
    for (let from = first - (first % size); from < end; from += size) {
      let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
      for (let i = from; i < Math.min(end, from + size); i++) {
        const value = samples[i] as number;
        if (value < low) low = value;
        if (value > high) high = value;
      }
      const x = this.#x(from);
      this.#context.lineTo(x, this.#y(low));
      this.#context.lineTo(x, this.#y(high));
    }
  }

  #drawChances(
    windows: readonly WindowResult[],
    { isSmoothed, width, alpha }: { isSmoothed: boolean; width: number; alpha: number },
  ): void {
    const context = this.#context;
    const { step } = this.#live;
    context.lineWidth = width;
    context.globalAlpha = alpha;
    for (const name of Object.keys(windows.find((one) => one.probabilities)?.probabilities ?? {})) {
      context.strokeStyle = this.#toneOf(name);
      context.beginPath();
      for (const window of windows) {
        const chance = (isSmoothed ? window.smoothed : window)?.probabilities?.[name];
        if (chance === undefined) continue;
        context.lineTo(this.#x(window.first_sample + step / 2), this.#chanceY(chance));
      }
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  #toneOf(name: string): string {
    return this.#palette.series[toneOf(name)] as string;
  }

  #y(value: number): number {
    const [low, high] = this.#range;
    const share = Math.min(1, Math.max(0, (value - low) / (high - low)));
    return SIGNAL.top + (1 - share) * SIGNAL.height;
  }

  #chanceY(share: number): number {
    return CHANCES.top + (1 - share) * CHANCES.height;
  }

  #line(...[x0, y0, x1, y1]: readonly [number, number, number, number]): void {
    this.#context.beginPath();
    this.#context.moveTo(x0, y0);
    this.#context.lineTo(x1, y1);
    this.#context.stroke();
  }
}
