/** Signal of one electrode or another sensor. */
export interface Channel {
  readonly label: string;
  /** Whether the file contains the label; otherwise it is a number. */
  readonly isNamed: boolean;
  /** Unit of the samples, such as "uV"; null if the file does not specify it. */
  readonly unit: string | null;
  /** Null if the file does not specify it. */
  readonly samplingRateHz: number | null;
  readonly samples: Float64Array;
  /** Continuous parts in order, without overlap; the first part begins at sample 0. Gaps lie between the parts. */
  readonly segments: readonly Segment[];
}

/** Continuous part of a channel. The part ends at the first sample of the next part. */
export interface Segment {
  readonly firstSample: number;
  /** Time of the first sample in seconds since the start of the recording. */
  readonly startSeconds: number;
  /**
   * Measured sampling rate in Hz, for formats with time stamps: clocks of amplifiers deviate slightly from the rate of
   * the channel. Null if the rate of the channel is exact.
   */
  readonly measuredRateHz: number | null;
}

/** Segments of a channel without gaps. */
export const CONTINUOUS: readonly Segment[] = [
  { firstSample: 0, startSeconds: 0, measuredRateHz: null },
];

/** Event that the file marks, such as a stimulus. */
export interface Annotation {
  /** Seconds since the start of the recording; can be negative. */
  readonly onsetSeconds: number;
  /** Null if the file does not specify it. */
  readonly durationSeconds: number | null;
  /** Text of the annotation; may be empty. */
  readonly text: string;
  /** Label of the only channel of the annotation; null for all channels. */
  readonly channel: string | null;
}

/** Channel with samples that cannot be read. */
export interface UnreadableChannel extends Pick<Channel, 'label' | 'isNamed'> {
  /** Reason without the label, such as "has no samples". */
  readonly reason: string;
}

export interface Recording {
  readonly name: string;
  /** At least one channel, with at least one sample each. */
  readonly channels: readonly Channel[];
  readonly unreadable: readonly UnreadableChannel[];
  /** Sorted by onset. */
  readonly annotations: readonly Annotation[];
  /** Start of the recording as ISO 8601, in local time unless it ends with an offset; null if unknown. */
  readonly startTime: string | null;
  /** Notes for the user about how the file was read. */
  readonly notes: readonly string[];
}

/** Error for a file or text that cannot be read as a recording. The message contains the location and the fix. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError';
}

/** Newer names of four electrodes of the 10-20 system. */
const NEWER_NAMES: Readonly<Record<string, string>> = { T3: 'T7', T4: 'T8', T5: 'P7', T6: 'P8' };

/**
 * Index of a model's channel: "T3" also matches "EEG T3-Ref" and the newer name T7. Null if no channel matches.
 */
export function findChannel(
  channels: readonly Pick<Channel, 'label'>[],
  wanted: string | null,
): number | null {
  if (wanted === null) return null;
  const name = wanted.trim().toUpperCase();
  const older = Object.entries(NEWER_NAMES).find(([, newer]) => newer === name)?.[0];
  for (const candidate of [name, NEWER_NAMES[name], older]) {
    if (candidate === undefined) continue;
    const exact = channels.findIndex(({ label }) => label.trim().toUpperCase() === candidate);
    if (exact >= 0) return exact;
    const index = channels.findIndex(({ label }) => firstElectrode(label) === candidate);
    if (index >= 0) return index;
  }
  return null;
}

/** Electrode without signal type and reference: "EEG T3-A1" → "T3". */
function firstElectrode(label: string): string | undefined {
  return label
    .toUpperCase()
    .replace(/^EEG[\s:_-]*/, '')
    .split(/[\s\-_/.:(]+/)[0];
}

/** First samples of the complete windows of a signal without gaps, `step` samples apart. */
export function windowStarts(samples: number, length: number, step = length): readonly number[] {
  const count = Math.max(0, Math.floor((samples - length) / step) + 1);
  return Array.from({ length: count }, (_, index) => index * step);
}

/** Samples with their segments. */
export type SegmentedSamples = Pick<Channel, 'samples' | 'segments'>;

/** First samples of the complete windows of all segments, `step` samples apart. No window spans a gap. */
export function segmentWindowStarts(
  { samples, segments }: SegmentedSamples,
  length: number,
  step = length,
): readonly number[] {
  return segments.flatMap(({ firstSample }, index) => {
    const end = segments[index + 1]?.firstSample ?? samples.length;
    return windowStarts(end - firstSample, length, step).map((start) => firstSample + start);
  });
}

/**
 * Time of a sample in seconds since the start of the recording.
 *
 * @param samplingRateHz rate of the channel
 */
export function secondsOf(
  { segments }: Pick<Channel, 'segments'>,
  sample: number,
  samplingRateHz: number,
): number {
  let [low, high] = [0, segments.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((segments[middle] as Segment).firstSample <= sample) low = middle;
    else high = middle;
  }
  const { firstSample, startSeconds, measuredRateHz } = segments[low] as Segment;
  return startSeconds + (sample - firstSample) / (measuredRateHz ?? samplingRateHz);
}
