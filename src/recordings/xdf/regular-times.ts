import { requireSegmentCount } from '../limits';
import { fitLine } from './robust-line';

/** Step between two time stamps that is a gap: the larger of both. */
const GAP_SECONDS = 1;
const GAP_SAMPLES = 500;
/** Step that is a gap in samples, for streams that can drop samples. */
const DROPPED_SAMPLES = 1.5;

/** Continuous samples with the line of their time stamps. */
export interface RegularPart {
  readonly firstSample: number;
  readonly startSeconds: number;
  readonly samples: number;
  /** Measured sampling rate in Hz; null for a part of one sample. */
  readonly rateHz: number | null;
}

/** Mean sampling rate of all parts in Hz; null if all parts have one sample. */
export function meanRate(parts: readonly RegularPart[]): number | null {
  let [intervals, seconds] = [0, 0];
  for (const { samples, rateHz } of parts) {
    if (rateHz === null) continue;
    intervals += samples - 1;
    seconds += (samples - 1) / rateHz;
  }
  return seconds > 0 ? intervals / seconds : null;
}

/**
 * Finds the continuous parts of a regular stream and replaces the jitter of their time stamps by a line, with the
 * limits of pyxdf 1.17.
 *
 * @param canDropSamples whether smaller gaps are missing samples rather than jitter
 * @param name file name
 * @returns null if the time stamps of a part do not increase
 * @throws RecordingError: too many parts
 */
export function findRegularParts(
  stamps: Float64Array,
  samplingRateHz: number,
  canDropSamples: boolean,
  name: string,
): readonly RegularPart[] | null {
  const limit = canDropSamples
    ? DROPPED_SAMPLES / samplingRateHz
    : Math.max(GAP_SECONDS, GAP_SAMPLES / samplingRateHz);
  const parts: RegularPart[] = [];
  let first = 0;
  for (let index = 1; index <= stamps.length; index++) {
    const step = (stamps[index] as number) - (stamps[index - 1] as number);
    if (index < stamps.length && Math.abs(step) <= limit) continue;
    const { intercept, slope } = fitLine(stamps.subarray(first, index));
    const isSingle = index - first === 1;
    const rate = 1 / slope;
    if (!Number.isFinite(intercept)) return null;
    if (!isSingle && !(rate > 0 && rate < Infinity)) return null;
    parts.push({
      firstSample: first,
      startSeconds: intercept,
      samples: index - first,
      rateHz: isSingle ? null : rate,
    });
    requireSegmentCount(parts.length, name);
    first = index;
  }
  return parts;
}
