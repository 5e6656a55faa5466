import { computed } from '@preact/signals';
import { givenRate, model, modelRate, recording } from '../state';
import {
  type ModelChannels,
  type Selection,
  type SelectionProblem,
  selectChannels,
} from './select-channels';

/** Whether the model takes several channels. */
export const isMultichannel = computed(() => Boolean(model.value?.channels));

/** Sampling rate of channels without a rate, in Hz. */
export const assumedRate = computed(() => givenRate.value ?? modelRate.value ?? 1);

const wanted = computed<ModelChannels | null>(() => {
  const { channels, unit = null, interpolates = false } = model.value ?? {};
  return channels ? { channels, unit, interpolates, assumedRate: assumedRate.value } : null;
});

const selected = computed(() =>
  recording.value && wanted.value ? selectChannels(recording.value, wanted.value) : null,
);

/** Null without a recording, and if the model cannot take its channels. */
export const selection = computed<Selection | null>(() =>
  selected.value && 'names' in selected.value ? selected.value : null,
);

/** Why the model cannot take the channels; null if it can. */
export const selectionProblem = computed<SelectionProblem | null>(() =>
  selected.value && 'title' in selected.value ? selected.value : null,
);
