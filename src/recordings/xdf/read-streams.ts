import { MAX_SAMPLES } from '../limits';
import { RecordingError } from '../recording';
import { ByteReader, DamageError } from './bytes';
import { type Chunk, MAX_DAMAGED, TAG, visitChunks } from './chunks';
import type { ClockOffsets } from './clock';
import {
  parseSampleCount,
  parseStartTime,
  parseStreamHeader,
  readSamples,
  type SampleVisitor,
  type StreamHeader,
} from './stream';

const MAX_STREAMS = 256;
/** Maximum number of clock offsets of a file: recorders write an offset of each stream every 5 s. */
const MAX_OFFSETS = 100_000;

/** Maximum number of texts of a file. */
const MAX_TEXTS = 1_000_000;

/** Stream with its samples; time stamps are in seconds of the clock of the stream. */
export interface Stream {
  readonly header: StreamHeader;
  readonly stamps: Float64Array;
  /** Samples of each channel; empty for texts. */
  readonly values: readonly Float64Array[];
  /** Texts of each sample, one per channel; empty for numbers. */
  readonly texts: readonly (readonly string[])[];
  readonly offsets: ClockOffsets;
  /** Number of samples that the footer specifies; null without a footer. */
  readonly declaredSamples: number | null;
}

export interface Streams {
  readonly streams: readonly Stream[];
  /** Start of the recording as ISO 8601; null if unknown. */
  readonly startTime: string | null;
  readonly notes: readonly string[];
}

/** Stream while its chunks are read. */
interface OpenStream {
  readonly header: StreamHeader;
  samples: number;
  /** Start and end of the content of each chunk of samples, in turn. */
  readonly chunks: number[];
  readonly times: number[];
  readonly values: number[];
  declaredSamples: number | null;
}

/**
 * Reads the streams of a file. The first pass validates the chunks and counts the samples, before memory is allocated;
 * the second pass stores the samples of the valid chunks.
 *
 * @throws RecordingError
 */
export function readStreams(bytes: Uint8Array, name: string): Streams {
  const open = new Map<number, OpenStream>();
  let startTime: string | null = null;
  let offsets = 0;
  const damaged = visitChunks(bytes, ({ tag, content }) => {
    if (tag === TAG.fileHeader) startTime = parseStartTime(content);
    if (tag === TAG.streamHeader) {
      const id = content.uint32();
      if (open.has(id)) throw new DamageError('a second header of a stream');
      const header = parseStreamHeader(content);
      open.set(id, {
        header,
        samples: 0,
        chunks: [],
        times: [],
        values: [],
        declaredSamples: null,
      });
      if (open.size > MAX_STREAMS)
        throw new RecordingError(`${name}: has more than ${MAX_STREAMS} streams. Split the file.`);
    }
    if (tag === TAG.samples) {
      const stream = streamOf(open, content);
      const start = content.at;
      stream.samples += readSamples(content, stream.header, null);
      stream.chunks.push(start, content.at);
    }
    if (tag === TAG.clockOffset) {
      const stream = streamOf(open, content);
      const [time, value] = [content.float64(), content.float64()];
      stream.times.push(time);
      stream.values.push(value);
      if (++offsets > MAX_OFFSETS)
        throw new RecordingError(`${name}: has more than ${MAX_OFFSETS} clock offsets.`);
    }
    if (tag === TAG.streamFooter) {
      const stream = streamOf(open, content);
      stream.declaredSamples = parseSampleCount(content);
    }
  });
  if (damaged > MAX_DAMAGED) {
    throw new RecordingError(`${name}: is damaged at more than ${MAX_DAMAGED} places.`);
  }
  requireMemory(open, name);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const streams = [...open.values()].map((stream) => storeSamples(view, stream));
  const notes = damaged === 0 ? [] : [describeDamage(damaged)];
  return { streams, startTime, notes };
}

function describeDamage(places: number): string {
  const what = places === 1 ? '1 place, which is' : `${places} places, which are`;
  return `The file is damaged at ${what} skipped.`;
}

function streamOf<Value>(streams: ReadonlyMap<number, Value>, content: Chunk['content']): Value {
  const stream = streams.get(content.uint32());
  if (stream === undefined) throw new DamageError('a chunk of an unknown stream');
  return stream;
}

function requireMemory(open: ReadonlyMap<number, OpenStream>, name: string): void {
  let [numbers, texts] = [0, 0];
  for (const { header, samples } of open.values()) {
    if (header.format === 'string') texts += samples * header.channelCount;
    else numbers += samples * (header.channelCount + 1);
  }
  if (numbers > MAX_SAMPLES)
    throw new RecordingError(`${name}: has more than ${MAX_SAMPLES} samples. Split the recording.`);
  if (texts > MAX_TEXTS)
    throw new RecordingError(`${name}: has more than ${MAX_TEXTS} texts. Split the recording.`);
}

/** Stores the samples of all chunks of a stream. */
function storeSamples(view: DataView, stream: OpenStream): Stream {
  const { header, samples, chunks, declaredSamples } = stream;
  const isText = header.format === 'string';
  const stamps = new Float64Array(samples);
  const values = Array.from(
    { length: isText ? 0 : header.channelCount },
    () => new Float64Array(samples),
  );
  const texts: string[][] = [];
  const interval = header.samplingRateHz > 0 ? 1 / header.samplingRateHz : 0;
  let at = -1;
  let channel = 0;
  let last = 0;
  const visitor: SampleVisitor = {
    sample(stamp) {
      at++;
      channel = 0;
      last = stamp ?? last + interval;
      stamps[at] = last;
      if (isText) texts.push([]);
    },
    value(value) {
      if (typeof value === 'string') (texts[at] as string[]).push(value);
      else (values[channel++] as Float64Array)[at] = value;
    },
  };
  for (let index = 0; index < chunks.length; index += 2) {
    const content = new ByteReader(view, chunks[index] as number, chunks[index + 1] as number);
    readSamples(content, header, visitor);
  }
  const offsets = {
    times: Float64Array.from(stream.times),
    values: Float64Array.from(stream.values),
  };
  return { header, stamps, values, texts, offsets, declaredSamples };
}
