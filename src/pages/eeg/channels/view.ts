/** Visible part of the time axis, in seconds. */
export interface View {
  readonly from: number;
  readonly seconds: number;
}

/** Extent of a recording, in seconds. */
export interface Extent {
  readonly from: number;
  readonly to: number;
}

/** Minimum visible time in seconds. */
const MIN_SECONDS = 0.05;
/** Initially visible time in seconds. */
const INITIAL_SECONDS = 10;
const [MIN_LANE, MAX_LANE] = [12, 64];
const LANES_HEIGHT = 480;
/** Powers of ten of the scale are divided into 1, 2 and 5. */
const SCALE_DIGITS = [1, 2, 5];
/** Possible distances of marks of the time axis, in seconds. */
const MARKS = [
  0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200,
];

/** Limits a view to a recording, and keeps its length if possible. */
export function clampView({ from, seconds }: View, extent: Extent): View {
  const all = Math.max(extent.to - extent.from, MIN_SECONDS);
  const length = Math.min(all, Math.max(MIN_SECONDS, seconds));
  return {
    from: Math.max(extent.from, Math.min(from, extent.from + all - length)),
    seconds: length,
  };
}

export function initialView(extent: Extent): View {
  return clampView({ from: extent.from, seconds: INITIAL_SECONDS }, extent);
}

/** Changes the visible time by a factor. `around` keeps its place if it is visible, otherwise the middle does. */
export function zoomView(view: View, factor: number, around: number, extent: Extent): View {
  const share = (around - view.from) / view.seconds;
  const kept = share >= 0 && share <= 1 ? share : 0.5;
  const all = Math.max(extent.to - extent.from, MIN_SECONDS);
  const seconds = Math.min(all, Math.max(MIN_SECONDS, view.seconds * factor));
  return clampView({ from: view.from + kept * (view.seconds - seconds), seconds }, extent);
}

/** Moves the view as little as possible so that it contains a time. */
export function revealTime(view: View, time: number, extent: Extent): View {
  const { from, seconds } = view;
  if (time >= from && time <= from + seconds) return view;
  return clampView({ from: time < from ? time : time - seconds, seconds }, extent);
}

/** Height of the lane of a channel in CSS pixels. */
export function laneHeight(channels: number): number {
  return Math.max(MIN_LANE, Math.min(MAX_LANE, Math.floor(LANES_HEIGHT / Math.max(1, channels))));
}

/** Next scale of the series 1, 2, 5, 10, … @param direction 1: larger, -1: smaller */
export function nextScale(scale: number, direction: 1 | -1): number {
  const exponent = Math.floor(Math.log10(scale) + 1e-9);
  const digit = scale / 10 ** exponent;
  const nearest = SCALE_DIGITS.reduce((best, one) =>
    Math.abs(one - digit) < Math.abs(best - digit) ? one : best,
  );
  const steps = exponent * SCALE_DIGITS.length + SCALE_DIGITS.indexOf(nearest) + direction;
  return scaleAt(steps);
}

/** Smallest scale of the series that is not below a range. */
export function scaleFor(range: number): number {
  if (!(range > 0) || !Number.isFinite(range)) return 1;
  let steps = Math.floor(Math.log10(range)) * SCALE_DIGITS.length;
  while (scaleAt(steps) < range * (1 - 1e-9)) steps++;
  return scaleAt(steps);
}

function scaleAt(steps: number): number {
  const exponent = Math.floor(steps / SCALE_DIGITS.length);
  const digit = SCALE_DIGITS[steps - exponent * SCALE_DIGITS.length] as number;
  // A quotient of whole numbers has no rounding errors in its digits.
  return exponent < 0 ? digit / 10 ** -exponent : digit * 10 ** exponent;
}

/** Times of the marks of the axis, at least `pixels` apart. */
export function timeMarks(view: View, width: number, pixels: number): readonly number[] {
  const least = (view.seconds / Math.max(1, width)) * pixels;
  const every = MARKS.find((mark) => mark >= least) ?? Math.ceil(least / 3600) * 3600;
  const first = Math.ceil(view.from / every - 1e-9);
  const last = Math.floor((view.from + view.seconds) / every + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) * every);
}
