import path from 'node:path';
import { readRecording } from '../../../recordings/read-recording';
import {
  type Channel,
  findChannel,
  type Recording,
  RecordingError,
} from '../../../recordings/recording';
import { resample } from '../../../recordings/resample';
import { windowStarts } from '../../../recordings/windows';
import { behind, type ReadRow, type RowReader } from '../rows';
import { InputBytes } from './bytes';
import type { Input } from './expand';

const WINDOWS_AT_ONCE = 256;
/** As the page has it: a recording is in memory as a whole. */
const LARGEST_BYTES = 200 * 1024 ** 2;
/** Rates that differ by less are the same: files write them with few digits. */
const SAME_RATE = 0.005;

/** How a recording becomes windows. */
export interface Cutting {
  /** Samples. */
  readonly windowLength: number;
  /** Samples from one window to the next. */
  readonly step: number;
  /** As a person named it; null: the model's, or the only one. */
  readonly channel: string | null;
  readonly modelChannel: string | null;
  /** Hz; null: the model does not say. */
  readonly modelRate: number | null;
  /** Hz, of recordings that do not say it. */
  readonly givenRate: number | null;
  readonly resample: boolean;
  /** Told what a person should know of how a recording was read. */
  readonly note: (text: string) => void;
}

/** EDF, or a table of samples, cut into windows. */
export class RecordingReader implements RowReader {
  readonly columns = ['recording', 'channel', 'start_sample', 'start_seconds'];
  readonly #input: Input;
  readonly #cutting: Cutting;
  readonly #bytes: InputBytes;
  #fraction = 0;

  constructor(input: Input, cutting: Cutting) {
    this.#input = input;
    this.#cutting = cutting;
    this.#bytes = new InputBytes(input);
  }

  rows(done: number): AsyncIterable<readonly ReadRow[]> {
    return behind(done, this.#rows());
  }

  async *#rows(): AsyncGenerator<readonly ReadRow[]> {
    try {
      const recording = await this.#open();
      for (const note of recording.notes) this.#cutting.note(`${this.#input.name}: ${note}`);
      yield* this.#windows(prepare(recording, this.#cutting), recording.name);
    } catch (error) {
      if (!(error instanceof RecordingError)) throw error;
      yield [{ line: null, problem: withoutCells(error.message) }];
    }
    this.#fraction = 1;
  }

  fractionRead(): number {
    return this.#fraction;
  }

  async close(): Promise<void> {
    this.#bytes.close();
  }

  async #open(): Promise<Recording> {
    const name = path.basename(this.#input.name);
    const blocks: Buffer[] = [];
    let bytes = 0;
    for await (const block of this.#bytes.blocks()) {
      blocks.push(block);
      bytes += block.length;
      if (bytes > LARGEST_BYTES) {
        throw new RecordingError(`${name}: is larger than 200 MB. Cut it into parts.`);
      }
    }
    const { EDF } = await import('edfjs');
    return readRecording(new Uint8Array(Buffer.concat(blocks)).buffer, name, EDF);
  }

  *#windows(
    { channel, rate, samples }: Prepared,
    recording: string,
  ): Generator<readonly ReadRow[]> {
    const { windowLength, step } = this.#cutting;
    const starts = windowStarts(samples.length, windowLength, step);
    if (starts.length === 0) {
      throw new RecordingError(
        `${recording}: has ${samples.length} samples, fewer than a window of ${windowLength}.`,
      );
    }
    for (let at = 0; at < starts.length; at += WINDOWS_AT_ONCE) {
      yield starts.slice(at, at + WINDOWS_AT_ONCE).map((start, index) => ({
        line: at + index + 1,
        fields: {
          recording,
          channel: channel.label,
          start_sample: start,
          start_seconds: rate === null ? null : Number((start / rate).toFixed(6)),
        },
        json: null,
        signal: samples.subarray(start, start + windowLength),
        size: windowLength,
      }));
      this.#fraction = Math.min(1, (at + WINDOWS_AT_ONCE) / starts.length);
    }
  }
}

interface Prepared {
  readonly channel: Channel;
  /** Hz of the samples; null: nobody knows. */
  readonly rate: number | null;
  readonly samples: Float64Array;
}

function prepare(recording: Recording, cutting: Cutting): Prepared {
  const channel = chooseChannel(recording, cutting);
  const { modelRate } = cutting;
  const from = channel.samplingRateHz ?? cutting.givenRate;
  const { samples } = channel;
  if (modelRate === null) return { channel, rate: from, samples };
  const fail = (problem: string) => new RecordingError(`${recording.name}: ${problem}`);
  if (from === null) {
    throw fail('does not say its sampling rate: use --sampling-rate.');
  }
  if (Math.abs(from - modelRate) <= SAME_RATE * modelRate) return { channel, rate: from, samples };
  if (!cutting.resample) {
    throw fail(`was recorded at ${from} Hz, the model expects ${modelRate} Hz: use --resample.`);
  }
  return { channel, rate: modelRate, samples: resample(samples, from, modelRate) };
}

/** A page may quote a cell; what a run says of its inputs does not. */
function withoutCells(message: string): string {
  return message.replace(/holds ".*", which/s, 'holds what');
}

function chooseChannel({ name, channels }: Recording, { channel, modelChannel }: Cutting): Channel {
  const index = findChannel(channels, channel ?? modelChannel);
  if (index !== null) return channels[index] as Channel;
  if (channel === null && channels.length === 1) return channels[0] as Channel;
  const wanted = channel ?? modelChannel;
  const problem = wanted === null ? 'has several channels' : `has no channel “${wanted}”`;
  const there = channels.map(({ label }) => label).join(', ');
  throw new RecordingError(`${name}: ${problem}: use --channel with one of ${there}.`);
}
