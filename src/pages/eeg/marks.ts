import type uPlot from 'uplot';
import type { Annotation } from '../../recordings/recording';
import { color } from './plot';
import type { Gap } from './timeline';

/** Maximum number of drawn annotations: more would cover the signal. */
const MAX_DRAWN = 500;
/** Minimum distance between the texts of two annotations in CSS pixels. */
const TEXT_PIXELS = 64;
const MAX_TEXT = 24;

/** Draws gaps as shaded areas, and annotations as vertical lines with their texts. */
export function drawMarks(
  plot: uPlot,
  gaps: readonly Gap[],
  annotations: readonly Annotation[],
): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.fillStyle = color('--line');
  for (const { from, to } of gaps) {
    const left = plot.valToPos(from, 'x', true);
    const width = plot.valToPos(to, 'x', true) - left;
    ctx.fillRect(left, bbox.top, Math.max(devicePixelRatio, width), bbox.height);
  }
  drawAnnotations(plot, annotations);
  ctx.restore();
}

function drawAnnotations(plot: uPlot, annotations: readonly Annotation[]): void {
  const { ctx, bbox, scales } = plot;
  const { min, max } = scales.x ?? {};
  const isVisible = ({ onsetSeconds }: Annotation) =>
    onsetSeconds >= (min ?? 0) && onsetSeconds <= (max ?? 0);
  const pixel = devicePixelRatio;
  ctx.font = `${11 * pixel}px system-ui, sans-serif`;
  ctx.textBaseline = 'top';
  ctx.textAlign = 'left';
  let nextText = Number.NEGATIVE_INFINITY;
  for (const { onsetSeconds, text } of annotations.filter(isVisible).slice(0, MAX_DRAWN)) {
    const x = plot.valToPos(onsetSeconds, 'x', true);
    ctx.fillStyle = color('--warn');
    ctx.fillRect(x, bbox.top, pixel, bbox.height);
    if (x < nextText) continue;
    drawText(ctx, text.slice(0, MAX_TEXT), x + pixel, bbox.top);
    nextText = x + TEXT_PIXELS * pixel;
  }
}

/** Draws text on a background, so that it is readable above the signal. */
function drawText(ctx: CanvasRenderingContext2D, text: string, x: number, y: number): void {
  const pixel = devicePixelRatio;
  const width = Math.min(ctx.measureText(text).width, (TEXT_PIXELS - 8) * pixel);
  ctx.fillStyle = color('--surface');
  ctx.fillRect(x, y, width + 6 * pixel, 16 * pixel);
  ctx.fillStyle = color('--warn');
  ctx.fillText(text, x + 3 * pixel, y + 2 * pixel, width);
}
