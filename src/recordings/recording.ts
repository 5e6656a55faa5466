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

/** First samples of the complete windows, `step` samples apart. */
export function windowStarts(samples: number, length: number, step = length): readonly number[] {
  const count = Math.max(0, Math.floor((samples - length) / step) + 1);
  return Array.from({ length: count }, (_, index) => index * step);
}
