import { computed } from '@preact/signals';
import type { StreamOptions } from '../../../client';
import { framesOf } from '../channels/select-channels';
import { isMultichannel, selection } from '../channels/selection';
import { rate, rateState, recordedRate, samples, timeline } from '../state';

/** Signal that the live stream plays. */
export interface LiveSource {
  /** Number of samples, or of frames of several channels. */
  readonly length: number;
  /** Sampling rate in Hz; null if unknown. */
  readonly rate: number | null;
  readonly hasGaps: boolean;
  readonly options: Pick<StreamOptions, 'channels' | 'format'>;
  /** Samples `from` to `to` (exclusive), or frames one after another. */
  read(from: number, to: number): Float64Array | Float32Array;
}

/** Sampling rate of the samples of one channel in Hz; null if unknown. The server resamples. */
const knownRate = computed(() =>
  rateState.value === 'resampled' ? rate.value : recordedRate.value,
);

/** Null without a signal. */
export const liveSource = computed<LiveSource | null>(() =>
  isMultichannel.value ? channelsSource() : channelSource(),
);

function channelSource(): LiveSource | null {
  const all = samples.value;
  if (all === null) return null;
  return {
    length: all.length,
    rate: knownRate.value,
    hasGaps: Boolean(timeline.value?.gaps.length),
    options: {},
    read: (from, to) => all.subarray(from, to),
  };
}

function channelsSource(): LiveSource | null {
  const chosen = selection.value;
  if (chosen === null) return null;
  return {
    length: chosen.length,
    rate: chosen.rate,
    hasGaps: chosen.timeline.gaps.length > 0,
    options: { channels: chosen.names, format: 'f32' },
    read: (from, to) => framesOf(chosen, from, to),
  };
}
