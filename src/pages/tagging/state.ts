import { signal } from '@preact/signals';
import { type TagAnswer, TagClient, type TagOptions } from '../../client';
import { info } from '../shared/info';
import { question } from '../shared/question';

export type Strategy = NonNullable<TagOptions['strategy']>;
export type Tag = TagAnswer['tags'][number];

export const text = signal('');
export const strategy = signal<Strategy>('simple');
/** What has no label is shown as well. */
export const isOutsideShown = signal(false);

/** A text that is too long for the model is read in windows, else cut. */
export const isReadWhole = signal(true);

/** Tokens that windows share, as a part of what the model takes. */
const SHARED = 1 / 4;

export const tagging = question(
  TagClient,
  () =>
    text.value.trim() === ''
      ? null
      : {
          text: text.value,
          strategy: strategy.value,
          ...(isOutsideShown.value && { ignoreLabels: [] }),
          ...(isReadWhole.value && {
            stride: Math.floor((info.value?.model.max_length ?? 0) * SHARED),
          }),
        },
  (client, { text, ...options }) => client.tag(text, options),
);
