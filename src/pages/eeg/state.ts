import { batch, computed, signal } from '@preact/signals';
import { type Channel, findChannel, type Recording } from '../../recordings/recording';
import { resample } from '../../recordings/resample';
import { zNormalize } from '../../tasks/signal-classification/z-normalize';
import { info } from '../shared/info';
import { clampStart } from './windows';

/** Rates that differ by less are the same: files write them with few digits. */
const SAME_RATE = 0.005;

export const recording = signal<Recording | null>(null);
export const channelIndex = signal(0);
/** Hz, as a person gave it for a recording that does not say. */
export const givenRate = signal<number | null>(null);
export const isResampled = signal(false);
/** First sample of the window. */
export const start = signal(0);

export const model = computed(() => info.value?.model ?? null);
/** Samples; null: not known yet. */
export const windowLength = computed(() => model.value?.window_length ?? null);
export const modelRate = computed(() => model.value?.sampling_rate_hz ?? null);

export const channel = computed<Channel | null>(
  () => recording.value?.channels[channelIndex.value] ?? null,
);
/** Hz of the channel as it was recorded. */
export const recordedRate = computed(() => channel.value?.samplingRateHz ?? givenRate.value);

/** How the recording's rate stands to the model's. */
export const rateState = computed<'none' | 'unknown' | 'same' | 'differs' | 'resampled'>(() => {
  const [from, to] = [recordedRate.value, modelRate.value];
  if (channel.value === null || to === null) return 'none';
  if (from === null) return 'unknown';
  if (Math.abs(from - to) <= SAME_RATE * to) return 'same';
  return isResampled.value ? 'resampled' : 'differs';
});

/** What is plotted and classified. */
export const samples = computed(() => {
  const source = channel.value?.samples ?? null;
  const [from, to] = [recordedRate.value, modelRate.value];
  if (source === null || rateState.value !== 'resampled' || !from || !to) return source;
  return resample(source, from, to);
});
/** Hz of `samples`; null: unknown, and time is counted in samples. */
export const rate = computed(() =>
  rateState.value === 'resampled' ? modelRate.value : recordedRate.value,
);

/** The window's samples; null: there is no recording, or it is shorter than a window. */
export const windowSamples = computed(() => {
  const [all, length] = [samples.value, windowLength.value];
  if (all === null || length === null || all.length < length) return null;
  return all.subarray(start.value, start.value + length);
});
/** The same as the service prepares it for the model, by the same function. */
export const normalized = computed(() => {
  const raw = windowSamples.value;
  return raw && zNormalize(Array.from(raw));
});

export function setRecording(next: Recording): void {
  batch(() => {
    recording.value = next;
    channelIndex.value = findChannel(next.channels, model.value?.channel ?? null) ?? 0;
    givenRate.value = null;
    isResampled.value = false;
    start.value = 0;
  });
}

export function selectChannel(index: number): void {
  batch(() => {
    channelIndex.value = index;
    moveTo(start.value);
  });
}

export function setResampled(value: boolean): void {
  const before = rate.value;
  batch(() => {
    isResampled.value = value;
    const after = rate.value;
    // The window stays at the same time.
    moveTo(before && after ? (start.value * after) / before : start.value);
  });
}

export function moveTo(sample: number): void {
  const [all, length] = [samples.value, windowLength.value];
  if (all === null || length === null) return;
  start.value = clampStart(sample, all.length, length);
}
