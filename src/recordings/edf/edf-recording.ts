import { AnnotationList, MAX_SAMPLES, requireSegmentCount } from '../limits';
import { skipped, skippedNotes } from '../notes';
import {
  type Channel,
  type Recording,
  RecordingError,
  type Segment,
  secondsOf,
  type UnreadableChannel,
} from '../recording';
import { isAnnotationSignal, type RecordTimes, readAnnotations } from './annotations';
import { type EdfHeader, type EdfSignal, type Fail, readHeader } from './header';
import { problemOf, readDigital, toPhysical } from './samples';
import { readTriggers } from './triggers';

const NOT_FINITE =
  'has physical and digital ranges in its header that produce infinite sample values';
/** Minimum difference between two records that is a gap, in seconds: files round times. */
const MIN_GAP_SECONDS = 0.001;

/** Continuous records. */
interface Run {
  readonly firstRecord: number;
  readonly startSeconds: number;
}

/**
 * Reads EDF, EDF+C, EDF+D and BDF, BDF+C, BDF+D. Validates the header against the size of the file.
 *
 * @throws RecordingError
 */
export function readEdf(bytes: Uint8Array, name: string): Recording {
  const fail: Fail = (problem) => new RecordingError(`${name}: ${problem}`);
  const file = readHeader(bytes, fail);
  const { records, notes } = countRecords(bytes, file, fail);
  if (file.recordSeconds === 0) {
    notes.push(
      'The header specifies a record duration of 0 s: 1 s is used. Check the sampling rate.',
    );
  }
  const header = { ...file, recordSeconds: file.recordSeconds || 1 };
  const found = new AnnotationList();
  const times = readAnnotations(bytes, header, records, found, fail);
  if (times !== null && times.damaged > 0)
    notes.push(`${skipped(times.damaged, 'damaged annotation')}.`);
  const runs = findRuns(header, records, times, fail);
  requireSegmentCount(runs.length, name);
  const segmentsOf = memoize((samplesPerRecord: number) => toSegments(runs, samplesPerRecord));
  readTriggers(bytes, header, records, found, ({ samplesPerRecord }, sample) =>
    secondsOf(
      { segments: segmentsOf(samplesPerRecord) },
      sample,
      samplesPerRecord / header.recordSeconds,
    ),
  );
  const { channels, unreadable } = readChannels(bytes, header, records, segmentsOf);
  notes.push(...skippedNotes(unreadable), ...found.notes());
  if (channels.length === 0) throw fail(['contains no signal channel.', ...notes].join(' '));
  const startTime = startOf(header, times);
  return { name, channels, unreadable, annotations: found.sorted(), startTime, notes };
}

/** Counts the complete records in the file: recorders write -1 to the header until they stop. */
function countRecords(
  bytes: Uint8Array,
  { headerBytes, bytesPerSample, samplesPerRecord, records: declared }: EdfHeader,
  fail: Fail,
): { readonly records: number; readonly notes: string[] } {
  if (samplesPerRecord === 0) throw fail('contains no signal channel.');
  const recordBytes = samplesPerRecord * bytesPerSample;
  const size = bytes.length - headerBytes;
  const records = Math.floor(size / recordBytes);
  if (records < 1) throw fail('has no complete record.');
  if (records * samplesPerRecord > MAX_SAMPLES)
    throw fail(`has more than ${MAX_SAMPLES} samples. Split the recording.`);
  const notes: string[] = [];
  if (declared > records) {
    notes.push(
      `The file is truncated: it has ${records} complete records, the header specifies ${declared}.`,
    );
  } else if (declared !== records && declared !== -1) {
    const words = Number.isNaN(declared) ? 'has no number of records' : `specifies ${declared}`;
    notes.push(`The file has ${records} records, which are read; the header ${words}.`);
  } else if (size > records * recordBytes) {
    notes.push(`The last record is incomplete: ${size - records * recordBytes} bytes are skipped.`);
  }
  return { records, notes };
}

/** Splits the records at gaps. Only EDF+D and BDF+D have gaps. */
function findRuns(
  { hasGaps, recordSeconds, signals }: EdfHeader,
  records: number,
  times: RecordTimes | null,
  fail: Fail,
): readonly Run[] {
  if (!hasGaps) return [{ firstRecord: 0, startSeconds: 0 }];
  if (times === null) {
    throw fail(
      'is EDF+D or BDF+D without the signal “EDF Annotations” or “BDF Annotations”: the times of its records are unknown. Save it as EDF+C.',
    );
  }
  const fastest = signals.reduce(
    (most, signal) => (isAnnotationSignal(signal) ? most : Math.max(most, signal.samplesPerRecord)),
    1,
  );
  const tolerance = Math.max(recordSeconds / fastest / 2, MIN_GAP_SECONDS);
  const runs: Run[] = [];
  for (let record = 0; record < records; record++) {
    const startSeconds = times.starts[record] as number;
    if (Number.isNaN(startSeconds))
      throw fail(`record ${record + 1} has no start time in its annotations. Save it as EDF+C.`);
    const expected = (times.starts[record - 1] ?? Number.NEGATIVE_INFINITY) + recordSeconds;
    if (Math.abs(startSeconds - expected) > tolerance) {
      runs.push({ firstRecord: record, startSeconds });
    }
  }
  return runs;
}

function toSegments(runs: readonly Run[], samplesPerRecord: number): readonly Segment[] {
  return runs.map(({ firstRecord, startSeconds }) => ({
    firstSample: firstRecord * samplesPerRecord,
    startSeconds,
    measuredRateHz: null,
  }));
}

/** Signals with the same number of samples share their segments. */
function memoize<Value>(make: (key: number) => Value): (key: number) => Value {
  const made = new Map<number, Value>();
  return (key) => {
    const value = made.get(key) ?? make(key);
    made.set(key, value);
    return value;
  };
}

function readChannels(
  bytes: Uint8Array,
  header: EdfHeader,
  records: number,
  segmentsOf: (samplesPerRecord: number) => readonly Segment[],
): Pick<Recording, 'channels' | 'unreadable'> {
  const channels: Channel[] = [];
  const unreadable: UnreadableChannel[] = [];
  const signals = header.signals.filter((signal) => !isAnnotationSignal(signal));
  for (const [index, signal] of signals.entries()) {
    const label = signal.label || `Channel ${index + 1}`;
    const isNamed = signal.label !== '';
    const problem = problemOf(signal);
    if (problem !== null) {
      unreadable.push({ label, isNamed, reason: problem });
      continue;
    }
    const samples = readDigital(bytes, header, signal, records);
    if (!toPhysical(samples, signal)) {
      unreadable.push({ label, isNamed, reason: NOT_FINITE });
      continue;
    }
    channels.push({
      label,
      isNamed,
      unit: signal.unit || null,
      samplingRateHz: rateOf(signal, header),
      samples,
      segments: segmentsOf(signal.samplesPerRecord),
    });
  }
  return { channels, unreadable };
}

function rateOf({ samplesPerRecord }: EdfSignal, { recordSeconds }: EdfHeader): number {
  return samplesPerRecord / recordSeconds;
}

/** Start of the first record as ISO 8601; null if the header contains no date. */
function startOf({ startMs }: EdfHeader, times: RecordTimes | null): string | null {
  const start = new Date((startMs ?? Number.NaN) + (times?.originSeconds ?? 0) * 1000);
  return Number.isNaN(start.getTime()) ? null : start.toISOString().slice(0, -1);
}
