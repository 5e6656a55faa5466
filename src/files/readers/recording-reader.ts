import path from 'node:path';
import { readRecording } from '../../recordings/read-recording';
import {
  type Channel,
  findChannel,
  type Recording,
  RecordingError,
  type UnreadableChannel,
  windowStarts,
} from '../../recordings/recording';
import { resample } from '../../recordings/resample';
import type { InputFile } from '../input-files';
import type { RowBatch } from '../rows';
import { readBlocks } from './input-bytes';

const WINDOWS_AT_ONCE = 256;
/** As the page has it: a recording is in memory as a whole. */
const LARGEST_BYTES = 200 * 1024 ** 2;
/** Rates that differ by less are the same: files write them with few digits. */
const SAME_RATE = 0.005;

/** How recordings are cut into windows, as far as the model says. */
export interface ModelInput {
  /** Samples. */
  readonly windowLength: number;
  readonly channel: string | null;
  /** Hz. */
  readonly samplingRateHz: number | null;
}

/** As far as a person says. */
export interface WindowOptions {
  /** null: the model's, or the only one if it has no name. */
  readonly channel: string | null;
  /** Samples from one window to the next; null: a window. */
  readonly step: number | null;
  /** Hz, of recordings that do not say it. */
  readonly samplingRate: number | null;
  readonly resample: boolean;
}

/** What both say. */
export interface WindowSpec {
  readonly model: ModelInput;
  readonly options: WindowOptions;
}

export interface Windowing extends WindowSpec {
  /** Told what a person should know of how a recording was read. */
  readonly warn: (text: string) => void;
}

/** EDF, or a table of samples, cut into windows. One that cannot be is a bad row. */
export async function* readWindows(input: InputFile, cutting: Windowing): AsyncGenerator<RowBatch> {
  try {
    const recording = await open(input);
    for (const note of recording.notes) cutting.warn(`${input.name}: ${note}`);
    yield* windowsOf(recording, cutting);
  } catch (error) {
    if (!(error instanceof RecordingError)) throw error;
    yield { rows: [{ line: null, problem: withoutCells(error.message) }], fraction: 1 };
  }
}

async function open(input: InputFile): Promise<Recording> {
  const name = path.basename(input.name);
  const blocks: Buffer[] = [];
  let size = 0;
  for await (const { bytes } of readBlocks(input)) {
    blocks.push(bytes);
    size += bytes.length;
    if (size > LARGEST_BYTES) {
      throw new RecordingError(`${name}: is larger than 200 MB. Cut it into parts.`);
    }
  }
  const { EDF } = await import('edfjs');
  return readRecording(new Uint8Array(Buffer.concat(blocks)).buffer, name, EDF);
}

function* windowsOf(recording: Recording, cutting: Windowing): Generator<RowBatch> {
  const { label, rate, samples } = prepare(recording, cutting);
  const { windowLength } = cutting.model;
  const starts = windowStarts(samples.length, windowLength, cutting.options.step ?? windowLength);
  if (starts.length === 0) {
    throw new RecordingError(
      `${recording.name}: has ${samples.length} samples, fewer than a window of ${windowLength}.`,
    );
  }
  for (let at = 0; at < starts.length; at += WINDOWS_AT_ONCE) {
    const rows = starts.slice(at, at + WINDOWS_AT_ONCE).map((start, index) => ({
      line: at + index + 1,
      fields: {
        recording: recording.name,
        channel: label,
        start_sample: start,
        start_seconds: rate === null ? null : Number((start / rate).toFixed(6)),
      },
      json: null,
      signal: samples.subarray(start, start + windowLength),
      size: windowLength,
    }));
    yield { rows, fraction: Math.min(1, (at + WINDOWS_AT_ONCE) / starts.length) };
  }
}

/** @returns `rate` in Hz of the samples; null: nobody knows */
function prepare(recording: Recording, cutting: Windowing) {
  const { name } = recording;
  const { label, samples, samplingRateHz } = selectChannel(recording, cutting);
  const rate = samplingRateHz ?? cutting.options.samplingRate;
  const wanted = cutting.model.samplingRateHz;
  if (wanted === null) return { label, rate, samples };
  if (rate === null) throw unknownSamplingRate(name);
  requireSamplingRate(name, rate, cutting);
  if (isRate(rate, wanted)) return { label, rate, samples };
  return { label, rate: wanted, samples: resample(samples, rate, wanted) };
}

const isRate = (rate: number, wanted: number) => Math.abs(rate - wanted) <= SAME_RATE * wanted;

export function unknownSamplingRate(name: string): RecordingError {
  return new RecordingError(`${name}: does not say its sampling rate: use --sampling-rate.`);
}

/** @throws RecordingError: it is not the model's, and nobody has asked to resample */
export function requireSamplingRate(
  name: string,
  rate: number,
  { model, options }: WindowSpec,
): void {
  const { samplingRateHz: wanted } = model;
  if (wanted === null || options.resample || isRate(rate, wanted)) return;
  const rates = `was recorded at ${rate} Hz, the model expects ${wanted} Hz`;
  throw new RecordingError(`${name}: ${rates}: use --resample.`);
}

/** A page may quote a cell; what a run says of its inputs does not. */
function withoutCells(message: string): string {
  return message.replace(/is ".*", expected a number/s, 'is not a number');
}

/** The channels of a file, as far as their choice needs them. */
export interface FileChannels<One extends Pick<Channel, 'label' | 'isNamed'>> {
  /** Of the file. */
  readonly name: string;
  readonly channels: readonly One[];
  readonly unreadable: readonly UnreadableChannel[];
}

/**
 * The channel that the user names, or else the model. No other channel is taken in its place, except where the file
 * has one channel only, and no name for it.
 *
 * @throws RecordingError that names the channel
 */
export function selectChannel<One extends Pick<Channel, 'label' | 'isNamed'>>(
  { name, channels, unreadable }: FileChannels<One>,
  { options, model }: WindowSpec,
): One {
  const wanted = options.channel ?? model.channel;
  const all = [...unreadable, ...channels];
  const found = findChannel(all, wanted);
  const broken = found === null ? undefined : unreadable[found];
  if (broken) throw new RecordingError(`${name}: channel “${broken.label}” ${broken.reason}.`);
  const channel = found === null ? undefined : channels[found - unreadable.length];
  if (channel) return channel;
  const [only] = channels;
  const isAlone = only && all.length === 1 && options.channel === null;
  if (isAlone && (wanted === null || !only.isNamed)) return only;
  const problem = wanted === null ? 'has several channels' : `has no channel “${wanted}”`;
  const there = channels.map(({ label }) => label).join(', ');
  throw new RecordingError(`${name}: ${problem}: use --channel with one of ${there}.`);
}
