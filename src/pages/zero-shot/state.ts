import { computed, signal } from '@preact/signals';
import { ZeroShotClient } from '../../client';
import { splitLines } from '../shared/lines';
import { question } from '../shared/question';

export const text = signal('');
/** One on each line. */
export const list = signal('');
export const labels = computed(() => splitLines(list.value).map(({ text }) => text));
export const template = signal('This example is {}.');
/** Each label by itself. */
export const isMultiLabel = signal(false);

export const zeroShot = question(
  ZeroShotClient,
  () =>
    text.value.trim() === '' || labels.value.length === 0
      ? null
      : {
          text: text.value,
          labels: labels.value,
          hypothesisTemplate: template.value,
          multiLabel: isMultiLabel.value,
        },
  (client, { text, labels, ...options }) => client.zeroShot(text, labels, options),
);
