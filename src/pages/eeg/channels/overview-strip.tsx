import { useEffect, useRef } from 'preact/hooks';
import { theme } from '../../shared/theme';
import { color } from '../plot';
import type { Gap } from '../timeline';
import { toneOf } from '../tones';
import { type Run, run } from './run-windows';
import { extent, gaps } from './traces';
import type { Extent, View } from './view';
import { moveCursor, showView, view } from './view-state';

const HEIGHT = 28;

/** Windows of the whole recording and the visible time; a click moves the view. */
export function OverviewStrip() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [shownTheme, shownRun, shownView, all] = [theme.value, run.value, view.value, extent.value];
  const shownGaps = gaps.value;
  useEffect(() => {
    const element = canvas.current;
    if (!element || !all) return;
    const redraw = () => draw(element, { run: shownRun, view: shownView, gaps: shownGaps, all });
    const observer = new ResizeObserver(redraw);
    observer.observe(element);
    return () => observer.disconnect();
    // Dependency: the drawing reads the theme's colors from the document.
  }, [shownTheme, shownRun, shownView, shownGaps, all]);
  if (!all) return null;
  return (
    <canvas
      ref={canvas}
      class="overview"
      role="img"
      aria-label={`The whole recording, with ${run.value?.windows.length ?? 0} classified windows and the visible time. The cursor above moves the view.`}
      height={HEIGHT}
      onClick={(event) => {
        const box = event.currentTarget.getBoundingClientRect();
        const time = all.from + ((event.clientX - box.left) / box.width) * (all.to - all.from);
        showView({ ...view.value, from: time - view.value.seconds / 2 });
        moveCursor(time);
      }}
    />
  );
}

interface Overview {
  readonly run: Run | null;
  readonly view: View;
  readonly gaps: readonly Gap[];
  readonly all: Extent;
}

function draw(
  canvas: HTMLCanvasElement,
  { run: shown, view: visible, gaps: parts, all }: Overview,
) {
  const context = canvas.getContext('2d');
  const width = Math.round(canvas.clientWidth * devicePixelRatio);
  if (!context || width === 0) return;
  const height = Math.round(HEIGHT * devicePixelRatio);
  canvas.width = width;
  canvas.height = height;
  const x = (seconds: number) => ((seconds - all.from) / (all.to - all.from)) * width;
  context.fillStyle = color('--sunken');
  context.fillRect(0, 0, width, height);
  const tones = Array.from({ length: 6 }, (_, tone) => color(`--series-${tone}`));
  const bad = color('--bad');
  for (const { from, diagnosis, confidence } of shown?.windows ?? []) {
    context.fillStyle = diagnosis === null ? bad : (tones[toneOf(diagnosis)] as string);
    context.globalAlpha = diagnosis === null ? 1 : 0.35 + 0.65 * (confidence ?? 0);
    context.fillRect(x(from), 0, Math.max(1, x(from + (shown?.step ?? 0)) - x(from)), height);
  }
  context.globalAlpha = 1;
  context.fillStyle = color('--line-strong');
  for (const { from, to } of parts) {
    context.fillRect(x(from), 0, Math.max(1, x(to) - x(from)), height);
  }
  context.strokeStyle = color('--text');
  context.lineWidth = 2 * devicePixelRatio;
  const left = x(visible.from);
  const edge = devicePixelRatio;
  const box = Math.max(4 * edge, x(visible.from + visible.seconds) - left - 2 * edge);
  context.strokeRect(left + edge, edge, box, height - 2 * edge);
}
