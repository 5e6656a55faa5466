import { effect, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type uPlot from 'uplot';
import { color, Plot } from './plot';
import { channel, moveTo, rate, samples, start, windowLength } from './state';

/** The uPlot instance of the recording. */
const plot = signal<uPlot | null>(null);
const ZOOM = 1.6;
/** Maximum pointer movement of a click, in pixels. */
const CLICK_PIXELS = 4;

/** Plot of the whole channel. Dragging zooms, a click moves the window. */
export function OverviewPlot() {
  const y = samples.value;
  useEffect(followTheWindow, []);
  if (y === null) return null;
  return (
    <Plot
      y={y}
      rate={rate.value}
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
  return (
    // biome-ignore lint/a11y/useSemanticElements: a group of buttons is not a fieldset
    <div class="row tight" role="group" aria-label="View of the signal">
      {buttons.map(({ label, sign, act }) => (
        <button
          key={label}
          type="button"
          class="small"
          aria-label={label}
          title={label}
          onClick={act}
        >
          {sign}
        </button>
      ))}
      <button type="button" class="small" onClick={showAll}>
        Show all
      </button>
    </div>
  );
}

function extend(options: uPlot.Options): void {
  options.cursor = { y: false, points: { show: false }, drag: { x: true, y: false, dist: 8 } };
  options.hooks = { drawClear: [drawWindow], ready: [listen] };
}

function drawWindow(shown: uPlot): void {
  const length = windowLength.peek();
  if (length === null) return;
  const unit = rate.peek() ?? 1;
  const left = shown.valToPos(start.peek() / unit, 'x', true);
  const right = shown.valToPos((start.peek() + length) / unit, 'x', true);
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
    moveTo(shown.posToVal(x, 'x') * (rate.peek() ?? 1) - length / 2);
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
    const from = start.value / (rate.value ?? 1);
    if (!shown || length === null) return;
    const to = from + length / (rate.value ?? 1);
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
  const length = (windowLength.peek() ?? 0) / (rate.peek() ?? 1);
  const window = start.peek() / (rate.peek() ?? 1) + length / 2;
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

function currentView(): { min: number; max: number } | null {
  const { min, max } = plot.peek()?.scales.x ?? {};
  return typeof min === 'number' && typeof max === 'number' ? { min, max } : null;
}

/** Clamps a range to the recording and keeps its width if possible. */
function setView(min: number, max: number): void {
  const end = ((samples.peek()?.length ?? 1) - 1) / (rate.peek() ?? 1);
  const least = Math.min(end, 16 / (rate.peek() ?? 1));
  const width = Math.min(end, Math.max(least, max - min));
  const from = Math.min(Math.max(0, Number.isFinite(min) ? min : 0), end - width);
  plot.peek()?.setScale('x', { min: from, max: from + width });
}
