import { computed, signal } from '@preact/signals';
import { type Check, file } from './file';

/** What a slider moves: the threshold of a label, or of all labels of a tagger that names none. */
export interface Slider {
  readonly check: string;
  /** null: all of them. */
  readonly label: string | null;
  /** In the file. */
  readonly given: number;
}

/** Where sliders are that were moved, by `keyOf`. */
const moved = signal<ReadonlyMap<string, number>>(new Map());

/** Some slider is elsewhere than the file says. */
export const isMoved = computed(() => moved.value.size > 0);

/** What patterns find has no score. */
export function slidersOf(check: Check): readonly Slider[] {
  if (check.type === 'patterns') return [];
  const labels = check.labels && Object.entries(check.labels);
  if (labels) return labels.map(([label, given]) => ({ check: check.name, label, given }));
  if (check.type !== 'token-classification') return [];
  return [{ check: check.name, label: null, given: check.threshold }];
}

export function thresholdAt(slider: Slider): number {
  return moved.value.get(keyOf(slider)) ?? slider.given;
}

export function move(slider: Slider, value: number): void {
  const next = new Map(moved.value);
  if (value === slider.given) next.delete(keyOf(slider));
  else next.set(keyOf(slider), value);
  moved.value = next;
}

export function moveBack(): void {
  moved.value = new Map();
}

/** The file with the thresholds as the sliders have them. */
export const chosenFile = computed(
  () => file.value && { ...file.value, checks: file.value.checks.map(withSliders) },
);

function withSliders(check: Check): Check {
  if (check.type === 'patterns') return check;
  const sliders = slidersOf(check);
  const labels = sliders.map((slider) => [slider.label, thresholdAt(slider)] as const);
  if (check.labels) return { ...check, labels: Object.fromEntries(labels) };
  return check.type === 'token-classification'
    ? { ...check, threshold: labels[0]?.[1] ?? 0 }
    : check;
}

function keyOf({ check, label }: Slider): string {
  return JSON.stringify([check, label]);
}
