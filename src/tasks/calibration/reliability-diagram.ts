import type { Bin, Metrics } from './metrics';

const SIZE = 260;
const MARGIN = 48;

/** Reliability diagrams before and after the calibration, as SVG. */
export function reliabilityDiagram(before: Metrics, after: Metrics): string {
  const width = 2 * (SIZE + 2 * MARGIN);
  const height = SIZE + 2 * MARGIN;
  const description = [before, after]
    .map((metrics, index) => `${index === 0 ? 'Before' : 'After'}: ${describe(metrics)}.`)
    .join(' ');
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title description" font-family="sans-serif" font-size="12">`,
    '<title id="title">Accuracy by confidence, before and after the calibration</title>',
    `<desc id="description">${description}</desc>`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    panel('Before', before, MARGIN),
    panel('After', after, SIZE + 3 * MARGIN),
    '</svg>',
    '',
  ].join('\n');
}

function describe({ ece, accuracy, bins }: Metrics): string {
  const points = bins
    .filter(({ count }) => count > 0)
    .map((bin) => `${bin.count} at ${bin.confidence.toFixed(3)}: ${bin.accuracy.toFixed(3)}`);
  return `accuracy ${accuracy.toFixed(4)}, ECE ${ece.toFixed(4)}; predictions at a mean confidence and their accuracy: ${points.join(', ')}`;
}

function panel(title: string, { bins, ece }: Metrics, x: number): string {
  const bars = bins.map((bin, index) => bar(bin, index, bins.length)).join('');
  const ticks = [0, 0.25, 0.5, 0.75, 1].map(tick).join('');
  return [
    `<g transform="translate(${x} ${MARGIN})">`,
    `<text x="${SIZE / 2}" y="-16" text-anchor="middle" font-size="14">${title}: ECE ${ece.toFixed(4)}</text>`,
    bars,
    `<rect width="${SIZE}" height="${SIZE}" fill="none" stroke="#333"/>`,
    `<line x1="0" y1="${SIZE}" x2="${SIZE}" y2="0" stroke="#333" stroke-dasharray="4 4"/>`,
    ticks,
    `<text x="${SIZE / 2}" y="${SIZE + 36}" text-anchor="middle">Confidence</text>`,
    `<text transform="translate(-34 ${SIZE / 2}) rotate(-90)" text-anchor="middle">Accuracy</text>`,
    '</g>',
  ].join('\n');
}

/** Accuracy of a bin, and a mark at its mean confidence. */
function bar({ count, accuracy, confidence }: Bin, index: number, bins: number): string {
  if (count === 0) return '';
  const width = SIZE / bins;
  const height = accuracy * SIZE;
  const x = (index * width).toFixed(1);
  const top = (SIZE - height).toFixed(1);
  const mark = ((1 - confidence) * SIZE).toFixed(1);
  const end = ((index + 1) * width).toFixed(1);
  return [
    `<rect x="${x}" y="${top}" width="${width.toFixed(1)}" height="${height.toFixed(1)}" fill="#4c78a8" stroke="#fff"/>`,
    `<line x1="${x}" y1="${mark}" x2="${end}" y2="${mark}" stroke="#b3261e" stroke-width="2"/>`,
  ].join('');
}

function tick(value: number): string {
  const at = value * SIZE;
  return [
    `<text x="${at}" y="${SIZE + 18}" text-anchor="middle">${value}</text>`,
    `<text x="-8" y="${SIZE - at + 4}" text-anchor="end">${value}</text>`,
  ].join('');
}
