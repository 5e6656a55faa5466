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
  ctx.fillStyle = color('--warn');
  let nextText = Number.NEGATIVE_INFINITY;
  for (const { onsetSeconds, text } of annotations.filter(isVisible).slice(0, MAX_DRAWN)) {
    const x = plot.valToPos(onsetSeconds, 'x', true);
    ctx.fillRect(x, bbox.top, pixel, bbox.height);
    if (x < nextText) continue;
    ctx.fillText(text.slice(0, MAX_TEXT), x + 3 * pixel, bbox.top + 2 * pixel, TEXT_PIXELS * pixel);
    nextText = x + TEXT_PIXELS * pixel;
  }
}
