import { effect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { clock, percent } from '../../shared/format';
import { theme } from '../../shared/theme';
import { recording } from '../state';
import { listen, onKey } from './plot-input';
import { PlotPainter, plotHeight } from './plot-scene';
import { run, windowAtCursor } from './run-windows';
import { extent, gaps, traces } from './traces';
import { cursor, scale, view } from './view-state';

/** Stacked signals with a cursor. It is a slider for screen readers: its value is the time of the cursor. */
export function PlotCanvas() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const shownTheme = theme.value;
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (!element || !context) return;
    const painter = new PlotPainter(context);
    let request = 0;
    const draw = () => {
      request = 0;
      painter.draw(sceneNow());
    };
    const drawSoon = () => {
      request ||= requestAnimationFrame(draw);
    };
    const observer = new ResizeObserver(() => {
      painter.resize(element.clientWidth, element.clientHeight);
      draw();
    });
    observer.observe(element);
    const forget = listen(element);
    const stop = effect(() => {
      sceneNow(); // Dependencies of the drawing.
      drawSoon();
    });
    return () => {
      cancelAnimationFrame(request);
      observer.disconnect();
      forget();
      stop();
    };
    // Dependency: the painter reads the theme's colors from the document.
  }, [shownTheme]);
  return (
    <canvas
      ref={canvas}
      class="channels"
      role="slider"
      tabIndex={0}
      aria-label="Cursor in the signals"
      aria-describedby="channel-keys"
      aria-valuemin={extent.value?.from ?? 0}
      aria-valuemax={extent.value?.to ?? 0}
      aria-valuenow={Number(cursor.value.toFixed(3))}
      aria-valuetext={cursorText()}
      style={{ height: `${plotHeight(traces.value.length)}px` }}
      onKeyDown={onKey}
    />
  );
}

function sceneNow() {
  const windows = run.value?.windows ?? [];
  const index = windowAtCursor.value;
  return {
    traces: traces.value,
    view: view.value,
    scale: scale.value,
    windows,
    step: run.value?.step ?? 1,
    annotations: recording.value?.annotations ?? [],
    gaps: gaps.value,
    cursor: cursor.value,
    selected: index === null ? null : (windows[index] ?? null),
    until: Number.POSITIVE_INFINITY,
  };
}

function cursorText(): string {
  const window = run.value?.windows[windowAtCursor.value ?? -1];
  const time = clock(cursor.value);
  if (!window?.diagnosis) return time;
  return `${time}, ${window.diagnosis} ${percent(window.confidence ?? 0)}`;
}
