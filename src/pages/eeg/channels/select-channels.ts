import { type Channel, findChannel, type Recording } from '../../../recordings/recording';
import { unitFactor } from '../../../recordings/units';
import { createTimeline, type Timeline } from '../timeline';

/** Channels of the recording that the model takes. */
export interface Selection {
  /** Names of the found channels, as the model writes them. */
  readonly names: readonly string[];
  readonly channels: readonly Channel[];
  /** Factors to the unit of the model. */
  readonly factors: readonly number[];
  /** Sampling rate in Hz. */
  readonly rate: number;
  /** Number of samples of each channel. */
  readonly length: number;
  /** Channels of the model that the recording lacks. */
  readonly missing: readonly string[];
  readonly timeline: Timeline;
}

/** Channels that the model cannot take. */
export interface SelectionProblem {
  readonly title: string;
  readonly advice: string;
}

export interface ModelChannels {
  readonly channels: readonly string[];
  readonly unit: string | null;
  /** Whether the server interpolates missing channels. */
  readonly interpolates: boolean;
  /** Sampling rate in Hz for recordings that do not specify it. */
  readonly assumedRate: number;
}

/** Finds the channels of a model in a recording, also as "EEG T3-Ref" or by the newer name T7. */
export function selectChannels(
  { channels }: Recording,
  { channels: inputs, unit, interpolates, assumedRate: usual }: ModelChannels,
): Selection | SelectionProblem {
  const found = inputs.flatMap((name) => {
    const channel = channels[findChannel(channels, name) ?? -1];
    return channel ? [{ name, channel }] : [];
  });
  const names = found.map(({ name }) => name);
  const missing = inputs.filter((name) => !names.includes(name));
  const [first] = found;
  if (!first || (missing.length > 0 && !interpolates)) {
    return {
      title: `The recording has no ${missing.length === 1 ? 'channel' : 'channels'} ${missing.join(', ')}.`,
      advice: `The model takes ${inputs.join(', ')}. Open a recording with channels of these names.`,
    };
  }
  const rateOf = ({ samplingRateHz }: Channel) => samplingRateHz ?? usual;
  const rate = rateOf(first.channel);
  const other = found.find(
    ({ channel }) => rateOf(channel) !== rate || !haveSameSegments(channel, first.channel),
  );
  if (other) {
    return {
      title: `“${other.channel.label}” has another sampling rate or other gaps than “${first.channel.label}”.`,
      advice: 'Export the channels of the model with one rate.',
    };
  }
  const factors = found.map(({ channel }) => factorOf(channel, unit));
  const foreign = found[factors.indexOf(null)];
  if (foreign) {
    return {
      title: `“${foreign.channel.label}” is in ${foreign.channel.unit}, the model takes ${unit}.`,
      advice: 'Export the channels of the model in volts, mV, µV or nV.',
    };
  }
  const { length } = first.channel.samples;
  return {
    names,
    channels: found.map(({ channel }) => channel),
    factors: factors as number[],
    rate,
    length,
    missing,
    timeline: createTimeline(first.channel.segments, length, rate),
  };
}

/** A channel or model without a unit is not converted. Null: the units measure different things. */
function factorOf(channel: Channel, unit: string | null): number | null {
  return channel.unit === null || unit === null ? 1 : unitFactor(channel.unit, unit);
}

function haveSameSegments(a: Channel, b: Channel): boolean {
  return (
    a.samples.length === b.samples.length &&
    a.segments.length === b.segments.length &&
    a.segments.every((segment, index) => {
      const other = b.segments[index];
      return (
        segment.firstSample === other?.firstSample && segment.startSeconds === other.startSeconds
      );
    })
  );
}

/** Samples `from` to `to` (exclusive) as interleaved frames, in the unit of the model. */
export function framesOf(
  { channels, factors }: Pick<Selection, 'channels' | 'factors'>,
  from: number,
  to: number,
): Float32Array {
  const width = channels.length;
  const frames = new Float32Array((to - from) * width);
  for (const [index, { samples }] of channels.entries()) {
    const factor = factors[index] as number;
    for (let i = from, at = index; i < to; i++, at += width) {
      frames[at] = (samples[i] as number) * factor;
    }
  }
  return frames;
}
