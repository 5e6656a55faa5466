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
 * Draws the range of the samples of each pixel column, with antialiased ends. The columns are those of the recording, not
 * of the view, so that they keep their samples while the view moves. A path of a canvas with the same lines takes about
 * ten times as long.
 */
export function drawTrace(raster: Raster, trace: Trace, lane: Lane): void {
  const { segments, envelope, rate } = trace;
  const { firstColumn, secondsPerColumn, width } = raster;
  for (const [index, segment] of segments.entries()) {
    const { firstSample, startSeconds, measuredRateHz } = segment;
    const end = (segments[index + 1]?.firstSample ?? envelope.samples.length) - 1;
    const perSecond = measuredRateHz ?? rate;
    const last = Math.min(end, firstSample + (lane.until - startSeconds) * perSecond);
    const lastSeconds = startSeconds + (last - firstSample) / perSecond;
    const from = Math.max(0, Math.floor(startSeconds / secondsPerColumn) - firstColumn);
    const to = Math.min(width - 1, Math.ceil(lastSeconds / secondsPerColumn) - firstColumn);
    const perColumn = secondsPerColumn * perSecond;
    const offset = firstSample + (firstColumn * secondsPerColumn - startSeconds) * perSecond;
    for (let column = from; column <= to; column++) {
      const first = Math.max(firstSample, offset + column * perColumn);
      const final = Math.min(last, offset + (column + 1) * perColumn);
      if (first <= final) drawColumn(raster, trace, lane, column, first, final);
    }
  }
}

/** @param from,to positions in samples; between two samples, the line is straight */
function drawColumn(
  raster: Raster,
  { envelope, baseline, factor }: Trace,
  lane: Lane,
  column: number,
  from: number,
  to: number,
): void {
  const { samples } = envelope;
  envelope.measure(Math.ceil(from), Math.floor(to) + 1);
  let { low, high } = envelope;
  const start = valueAt(samples, from);
  const end = valueAt(samples, to);
  if (start < low) low = start;
  if (start > high) high = start;
  if (end < low) low = end;
  if (end > high) high = end;
  if (!(low <= high)) return;
  const rows = factor * lane.rowsPerUnit;
  const half = lane.thickness / 2;
  const top = lane.middle - (high - baseline) * rows - half;
  const bottom = lane.middle - (low - baseline) * rows + half;
  fillColumn(raster, column, top, bottom, lane.color);
}

/** Interpolated value; NaN at a missing sample. */
function valueAt(samples: Float64Array | Float32Array, position: number): number {
  const index = Math.floor(position);
  const value = samples[index] as number;
  const share = position - index;
  return share === 0 ? value : value + ((samples[index + 1] as number) - value) * share;
}

/** Fills rows `top` to `bottom`; the opacity of the first and last row is the covered share. */
function fillColumn(
  { pixels, width, height }: Raster,
  column: number,
  top: number,
  bottom: number,
  color: number,
): void {
  if (bottom <= 0 || top >= height) return;
  const first = Math.max(0, Math.floor(top));
  const last = Math.min(height - 1, Math.floor(bottom));
  const opaque = (0xff000000 | color) >>> 0;
  for (let row = first; row <= last; row++) {
    const covered = Math.min(row + 1, bottom) - Math.max(row, top);
    const at = row * width + column;
    if (covered >= 1) {
      pixels[at] = opaque;
      continue;
    }
    const alpha = Math.round(covered * 255);
    if (alpha > (pixels[at] as number) >>> 24) pixels[at] = ((alpha << 24) | color) >>> 0;
  }
}
