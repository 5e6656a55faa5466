/** One electrode, or whatever else was recorded, over time. */
export interface Channel {
  readonly label: string;
  /** Whether the file says the label; else it is a number. */
  readonly isNamed: boolean;
  /** Of the samples, such as "uV"; null: the file does not say. */
  readonly unit: string | null;
  /** null: the file does not say. */
  readonly samplingRateHz: number | null;
  readonly samples: Float64Array;
}

/** A channel that is in the file, and whose samples cannot be read. */
export interface UnreadableChannel extends Pick<Channel, 'label' | 'isNamed'> {
  /** Without its label, such as "has no samples". */
  readonly reason: string;
}

export interface Recording {
  readonly name: string;
  /** At least one, each with at least one sample. */
  readonly channels: readonly Channel[];
  readonly unreadable: readonly UnreadableChannel[];
  /** What a person should know about how it was read. */
  readonly notes: readonly string[];
}

/** A file or a text that cannot be read as a recording; the message says where, and what to do. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError';
}

/** Newer names of four electrodes (T7 is T3 of the 10-20 system). */
const NEWER_NAMES: Readonly<Record<string, string>> = { T3: 'T7', T4: 'T8', T5: 'P7', T6: 'P8' };

/**
 * Index of the channel that a model was made for: "T3" is found as "T3", "EEG T3-Ref" or under its
 * newer name T7. null: there is none.
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

/** "EEG T3-A1" → "T3": what comes before the reference, without the kind of signal. */
function firstElectrode(label: string): string | undefined {
  return label
    .toUpperCase()
    .replace(/^EEG[\s:_-]*/, '')
    .split(/[\s\-_/.:(]+/)[0];
}

/** Where windows of `length` samples begin, `step` apart; what is left at the end is left out. */
export function windowStarts(samples: number, length: number, step = length): readonly number[] {
  const count = Math.max(0, Math.floor((samples - length) / step) + 1);
  return Array.from({ length: count }, (_, index) => index * step);
}
