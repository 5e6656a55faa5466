import { useEffect, useRef } from 'preact/hooks';
import { theme } from '../shared/theme';
import type { Run } from './classify';
import { color } from './plot';
import { moveTo, start, windowLength } from './state';
import { toneOf } from './tones';

const HEIGHT = 36;

/** Strip of all windows in the colors of their classes; a click selects a window. */
export function Strip({ run: { starts, outcomes } }: { readonly run: Run }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [shownTheme, at] = [theme.value, start.value];
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const redraw = () => draw(element, { starts, outcomes });
    const observer = new ResizeObserver(redraw);
    observer.observe(element);
    redraw();
    return () => observer.disconnect();
    // Dependencies that the drawing reads: theme and window.
  }, [starts, outcomes, shownTheme, at]);
  return (
    <canvas
      ref={canvas}
      class="strip"
      role="img"
      aria-label={`Strip of ${starts.length} windows, ${outcomes.length} classified. The counts are below.`}
      height={HEIGHT}
      onClick={(event) => {
        const box = event.currentTarget.getBoundingClientRect();
        const share = (event.clientX - box.left) / box.width;
        const index = Math.min(starts.length - 1, Math.floor(share * starts.length));
        moveTo(starts[index] ?? 0);
      }}
    />
  );
}

function draw(canvas: HTMLCanvasElement, { starts, outcomes }: Run): void {
  const scale = devicePixelRatio;
  const width = Math.round(canvas.clientWidth * scale);
  const height = Math.round(HEIGHT * scale);
  const context = canvas.getContext('2d');
  if (!context || width === 0) return;
  canvas.width = width;
  canvas.height = height;
  const step = width / starts.length;
  const gap = step > 6 * scale ? scale : 0;
  for (let index = 0; index < starts.length; index++) {
    const outcome = outcomes[index];
    const name = outcome?.ok ? `--series-${toneOf(outcome.result.diagnosis)}` : '--bad';
    context.fillStyle = color(outcome ? name : '--sunken');
    context.globalAlpha = outcome?.ok ? 0.35 + 0.65 * outcome.result.confidence : 1;
    context.fillRect(index * step, 0, Math.max(1, step - gap), height);
  }
  context.globalAlpha = 1;
  context.strokeStyle = color('--text');
  context.lineWidth = 2 * scale;
  const length = windowLength.peek() ?? 1;
  const index = Math.max(
    0,
    starts.findLastIndex((first) => first <= start.peek()),
  );
  const share = Math.min(1, (start.peek() - (starts[index] ?? 0)) / length);
  const left = (index + share) * step;
  context.strokeRect(
    left + scale,
    scale,
    Math.max(4 * scale, step - gap) - 2 * scale,
    height - 2 * scale,
  );
}
