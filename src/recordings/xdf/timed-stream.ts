import { isLastOffsetDamaged, synchronize } from './clock';
import type { Stream } from './read-streams';
import { findRegularParts, meanRate, type RegularPart } from './regular-times';

/** Relative difference between the nominal and the measured sampling rate that is too large for clock drift. */
const RATE_TOLERANCE = 0.005;

/** Stream whose time stamps are in seconds of the recorder. */
export interface TimedStream {
  readonly stream: Stream;
  /** Parts of a regular stream; empty for events. */
  readonly parts: readonly RegularPart[];
  /** Sampling rate in Hz; 0 for events. */
  readonly samplingRateHz: number;
  /** Reason why the times cannot be used; null if they can. */
  readonly problem: string | null;
}

/**
 * Aligns the time stamps of a stream with the recorder and removes their jitter.
 *
 * @param name file name
 * @param notes list that notes are added to
 * @throws RecordingError
 */
export function toTimed(stream: Stream, name: string, notes: string[]): TimedStream {
  const { header, offsets } = stream;
  const events = { parts: [], samplingRateHz: 0 };
  if (stream.stamps.length === 0) return { stream, ...events, problem: 'has no samples' };
  const isDamaged =
    stream.declaredSamples !== null &&
    stream.stamps.length > stream.declaredSamples &&
    isLastOffsetDamaged(offsets);
  const cut = isDamaged ? truncate(stream) : stream;
  if (isDamaged) {
    notes.push(
      `The stream “${header.name}” ends with a damaged clock offset: samples behind its ${stream.declaredSamples} samples are skipped.`,
    );
  }
  synchronize(cut.stamps, cut.offsets);
  if (header.samplingRateHz === 0) {
    const areFinite = cut.stamps.every(Number.isFinite);
    const isRegular = header.format !== 'string' && header.channelCount > 1;
    const reason = isRegular ? 'belongs to a stream without a sampling rate' : null;
    return { stream: cut, ...events, problem: areFinite ? reason : 'has no time stamps' };
  }
  const { samplingRateHz, canDropSamples } = header;
  const parts = findRegularParts(cut.stamps, samplingRateHz, canDropSamples, name);
  const nominal = { stream: cut, parts: parts ?? [], samplingRateHz };
  if (parts === null) return { ...nominal, problem: 'has time stamps that do not increase' };
  const measured = meanRate(parts);
  if (measured === null || Math.abs(measured - samplingRateHz) <= RATE_TOLERANCE * samplingRateHz)
    return { ...nominal, problem: null };
  const rate = Number(measured.toPrecision(6));
  notes.push(
    `The stream “${header.name}” has a measured sampling rate of ${rate} Hz, which is used; its header specifies ${samplingRateHz} Hz.`,
  );
  return { ...nominal, samplingRateHz: rate, problem: null };
}

/** Removes the last clock offset and the samples that the footer does not count. */
function truncate(stream: Stream): Stream {
  const samples = stream.declaredSamples ?? stream.stamps.length;
  return {
    ...stream,
    stamps: stream.stamps.subarray(0, samples),
    values: stream.values.map((values) => values.subarray(0, samples)),
    texts: stream.texts.slice(0, samples),
    offsets: {
      times: stream.offsets.times.subarray(0, -1),
      values: stream.offsets.values.subarray(0, -1),
    },
  };
}

/** Streams of texts, and streams of one number without a sampling rate, are events. */
export function isEvents({ stream: { header, stamps }, problem }: TimedStream): boolean {
  if (problem !== null && stamps.length > 0) return false;
  const isNumber = header.samplingRateHz === 0 && header.channelCount === 1;
  return header.format === 'string' || isNumber;
}
