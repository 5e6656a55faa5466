import { computed, type Signal, signal } from '@preact/signals';
import { GuardClient, type GuardJson, type GuardOptions } from '../../client';
import { question } from '../shared/question';
import { isLoaded } from './file';
import { judge } from './judge';
import { chosenFile, isMoved } from './thresholds';

export type Direction = NonNullable<GuardOptions['direction']>;
export type Finding = GuardJson['findings'][number];

export const parts = signal<readonly Signal<string>[]>([signal('')]);
export const direction = signal<Direction>('input');

export function addPart(): void {
  parts.value = [...parts.value, signal('')];
}

export function removePart(index: number): void {
  parts.value = parts.value.filter((_, place) => place !== index);
}

export const guarding = question(
  GuardClient,
  () => {
    const texts = parts.value.map(({ value }) => value);
    if (texts.every((text) => text === '')) return null;
    return { texts, direction: direction.value };
  },
  (client, { texts, direction }) => client.guard(texts, { direction, map: true, scores: true }),
  isLoaded,
);

/** The answer; where sliders were moved, as it would be with their thresholds. */
export const judged = computed(() => {
  const answer = guarding.answer.value;
  const file = chosenFile.value;
  if (!answer) return null;
  return isMoved.value && file ? judge(answer.input.texts, answer.body, file) : answer.body;
});
