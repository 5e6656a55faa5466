import {
  type Channel,
  findChannel,
  type Recording,
  RecordingError,
  type Segment,
  secondsOf,
  segmentWindowStarts,
  type UnreadableChannel,
} from '../../recordings/recording';
import { resampleSegments } from '../../recordings/resample';
import { isSameRate } from '../../recordings/sampling-rate';
import type { InputFile } from '../input-files';
import type { RowBatch } from '../rows';
import { readRecordingFile } from './recording-files';

const BATCH_WINDOWS = 256;

/** Input of the model. */
export interface ModelInput {
  /** Window length in samples. */
  readonly windowLength: number;
  readonly channel: string | null;
  /** Sampling rate in Hz; null if the model does not define one. */
  readonly samplingRateHz: number | null;
}

/** Windowing options of the user. */
export interface WindowOptions {
  /** Channel name; null for the channel of the model. */
  readonly channel: string | null;
  /** Hop size in samples; null for the window length. */
  readonly step: number | null;
  /** Sampling rate in Hz of recordings without one; null if unset. */
  readonly samplingRate: number | null;
  readonly resample: boolean;
}

/** Model input and user options. */
export interface WindowSpec {
  readonly model: ModelInput;
  readonly options: WindowOptions;
}

/** Reports a warning about a recording. */
export type Warn = (text: string) => void;

/** Divides a recording into windows. @throws RecordingError */
export type SplitRecording = (recording: Recording, warn: Warn) => Generator<RowBatch>;

/** How recordings become rows. */
export interface Windowing {
  readonly split: SplitRecording;
  readonly warn: Warn;
}

/** Reads windows of a recording. A file that cannot be split is reported as a rejected row. */
export async function* readWindows(
  input: InputFile,
  { split, warn }: Windowing,
): AsyncGenerator<RowBatch> {
  try {
    const recording = await readRecordingFile(input);
    const warnOfInput = (note: string) => warn(`${input.name}: ${note}`);
    recording.notes.forEach(warnOfInput);
    yield* split(recording, warnOfInput);
  } catch (error) {
    if (!(error instanceof RecordingError)) throw error;
    yield { rows: [{ line: null, problem: redactCells(error.message) }], fraction: 1 };
  }
}

/** Divides one channel of a recording into windows. @throws RecordingError */
export function* splitChannel(
  recording: Recording,
  cutting: WindowSpec,
  warn: Warn,
): Generator<RowBatch> {
  const { label, rate, samples, segments } = selectSamples(recording, cutting);
  const { windowLength } = cutting.model;
  const step = cutting.options.step ?? windowLength;
  const starts = segmentWindowStarts({ samples, segments }, windowLength, step);
  if (starts.length === 0) {
    const found =
      segments.length > 1
        ? `all ${segments.length} segments between gaps are shorter than`
        : `${samples.length} samples are fewer than`;
    throw new RecordingError(`${recording.name}: ${found} one window of ${windowLength}.`);
  }
  if (segments.length > 1) warn(describeGaps(label, segments));
  for (let at = 0; at < starts.length; at += BATCH_WINDOWS) {
    const rows = starts.slice(at, at + BATCH_WINDOWS).map((start, index) => ({
      line: at + index + 1,
      fields: {
        recording: recording.name,
        channel: label,
        start_sample: start,
        start_seconds:
          rate === null ? null : Number(secondsOf({ segments }, start, rate).toFixed(6)),
      },
      json: null,
      signal: samples.subarray(start, start + windowLength),
      window: { expected: null },
      size: windowLength,
    }));
    yield { rows, fraction: Math.min(1, (at + BATCH_WINDOWS) / starts.length) };
  }
}

function describeGaps(label: string, segments: readonly Segment[]): string {
  const gaps = segments.length - 1;
  return `Channel “${label}” has ${gaps === 1 ? 'a gap' : `${gaps} gaps`}. No window spans a gap.`;
}

/** Returns the samples of the selected channel, resampled if necessary. `rate` is in Hz; null if unknown. */
function selectSamples(recording: Recording, cutting: WindowSpec) {
  const { name } = recording;
  const { label, samples, segments, samplingRateHz } = selectChannel(recording, cutting);
  const rate = samplingRateHz ?? cutting.options.samplingRate;
  const wanted = cutting.model.samplingRateHz;
  if (wanted === null) return { label, rate, samples, segments };
  if (rate === null) throw unknownSamplingRate(name);
  requireSamplingRate(name, rate, cutting);
  if (isSameRate(rate, wanted)) return { label, rate, samples, segments };
  const resampled = resampleSegments({ samples, segments }, rate, wanted);
  if (resampled !== null) return { label, rate: wanted, ...resampled };
  throw new RecordingError(
    `${name}: ${samples.length} samples at ${rate} Hz are too many at ${wanted} Hz. Check --sampling-rate.`,
  );
}

export function unknownSamplingRate(name: string): RecordingError {
  return new RecordingError(`${name}: unknown sampling rate. Use --sampling-rate.`);
}

/** @throws RecordingError if the rate differs from the model's and resampling is off */
export function requireSamplingRate(
  name: string,
  rate: number,
  { model, options }: WindowSpec,
): void {
  const { samplingRateHz: wanted } = model;
  if (wanted === null || options.resample || isSameRate(rate, wanted)) return;
  const rates = `recorded at ${rate} Hz, the model expects ${wanted} Hz`;
  throw new RecordingError(`${name}: ${rates}. Use --resample.`);
}

/** Removes quoted cells from a message: batch output must not quote input data. */
function redactCells(message: string): string {
  return message.replace(/is ".*", expected a number/s, 'is not a number');
}

/** Channels of a file, for `selectChannel`. */
export interface FileChannels<Candidate extends Pick<Channel, 'label' | 'isNamed'>> {
  /** File name. */
  readonly name: string;
  readonly channels: readonly Candidate[];
  readonly unreadable: readonly UnreadableChannel[];
}

/**
 * Selects the channel that the user names, or else the channel of the model. An unnamed channel is accepted if it is the
 * only channel of the file.
 *
 * @throws RecordingError
 */
export function selectChannel<Candidate extends Pick<Channel, 'label' | 'isNamed'>>(
  { name, channels, unreadable }: FileChannels<Candidate>,
  { options, model }: WindowSpec,
): Candidate {
  const wanted = options.channel ?? model.channel;
  const all = [...unreadable, ...channels];
  const found = findChannel(all, wanted);
  const unusable = found === null ? undefined : unreadable[found];
  if (unusable)
    throw new RecordingError(`${name}: channel “${unusable.label}” ${unusable.reason}.`);
  const channel = found === null ? undefined : channels[found - unreadable.length];
  if (channel) return channel;
  const [only] = channels;
  const isOnly = only && all.length === 1 && options.channel === null;
  if (isOnly && (wanted === null || !only.isNamed)) return only;
  const problem = wanted === null ? 'several channels' : `channel “${wanted}” is missing`;
  const names = channels.map(({ label }) => label).join(', ');
  throw new RecordingError(`${name}: ${problem}. Use --channel with one of ${names}.`);
}
