import { computed, effect, signal, untracked } from '@preact/signals';
import { GuardClient, type GuardFileJson } from '../../client';
import { connect } from '../shared/client';
import { type Explanation, explain } from '../shared/errors';
import { info } from '../shared/info';

export type Check = GuardFileJson['checks'][number];

/** As the service has it; null: it is not here. */
export const file = signal<GuardFileJson | null>(null);
/** Why it could not be had. */
export const fileProblem = signal<Explanation | null>(null);
export const isLoaded = computed(() => file.value !== null);

export async function loadFile(): Promise<void> {
  fileProblem.value = null;
  try {
    file.value = await connect(GuardClient).guardFile();
  } catch (error) {
    file.value = null;
    fileProblem.value = explain(error);
  }
}

/** Once the service is known, and again when a key was entered. */
export function startFile(): void {
  effect(() => {
    if (info.value !== null) untracked(loadFile).catch(reportError);
  });
}

/** Class of the colour of a check; those beyond the sixth share. */
export function toneOf(name: string): string {
  const place = file.value?.checks.findIndex((check) => check.name === name) ?? 0;
  return `tone-${Math.max(0, place) % 6}`;
}
