import { computed, effect } from '@preact/signals';
import type { Channel } from '../../../recordings/recording';
import { unitFactor } from '../../../recordings/units';
import { recording } from '../state';
import { createTimeline, type Gap } from '../timeline';
import { filtered } from './display-filter';
import { Envelope } from './envelope';
import { assumedRate, selection } from './selection';
import type { Trace } from './trace-raster';
import type { Extent } from './view';

/** Maximum number of samples from which baseline and range of a channel are computed. */
const MAX_INSPECTED = 20_000;
const QUANTILE = 0.01;

export interface ChannelTrace extends Trace {
  readonly channel: Channel;
  /** Whether the model takes the channel. */
  readonly isUsed: boolean;
  /** Range of the samples without outliers, in the unit of the scale. */
  readonly range: number;
}

/** Unit of the scale; empty if the channels have different units or none. */
export const scaleUnit = computed(() => {
  const channels = recording.value?.channels ?? [];
  return channels.every(({ unit }) => unit !== null && unitFactor(unit, 'uV') !== null) ? 'µV' : '';
});

/** All channels as recorded. */
const recorded = computed<readonly ChannelTrace[]>(() =>
  (recording.value?.channels ?? []).map((channel) => {
    const rate = channel.samplingRateHz ?? assumedRate.value;
    const { segments } = createTimeline(channel.segments, channel.samples.length, rate);
    const factor = scaleUnit.value === '' ? 1 : (unitFactor(channel.unit ?? '', 'uV') ?? 1);
    const envelope = new Envelope(channel.samples);
    const isUsed = selection.value?.channels.includes(channel) ?? false;
    return {
      channel,
      isUsed,
      segments,
      rate,
      factor,
      envelope,
      ...levelOf(channel.samples, factor),
    };
  }),
);

/** All channels as the page draws them: filtered, or as recorded. */
export const traces = computed<readonly ChannelTrace[]>(() => {
  const signals = filtered.value;
  if (signals === null) return recorded.value;
  return recorded.value.map((trace, index) => {
    const samples = signals[index] ?? trace.channel.samples;
    return { ...trace, envelope: new Envelope(samples), ...levelOf(samples, trace.factor) };
  });
});

/** Prepares long ranges between frames, before a zoom needs them. */
export function prepareOnChange(): void {
  effect(() => {
    const rest = [...traces.value];
    let timer: ReturnType<typeof setTimeout>;
    const prepareNext = () => {
      rest.shift()?.envelope.prepare();
      if (rest.length > 0) timer = setTimeout(prepareNext);
    };
    timer = setTimeout(prepareNext);
    return () => clearTimeout(timer);
  });
}

/** Time of the whole recording; null without a recording. */
export const extent = computed<Extent | null>(() => {
  const all = recorded.value;
  if (all.length === 0) return null;
  const starts = all.map(({ segments }) => segments[0]?.startSeconds ?? 0);
  const ends = all.map(({ segments, envelope: { samples }, rate }) => {
    const { firstSample, startSeconds, measuredRateHz } = segments.at(-1) ?? {
      firstSample: 0,
      startSeconds: 0,
      measuredRateHz: null,
    };
    return startSeconds + (samples.length - firstSample) / (measuredRateHz ?? rate);
  });
  return { from: Math.min(...starts), to: Math.max(...ends) };
});

/** Gaps of the channels of the model, or of the first channel. */
export const gaps = computed<readonly Gap[]>(() => {
  const [first] = recorded.value;
  if (selection.value) return selection.value.timeline.gaps;
  if (!first) return [];
  return createTimeline(first.segments, first.envelope.samples.length, first.rate).gaps;
});

/** Median as the baseline, and range without outliers. */
function levelOf(
  samples: Float64Array | Float32Array,
  factor: number,
): { readonly baseline: number; readonly range: number } {
  const every = Math.max(1, Math.ceil(samples.length / MAX_INSPECTED));
  const inspected: number[] = [];
  for (let i = 0; i < samples.length; i += every) {
    const value = samples[i] as number;
    if (Number.isFinite(value)) inspected.push(value);
  }
  const sorted = Float64Array.from(inspected).sort();
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  return { baseline: at(0.5), range: (at(1 - QUANTILE) - at(QUANTILE)) * factor };
}
