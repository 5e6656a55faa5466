import { batch, computed, signal } from '@preact/signals';
import {
  type Channel,
  findChannel,
  type Recording,
  type SegmentedSamples,
  segmentWindowStarts,
} from '../../recordings/recording';
import { resampleSegments } from '../../recordings/resample';
import { isSameRate } from '../../recordings/sampling-rate';
import { zNormalize } from '../../tasks/signal-classification/z-normalize';
import { info } from '../shared/info';
import { createTimeline, type Timeline } from './timeline';
import { clampStart, shiftStart } from './windows';

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

/** Channel at the sampling rate of the model; null if the user did not select it, or it is too large. */
const resampled = computed<SegmentedSamples | null>(() => {
  const [from, to] = [recordedRate.value, modelRate.value];
  if (channel.value === null || !isResampled.value || !from || !to) return null;
  return resampleSegments(channel.value, from, to);
});

/** Comparison of the sampling rates of recording and model. */
export const rateState = computed<'none' | 'unknown' | 'same' | 'differs' | 'resampled'>(() => {
  const [from, to] = [recordedRate.value, modelRate.value];
  if (channel.value === null || to === null) return 'none';
  if (from === null) return 'unknown';
  if (isSameRate(from, to)) return 'same';
  return resampled.value !== null ? 'resampled' : 'differs';
});

/** Signal that the page plots and classifies. */
export const shown = computed<SegmentedSamples | null>(() =>
  rateState.value === 'resampled' ? resampled.value : channel.value,
);
export const samples = computed(() => shown.value?.samples ?? null);
/** Sampling rate of `samples` in Hz; null if unknown. */
export const rate = computed(() =>
  rateState.value === 'resampled' ? modelRate.value : recordedRate.value,
);

/** Time axis of the signal. */
export const timeline = computed<Timeline | null>(
  () => shown.value && createTimeline(shown.value.segments, shown.value.samples.length, rate.value),
);
/** First samples of the adjacent windows, none of which spans a gap. Empty if no segment is as long as a window. */
export const adjacentStarts = computed<readonly number[]>(() =>
  shown.value === null || windowLength.value === null
    ? []
    : segmentWindowStarts(shown.value, windowLength.value),
);

/** Samples of the window; null without a recording, or if no segment is as long as a window. */
export const windowSamples = computed(() => {
  const [all, length] = [samples.value, windowLength.value];
  if (all === null || length === null || adjacentStarts.value.length === 0) return null;
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
    moveTo(0);
  });
}

export function selectChannel(index: number): void {
  const time = timeline.value?.toSeconds(start.value) ?? 0;
  batch(() => {
    channelIndex.value = index;
    moveToTime(time);
  });
}

export function setResampled(value: boolean): void {
  const time = timeline.value?.toSeconds(start.value) ?? 0;
  batch(() => {
    isResampled.value = value;
    moveToTime(time);
  });
}

/** Keeps the time of the window when the samples change. */
function moveToTime(seconds: number): void {
  moveTo(timeline.value?.toSample(seconds) ?? start.value);
}

/** Moves the window to the nearest position within a segment. */
export function moveTo(sample: number): void {
  const [signal, length] = [shown.value, windowLength.value];
  if (signal === null || length === null) return;
  start.value = clampStart(sample, signal, length) ?? 0;
}

/** Moves the window by samples, over gaps. */
export function moveBy(by: number): void {
  const [signal, length] = [shown.value, windowLength.value];
  if (signal === null || length === null) return;
  start.value = shiftStart(start.value, by, signal, length) ?? 0;
}
