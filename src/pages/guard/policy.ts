import { computed, effect, signal, untracked } from '@preact/signals';
import { GuardClient, type GuardFileResponse } from '../../client';
import { createClient } from '../shared/client';
import { type Explanation, explainError } from '../shared/errors';
import { info } from '../shared/info';

export type Check = GuardFileResponse['checks'][number];

/** Guardrail policy of the server; null until loaded. */
export const policy = signal<GuardFileResponse | null>(null);
/** Error of the last request for the policy; null if it succeeded. */
export const policyProblem = signal<Explanation | null>(null);

export async function loadPolicy(): Promise<void> {
  policyProblem.value = null;
  try {
    policy.value = await createClient(GuardClient).guardFile();
  } catch (error) {
    policy.value = null;
    policyProblem.value = explainError(error);
  }
}

/** Loads the policy whenever `/info` is received: at the start and after the user enters an API key. */
export function startPolicy(): void {
  effect(() => {
    if (info.value !== null) untracked(loadPolicy).catch(reportError);
  });
}

/** CSS class of a check's color; colors repeat after six checks. */
export function toneOf(name: string): string {
  const index = policy.value?.checks.findIndex((check) => check.name === name) ?? 0;
  return `tone-${Math.max(0, index) % 6}`;
}

/** Threshold that a slider sets. */
export interface Slider {
  readonly check: string;
  /** Null: all labels of a token classification check without `labels`. */
  readonly label: string | null;
  /** Threshold of the policy on the server. */
  readonly initial: number;
}

/** Changed thresholds by `keyOf`. */
const changed = signal<ReadonlyMap<string, number>>(new Map());

export const isChanged = computed(() => changed.value.size > 0);

/** Sliders of a check; empty for patterns, which have no scores. */
export function slidersOf(check: Check): readonly Slider[] {
  if (check.type === 'patterns') return [];
  const labels = check.labels && Object.entries(check.labels);
  if (labels) return labels.map(([label, initial]) => ({ check: check.name, label, initial }));
  if (check.type !== 'token-classification') return [];
  return [{ check: check.name, label: null, initial: check.threshold }];
}

export function thresholdOf(slider: Slider): number {
  return changed.value.get(keyOf(slider)) ?? slider.initial;
}

export function setThreshold(slider: Slider, value: number): void {
  const next = new Map(changed.value);
  if (value === slider.initial) next.delete(keyOf(slider));
  else next.set(keyOf(slider), value);
  changed.value = next;
}

export function resetThresholds(): void {
  changed.value = new Map();
}

/** Policy with the thresholds of the sliders. */
export const editedPolicy = computed(
  () => policy.value && { ...policy.value, checks: policy.value.checks.map(withThresholds) },
);

function withThresholds(check: Check): Check {
  if (check.type === 'patterns') return check;
  const thresholds = slidersOf(check).map((slider) => [slider.label, thresholdOf(slider)] as const);
  if (check.labels) return { ...check, labels: Object.fromEntries(thresholds) };
  return check.type === 'token-classification'
    ? { ...check, threshold: thresholds[0]?.[1] ?? 0 }
    : check;
}

function keyOf({ check, label }: Slider): string {
  return JSON.stringify([check, label]);
}
