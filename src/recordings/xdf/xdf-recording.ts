import { AnnotationList } from '../limits';
import { skippedNotes } from '../notes';
import {
  type Channel,
  type Recording,
  RecordingError,
  type Segment,
  type UnreadableChannel,
} from '../recording';
import { readStreams, type Stream } from './read-streams';
import { isEvents, type TimedStream, toTimed } from './timed-stream';

/**
 * Reads XDF (https://github.com/sccn/xdf/wiki/Specifications): aligns the clocks of all streams, removes the jitter of
 * regular streams, and converts streams of events to annotations. The first time stamp of all streams is second 0.
 *
 * @param bytes decompressed
 * @throws RecordingError
 */
export function readXdf(bytes: Uint8Array, name: string): Recording {
  const { streams, startTime, notes: problems } = readStreams(bytes, name);
  const notes = [...problems];
  const timed = streams.map((stream) => toTimed(stream, name, notes));
  const origin = firstSecond(timed);
  const isShared = findSharedLabels(timed);
  const channels: Channel[] = [];
  const unreadable: UnreadableChannel[] = [];
  const found = new AnnotationList();
  for (const one of timed) {
    if (isEvents(one)) addEvents(one.stream, origin, found);
    else addChannels(one, origin, isShared, { channels, unreadable });
  }
  notes.push(...skippedNotes(unreadable), ...found.notes());
  if (channels.length === 0) {
    throw new RecordingError([`${name}: contains no stream of samples.`, ...notes].join(' '));
  }
  return { name, channels, unreadable, annotations: found.sorted(), startTime, notes };
}

function firstSecond(timed: readonly TimedStream[]): number {
  let first = Number.POSITIVE_INFINITY;
  for (const { stream, parts, problem } of timed) {
    if (problem !== null) continue;
    const starts = parts.length > 0 ? parts.map(({ startSeconds }) => startSeconds) : stream.stamps;
    for (const start of starts) first = Math.min(first, start);
  }
  return first;
}

function addEvents({ stamps, values, texts }: Stream, origin: number, found: AnnotationList): void {
  for (let index = 0; index < stamps.length; index++) {
    const numbers = values.map((samples) => String(samples[index]));
    for (const text of texts[index] ?? numbers) {
      const onsetSeconds = (stamps[index] as number) - origin;
      if (text !== '') found.add({ onsetSeconds, durationSeconds: null, text, channel: null });
    }
  }
}

function addChannels(
  { stream: { header, values }, parts, samplingRateHz, problem }: TimedStream,
  origin: number,
  isShared: (label: string) => boolean,
  to: { readonly channels: Channel[]; readonly unreadable: UnreadableChannel[] },
): void {
  const segments: Segment[] = parts.map(({ firstSample, startSeconds, rateHz }) => ({
    firstSample,
    startSeconds: startSeconds - origin,
    measuredRateHz: rateHz,
  }));
  const { labels, units, channelCount } = header;
  for (let index = 0; index < channelCount; index++) {
    const isNamed = labels[index] !== null;
    const own = labels[index] ?? `${header.name} ${index + 1}`;
    const label = isShared(own) ? `${own} (${header.name})` : own;
    const samples = values[index];
    const bad = samples?.findIndex((value) => !Number.isFinite(value)) ?? -1;
    const isBad = bad >= 0 ? `has no finite number as sample ${bad + 1}` : null;
    const reason = problem ?? isBad;
    if (reason !== null || samples === undefined) {
      to.unreadable.push({ label, isNamed, reason: reason ?? 'has no samples' });
      continue;
    }
    to.channels.push({
      label,
      isNamed,
      unit: units[index] ?? null,
      samplingRateHz,
      samples,
      segments,
    });
  }
}

/** Finds labels that several streams have; their channels are named "Cz (stream)". */
function findSharedLabels(timed: readonly TimedStream[]): (label: string) => boolean {
  const streams = new Map<string, number>();
  for (const one of timed.filter((stream) => !isEvents(stream))) {
    for (const label of new Set(one.stream.header.labels)) {
      if (label !== null) streams.set(label, (streams.get(label) ?? 0) + 1);
    }
  }
  return (label) => (streams.get(label) ?? 0) > 1;
}
