import { batch, computed, effect, signal } from '@preact/signals';
import { recording } from '../state';
import { extent, traces } from './traces';
import {
  clampView,
  initialView,
  nextScale,
  revealTime,
  scaleFor,
  type View,
  zoomView,
} from './view';

const ZOOM = 1.6;
/** Typical range of a signal in lanes: signals of neighbors overlap a little. */
const OVERLAP = 1.5;

export const view = signal<View>({ from: 0, seconds: 10 });
/** Time in seconds that selects a window. */
export const cursor = signal(0);
/** Scale from the user, per division; null: automatic. */
const givenScale = signal<number | null>(null);

const automaticScale = computed(() => {
  const ranges = traces.value.map(({ range }) => range).filter((range) => range > 0);
  return scaleFor((ranges.sort((a, b) => a - b)[ranges.length >> 1] ?? 1) / OVERLAP);
});

/** Amplitude of a division, which is the height of a lane. */
export const scale = computed(() => givenScale.value ?? automaticScale.value);

/** Shows the start of each new recording. */
export function resetViewOnNewRecording(): void {
  effect(() => {
    recording.value;
    const all = extent.value;
    if (all === null) return;
    batch(() => {
      view.value = initialView(all);
      cursor.value = all.from;
      givenScale.value = null;
    });
  });
}

export function changeScale(direction: 1 | -1): void {
  givenScale.value = nextScale(scale.value, direction);
}

export function showView(next: View): void {
  if (extent.value) view.value = clampView(next, extent.value);
}

/** Scrolls by a share of the visible time. */
export function scrollBy(share: number): void {
  const { from, seconds } = view.value;
  showView({ from: from + share * seconds, seconds });
}

/** @param direction 1: shows less time, -1: shows more time. @param around time that keeps its place */
export function zoom(direction: 1 | -1, around = cursor.value): void {
  if (!extent.value) return;
  view.value = zoomView(view.value, ZOOM ** -direction, around, extent.value);
}

export function showAll(): void {
  if (extent.value) showView({ from: extent.value.from, seconds: Number.POSITIVE_INFINITY });
}

/** Moves the cursor, and the view if the cursor leaves it. */
export function moveCursor(seconds: number): void {
  const all = extent.value;
  if (!all) return;
  batch(() => {
    cursor.value = Math.max(all.from, Math.min(seconds, all.to));
    view.value = revealTime(view.value, cursor.value, all);
  });
}
