import { computed, type Signal, signal } from '@preact/signals';
import { GuardClient, type GuardOptions, type GuardResponse } from '../../client';
import { createRequest } from '../shared/request-state';
import { applyThresholds } from './apply-thresholds';
import { editedPolicy, isChanged, policy } from './policy';

export type Direction = NonNullable<GuardOptions['direction']>;
export type Finding = GuardResponse['findings'][number];

/** Parts of the text, such as the messages of a chat. */
export const parts = signal<readonly Signal<string>[]>([signal('')]);
export const direction = signal<Direction>('input');

export function addPart(): void {
  parts.value = [...parts.value, signal('')];
}

export function removePart(index: number): void {
  parts.value = parts.value.filter((_, at) => at !== index);
}

export const guardRequest = createRequest(
  GuardClient,
  () => {
    const texts = parts.value.map(({ value }) => value);
    if (texts.every((text) => text === '')) return null;
    return { texts, direction: direction.value };
  },
  (client, { texts, direction }) => client.guard(texts, { direction, map: true, scores: true }),
  computed(() => policy.value !== null),
);

/** Last response with the thresholds of the sliders; null before the first response. */
export const currentResult = computed(() => {
  const response = guardRequest.response.value;
  const edited = editedPolicy.value;
  if (!response) return null;
  return isChanged.value && edited
    ? applyThresholds(response.input.texts, response.body, edited)
    : response.body;
});
