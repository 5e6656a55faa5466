import type { Segment } from '../../../recordings/recording';
import type { Envelope } from './envelope';

/** One channel as it is drawn. */
export interface Trace {
  readonly envelope: Envelope;
  /** Parts without gaps, at increasing times. */
  readonly segments: readonly Segment[];
  /** Sampling rate in Hz. */
  readonly rate: number;
  /** Sample that lies on the middle line of the lane. */
  readonly baseline: number;
  /** Factor from the unit of the samples to the unit of the scale. */
  readonly factor: number;
}

/** Pixels of the area with the traces, and its time axis. */
export interface Raster {
  /** RGBA values as the canvas stores them, row by row. */
  readonly pixels: Uint32Array;
  readonly width: number;
  readonly height: number;
  /** Number of the first pixel column, counted from the time 0 on. */
  readonly firstColumn: number;
  readonly secondsPerColumn: number;
}

/** Place and height of a trace. */
export interface Lane {
  /** Row of the baseline. */
  readonly middle: number;
  /** Rows per unit of the scale. */
  readonly rowsPerUnit: number;
  /** Width of the line in rows. */
  readonly thickness: number;
  /** Color 0xBBGGRR. */
  readonly color: number;
  /** Time in seconds at which the trace ends. */
  readonly until: number;
}

/**
 * Ranges of the samples of a trace in pixel columns. The columns are those of the recording, not of the view: they keep
 * their samples while the view moves, and scrolling measures only the new ones.
 */
export class TraceColumns {
  /** Minimum and maximum by column; +∞ and -∞ in a column without a sample. */
  lows = new Float64Array(0);
  highs = new Float64Array(0);
  readonly trace: Trace;
  #first = 0;
  #secondsPerColumn = 0;

  constructor(trace: Trace) {
    this.trace = trace;
  }

  /** @param first number of the first column, counted from the time 0 on */
  show(first: number, count: number, secondsPerColumn: number): void {
    const shift = first - this.#first;
    const isKept = count === this.lows.length && secondsPerColumn === this.#secondsPerColumn;
    this.#first = first;
    this.#secondsPerColumn = secondsPerColumn;
    if (!isKept || Math.abs(shift) >= count) {
      this.lows = new Float64Array(count);
      this.highs = new Float64Array(count);
      this.#measure(0, count);
    } else if (shift > 0) {
      this.lows.copyWithin(0, shift);
      this.highs.copyWithin(0, shift);
      this.#measure(count - shift, count);
    } else if (shift < 0) {
      this.lows.copyWithin(-shift, 0, count + shift);
      this.highs.copyWithin(-shift, 0, count + shift);
      this.#measure(0, -shift);
    }
  }

  /** Measures columns `from` to `to` (exclusive) of the view. */
  #measure(from: number, to: number): void {
    this.lows.fill(Number.POSITIVE_INFINITY, from, to);
    this.highs.fill(Number.NEGATIVE_INFINITY, from, to);
    const { segments, envelope, rate } = this.trace;
    const seconds = this.#secondsPerColumn;
    for (const [index, { firstSample, startSeconds, measuredRateHz }] of segments.entries()) {
      const perSecond = measuredRateHz ?? rate;
      const last = (segments[index + 1]?.firstSample ?? envelope.samples.length) - 1;
      const lastSeconds = startSeconds + (last - firstSample) / perSecond;
      const begin = Math.max(from, Math.floor(startSeconds / seconds) - this.#first);
      const end = Math.min(to - 1, Math.ceil(lastSeconds / seconds) - this.#first);
      const offset = firstSample + (this.#first * seconds - startSeconds) * perSecond;
      for (let column = begin; column <= end; column++) {
        const start = Math.max(firstSample, offset + column * seconds * perSecond);
        const stop = Math.min(last, offset + (column + 1) * seconds * perSecond);
        if (start <= stop) this.#extend(column, start, stop);
      }
    }
  }

  /**
   * Extends the range of a column.
   *
   * @param from,to positions in samples; between two samples, the line is straight
   */
  #extend(column: number, from: number, to: number): void {
    const { envelope } = this.trace;
    envelope.measure(Math.ceil(from), Math.floor(to) + 1);
    let { low, high } = envelope;
    const start = valueAt(envelope.samples, from);
    const end = valueAt(envelope.samples, to);
    if (start < low) low = start;
    if (start > high) high = start;
    if (end < low) low = end;
    if (end > high) high = end;
    if (low < (this.lows[column] as number)) this.lows[column] = low;
    if (high > (this.highs[column] as number)) this.highs[column] = high;
  }
}

/**
 * Draws the range of the samples of each pixel column, with antialiased ends. A path of a canvas with the same lines
 * takes about ten times as long.
 */
export function drawTrace(raster: Raster, columns: TraceColumns, lane: Lane): void {
  const { firstColumn, secondsPerColumn, width } = raster;
  columns.show(firstColumn, width, secondsPerColumn);
  const { baseline, factor } = columns.trace;
  const { lows, highs } = columns;
  const rows = factor * lane.rowsPerUnit;
  const half = lane.thickness / 2;
  const count = Math.min(width, Math.floor(lane.until / secondsPerColumn) - firstColumn);
  for (let column = 0; column < count; column++) {
    const low = lows[column] as number;
    const high = highs[column] as number;
    if (low > high) continue;
    const top = lane.middle - (high - baseline) * rows - half;
    fillColumn(raster, column, top, lane.middle - (low - baseline) * rows + half, lane.color);
  }
}

/** Interpolated value; NaN at a missing sample. */
function valueAt(samples: Float64Array | Float32Array, position: number): number {
  const index = Math.floor(position);
  const value = samples[index] as number;
  const share = position - index;
  return share === 0 ? value : value + ((samples[index + 1] as number) - value) * share;
}

/** Fills rows `top` to `bottom`; the opacity of the first and last row is the covered share. */
function fillColumn(raster: Raster, column: number, top: number, bottom: number, color: number) {
  const { pixels, width, height } = raster;
  if (bottom <= 0 || top >= height) return;
  const first = Math.ceil(top);
  const last = Math.floor(bottom);
  if (first > last) {
    blend(raster, column, first - 1, bottom - top, color);
    return;
  }
  if (first > top) blend(raster, column, first - 1, first - top, color);
  if (bottom > last) blend(raster, column, last, bottom - last, color);
  const opaque = (0xff000000 | color) >>> 0;
  const end = Math.min(last, height) * width;
  for (let at = Math.max(0, first) * width + column; at < end; at += width) pixels[at] = opaque;
}

/** Keeps the more opaque of two traces. */
function blend(raster: Raster, column: number, row: number, covered: number, color: number): void {
  const { pixels, width, height } = raster;
  if (row < 0 || row >= height) return;
  const at = row * width + column;
  const alpha = Math.round(covered * 255);
  if (alpha > (pixels[at] as number) >>> 24) pixels[at] = ((alpha << 24) | color) >>> 0;
}
