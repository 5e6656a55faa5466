import { effect, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type uPlot from 'uplot';
import { drawMarks } from './marks';
import { color, Plot } from './plot';
import { channel, moveTo, rate, recording, samples, start, timeline, windowLength } from './state';
import { ViewButtons } from './view-buttons';

/** The uPlot instance of the recording. */
const plot = signal<uPlot | null>(null);
const ZOOM = 1.6;
/** Maximum pointer movement of a click, in pixels. */
const CLICK_PIXELS = 4;

/** Plot of the whole channel. Dragging zooms, a click moves the window. */
export function OverviewPlot() {
  const [y, axis, hz] = [samples.value, timeline.value, rate.value];
  const x = useMemo(() => axis?.times() ?? null, [axis]);
  useEffect(followTheWindow, []);
  if (y === null || x === null) return null;
  return (
    <Plot
      y={y}
      x={x}
      rate={hz}
      height={230}
      label={`Signal of channel ${channel.value?.label ?? ''}. The window is chosen with the slider below.`}
      extend={extend}
      onReady={(ready) => {
        plot.value = ready;
      }}
    />
  );
}

export function PlotButtons() {
  const buttons = [
    { label: 'Zoom in', sign: '+', act: () => zoom(1 / ZOOM) },
    { label: 'Zoom out', sign: '−', act: () => zoom(ZOOM) },
    { label: 'Earlier', sign: '←', act: () => pan(-0.5) },
    { label: 'Later', sign: '→', act: () => pan(0.5) },
  ];
  return <ViewButtons label="View of the signal" buttons={buttons} onShowAll={showAll} />;
}

function extend(options: uPlot.Options): void {
  options.cursor = { y: false, points: { show: false }, drag: { x: true, y: false, dist: 8 } };
  options.hooks = { drawClear: [drawWindow], draw: [drawRecordingMarks], ready: [listen] };
  const [, series] = options.series;
  if (series) series.gaps = gapsInPixels;
}

function drawRecordingMarks(shown: uPlot): void {
  // Without a sampling rate, the times of annotations have no place on the axis of samples.
  const annotations = rate.peek() === null ? [] : (recording.peek()?.annotations ?? []);
  const label = channel.peek()?.label;
  const drawn = annotations.filter((one) => one.channel === null || one.channel === label);
  drawMarks(shown, timeline.peek()?.gaps ?? [], drawn);
}

/** Interrupts the line of the signal at gaps. */
function gapsInPixels(
  shown: uPlot,
  _series: number,
  _first: number,
  _last: number,
  known: uPlot.Series.Gaps,
): uPlot.Series.Gaps {
  const gaps = timeline.peek()?.gaps ?? [];
  return [
    ...known,
    ...gaps.map(({ from, to }): [number, number] => [
      shown.valToPos(from, 'x', true),
      shown.valToPos(to, 'x', true),
    ]),
  ];
}

function drawWindow(shown: uPlot): void {
  const length = windowLength.peek();
  if (length === null) return;
  const { from, to } = windowTimes(length);
  const left = shown.valToPos(from, 'x', true);
  const right = shown.valToPos(to, 'x', true);
  const { ctx, bbox } = shown;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  const width = Math.max(3, right - left);
  ctx.fillStyle = color('--accent');
  ctx.globalAlpha = 0.2;
  ctx.fillRect(left, bbox.top, width, bbox.height);
  ctx.globalAlpha = 1;
  ctx.fillRect(left, bbox.top, 2, bbox.height);
  ctx.fillRect(left + width - 2, bbox.top, 2, bbox.height);
  ctx.restore();
}

function listen(shown: uPlot): void {
  let pressedAt = 0;
  shown.over.addEventListener('mousedown', (event) => {
    pressedAt = event.clientX;
  });
  shown.over.addEventListener('click', (event) => {
    const length = windowLength.peek();
    if (length === null || Math.abs(event.clientX - pressedAt) > CLICK_PIXELS) return;
    const x = event.clientX - shown.over.getBoundingClientRect().left;
    moveTo((timeline.peek()?.toSample(shown.posToVal(x, 'x')) ?? 0) - length / 2);
  });
  // Browsers report a pinch as a wheel event with Ctrl. Without Ctrl, the page scrolls.
  shown.over.addEventListener(
    'wheel',
    (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoom(event.deltaY < 0 ? 1 / ZOOM : ZOOM);
    },
    { passive: false },
  );
}

/** Redraws the plot when the window moves, and scrolls to the window. */
function followTheWindow(): () => void {
  return effect(() => {
    const shown = plot.value;
    const length = windowLength.value;
    start.value; // Dependency.
    if (!shown || length === null) return;
    const { from, to } = windowTimes(length);
    const { min = 0, max = 0 } = shown.scales.x ?? {};
    if (min !== null && max !== null && (from < min || to > max) && to - from < max - min) {
      const middle = (from + to) / 2;
      setView(middle - (max - min) / 2, middle + (max - min) / 2);
    }
    shown.redraw(false);
  });
}

function zoom(factor: number): void {
  const view = currentView();
  if (!view) return;
  const half = ((view.max - view.min) / 2) * factor;
  const { from, to } = windowTimes(windowLength.peek() ?? 0);
  const window = (from + to) / 2;
  const isVisible = window >= view.min && window <= view.max;
  const middle = isVisible && factor < 1 ? window : (view.min + view.max) / 2;
  setView(middle - half, middle + half);
}

function pan(share: number): void {
  const view = currentView();
  if (!view) return;
  const by = (view.max - view.min) * share;
  setView(view.min + by, view.max + by);
}

function showAll(): void {
  setView(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);
}

/** Start and end of the window in seconds, or in samples without a sampling rate. */
function windowTimes(length: number): { readonly from: number; readonly to: number } {
  const from = timeline.peek()?.toSeconds(start.peek()) ?? 0;
  return { from, to: from + length / (rate.peek() ?? 1) };
}

function currentView(): { min: number; max: number } | null {
  const { min, max } = plot.peek()?.scales.x ?? {};
  return typeof min === 'number' && typeof max === 'number' ? { min, max } : null;
}

/** Clamps a range to the recording and keeps its width if possible. */
function setView(min: number, max: number): void {
  const first = timeline.peek()?.toSeconds(0) ?? 0;
  const end = timeline.peek()?.end ?? first;
  const least = Math.min(end - first, 16 / (rate.peek() ?? 1));
  const width = Math.min(end - first, Math.max(least, max - min));
  const from = Math.min(Math.max(first, Number.isFinite(min) ? min : first), end - width);
  plot.peek()?.setScale('x', { min: from, max: from + width });
}
