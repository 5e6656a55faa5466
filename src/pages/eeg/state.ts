import { batch, computed, signal } from '@preact/signals';
import { type Channel, findChannel, type Recording } from '../../recordings/recording';
import { resample } from '../../recordings/resample';
import { zNormalize } from '../../tasks/signal-classification/z-normalize';
import { info } from '../shared/info';
import { clampStart } from './windows';

/** Relative difference below which two sampling rates are equal: files contain few digits. */
const SAME_RATE = 0.005;

export const recording = signal<Recording | null>(null);
export const channelIndex = signal(0);
/** Sampling rate in Hz from the user, for a recording without a sampling rate. */
export const givenRate = signal<number | null>(null);
export const isResampled = signal(false);
/** First sample of the window. */
export const start = signal(0);

export const model = computed(() => info.value?.model ?? null);
/** Window length in samples; null before the response of /info. */
export const windowLength = computed(() => model.value?.window_length ?? null);
export const modelRate = computed(() => model.value?.sampling_rate_hz ?? null);

export const channel = computed<Channel | null>(
  () => recording.value?.channels[channelIndex.value] ?? null,
);
/** Sampling rate of the channel in Hz. */
export const recordedRate = computed(() => channel.value?.samplingRateHz ?? givenRate.value);

/** Comparison of the sampling rates of recording and model. */
export const rateState = computed<'none' | 'unknown' | 'same' | 'differs' | 'resampled'>(() => {
  const [from, to] = [recordedRate.value, modelRate.value];
  if (channel.value === null || to === null) return 'none';
  if (from === null) return 'unknown';
  if (Math.abs(from - to) <= SAME_RATE * to) return 'same';
  return isResampled.value ? 'resampled' : 'differs';
});

/** Samples that the page plots and classifies. */
export const samples = computed(() => {
  const source = channel.value?.samples ?? null;
  const [from, to] = [recordedRate.value, modelRate.value];
  if (source === null || rateState.value !== 'resampled' || !from || !to) return source;
  return resample(source, from, to);
});
/** Sampling rate of `samples` in Hz; null if unknown. */
export const rate = computed(() =>
  rateState.value === 'resampled' ? modelRate.value : recordedRate.value,
);

/** Samples of the window; null without a recording, or if the recording is too short. */
export const windowSamples = computed(() => {
  const [all, length] = [samples.value, windowLength.value];
  if (all === null || length === null || all.length < length) return null;
  return all.subarray(start.value, start.value + length);
});
/** Samples of the window after the server's preprocessing. */
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
    // Keeps the time of the window.
    moveTo(before && after ? (start.value * after) / before : start.value);
  });
}

export function moveTo(sample: number): void {
  const [all, length] = [samples.value, windowLength.value];
  if (all === null || length === null) return;
  start.value = clampStart(sample, all.length, length);
}
