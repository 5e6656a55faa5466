import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { theme } from '../shared/theme';
import 'uplot/dist/uPlot.min.css';

export interface PlotProps {
  readonly y: Float64Array;
  /** Sampling rate in Hz; null if the x axis shows sample numbers. */
  readonly rate: number | null;
  /** Time of the first sample, in seconds or samples. */
  readonly from?: number;
  /** Times of all samples; default: evenly spaced from `from` on. */
  readonly x?: Float64Array;
  readonly height: number;
  /** Accessible description. */
  readonly label: string;
  /** Extends each new uPlot instance. */
  readonly extend?: (options: uPlot.Options) => void;
  readonly onReady?: (plot: uPlot | null) => void;
}

/** Line plot over time in the theme's colors. */
export function Plot({ y, x, rate, from = 0, height, label, extend, onReady }: PlotProps) {
  const host = useRef<HTMLDivElement>(null);
  const shownTheme = theme.value;
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const options = makeOptions(element.clientWidth, height, rate);
    extend?.(options);
    const plot = new uPlot(options, [x ?? timesOf(y.length, rate, from), y], element);
    onReady?.(plot);
    const observer = new ResizeObserver(() => {
      if (element.clientWidth > 0) plot.setSize({ width: element.clientWidth, height });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      onReady?.(null);
      plot.destroy();
    };
    // Dependency: the drawing reads the theme's colors from the document.
  }, [y, x, rate, from, height, shownTheme]);
  return (
    <div ref={host} class="plot" role="img" aria-label={label} style={{ minHeight: height }} />
  );
}

export function color(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function timesOf(length: number, rate: number | null, from: number): Float64Array {
  return Float64Array.from({ length }, (_, index) => from + index / (rate ?? 1));
}

function makeOptions(width: number, height: number, rate: number | null): uPlot.Options {
  const axis = {
    stroke: color('--quiet'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui, sans-serif',
  };
  return {
    width,
    height,
    legend: { show: false },
    cursor: { show: false },
    scales: { x: { time: false } },
    axes: [
      { ...axis, size: 34, values: (_plot, splits) => splits.map((split) => tick(split, rate)) },
      { ...axis, size: 46, space: 26 },
    ],
    series: [{}, { stroke: color('--series-0'), width: 1.25, points: { show: false } }],
  };
}

function tick(value: number, rate: number | null): string {
  const rounded = Number(value.toFixed(3));
  return rate === null ? String(rounded) : `${rounded} s`;
}
