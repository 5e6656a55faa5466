/// <reference path="./edfjs.d.ts" />
import type { EDF } from 'edfjs';
import { HEADER_BYTES, normalizeHeader, normalizeSignalHeaders } from './edf-header';
import { type Channel, CONTINUOUS, type Recording, RecordingError, type UnreadableChannel } from './recording';

const BYTES_PER_SAMPLE = 2;
const MAX_CHANNELS = 512;
const ANNOTATIONS = 'EDF Annotations';
const RANGE = [
  'physical_minimum',
  'physical_maximum',
  'digital_minimum',
  'digital_maximum',
] as const;
const NOT_FINITE =
  'has physical and digital ranges in its header that produce infinite sample values';

/** Whether a file starts like EDF or BDF, the 24-bit variant. */
export function isEdf(start: Uint8Array): boolean {
  const text = String.fromCharCode(...start.subarray(0, 8));
  return /^0[ \0]{7}$/.test(text) || text === '\xffBIOSEMI';
}

/**
 * Reads EDF and continuous EDF+ (https://www.edfplus.info/specs). Validates the header against the size of the file,
 * which the library does not do.
 *
 * @param Edf class of the library, an ES module: pages import it, Node loads it on first use
 * @throws RecordingError
 */
export function readEdf(buffer: ArrayBuffer, name: string, Edf: typeof EDF): Recording {
  try {
    return read(buffer, name, Edf);
  } catch (error) {
    if (error instanceof RecordingError) throw error;
    throw new RecordingError(`${name}: cannot be read as EDF: ${String(error)}`);
  }
}

function read(buffer: ArrayBuffer, name: string, Edf: typeof EDF): Recording {
  const fail = (problem: string) => new RecordingError(`${name}: ${problem}`);
  const edf = readHeaders(buffer, new Edf(), fail);
  const notes = cutToCompleteRecords(edf, buffer, fail);
  const { channels, unreadable } = readChannels(edf);
  for (const { label, reason } of unreadable) notes.push(`“${label}” is skipped: it ${reason}.`);
  if (channels.length === 0) throw fail(['contains no signal channel.', ...notes].join(' '));
  return { name, channels, unreadable, annotations: [], startTime: null, notes };
}

type Fail = (problem: string) => RecordingError;

function readHeaders(buffer: ArrayBuffer, edf: EDF, fail: Fail): EDF {
  if (new Uint8Array(buffer)[0] === 0xff)
    throw fail('is BDF, with 24 bits per sample. Convert it to EDF.');
  if (buffer.byteLength < HEADER_BYTES) throw fail('is truncated in its header.');
  edf.read_header_from_string(normalizeHeader(latin1(buffer, 0, HEADER_BYTES)));
  const { num_channels: count, num_header_bytes: headerBytes, record_duration: duration } = edf;
  if (!isInteger(count, 1, MAX_CHANNELS))
    throw fail('has an invalid number of channels in its header.');
  if (headerBytes !== HEADER_BYTES * (count + 1))
    throw fail('has a header whose length differs from the specified length.');
  if (buffer.byteLength < headerBytes) throw fail('is truncated in its header.');
  if (edf.type === 'EDF+D')
    throw fail('is EDF+D, with gaps between its records. Save it as EDF or EDF+C.');
  if (!Number.isFinite(duration) || duration <= 0)
    throw fail('has an invalid record duration in its header.');
  const signals = latin1(buffer, HEADER_BYTES, headerBytes);
  edf.read_channel_header_from_string(normalizeSignalHeaders(signals, count));
  for (const channel of edf.channels) {
    if (!isInteger(channel.num_samples_per_record, 0, 10_000_000)) {
      throw fail(`“${channel.label}” has an invalid number of samples per record.`);
    }
  }
  return edf;
}

/** Uses the number of complete records in the file: recorders write -1 to the header until they stop. */
function cutToCompleteRecords(edf: EDF, buffer: ArrayBuffer, fail: Fail): string[] {
  const samples = edf.channels.reduce((sum, channel) => sum + channel.num_samples_per_record, 0);
  if (samples === 0) throw fail('contains no signal channel.');
  const recordBytes = samples * BYTES_PER_SAMPLE;
  const bytes = buffer.byteLength - edf.num_header_bytes;
  const complete = Math.floor(bytes / recordBytes);
  if (complete < 1) throw fail('has no complete record.');
  const notes: string[] = [];
  const declared = edf.num_records;
  if (declared > complete) {
    notes.push(
      `The file is truncated: it has ${complete} complete records, the header specifies ${declared}.`,
    );
  } else if (declared !== complete && declared !== -1) {
    const words = Number.isNaN(declared) ? 'has no number of records' : `specifies ${declared}`;
    notes.push(`The file has ${complete} records, which are read; the header ${words}.`);
  } else if (bytes > complete * recordBytes) {
    notes.push(
      `The last record is incomplete: ${bytes - complete * recordBytes} bytes are skipped.`,
    );
  }
  edf.num_records = complete;
  const end = edf.num_header_bytes + complete * recordBytes;
  edf.read_blob_from_buffer(end === buffer.byteLength ? buffer : buffer.slice(0, end));
  return notes;
}

function readChannels(edf: EDF): Pick<Recording, 'channels' | 'unreadable'> {
  const channels: Channel[] = [];
  const unreadable: UnreadableChannel[] = [];
  const signals = edf.channels.filter(({ label }) => label !== ANNOTATIONS);
  for (const [index, signal] of signals.entries()) {
    const { blob, physical_dimension, sampling_rate } = signal;
    const label = signal.label || `Channel ${index + 1}`;
    const isNamed = signal.label !== '';
    const samples = Float64Array.from(blob);
    const reason = problemOf(signal) ?? (samples.every(Number.isFinite) ? null : NOT_FINITE);
    if (reason !== null) unreadable.push({ label, isNamed, reason });
    else {
      const unit = physical_dimension || null;
      channels.push({ label, isNamed, unit, samplingRateHz: sampling_rate, samples, segments: CONTINUOUS });
    }
  }
  return { channels, unreadable };
}

/** Why the samples of a signal cannot be read; null if they can. */
function problemOf(signal: EDF['channels'][number]): string | null {
  if (signal.num_samples_per_record === 0) return 'has no samples';
  const range = RANGE.find((field) => !Number.isFinite(signal[field]));
  if (range) return `has an invalid ${range.replace('_', ' ')} in the header`;
  const isEmpty =
    signal.physical_minimum === signal.physical_maximum ||
    signal.digital_minimum === signal.digital_maximum;
  return isEmpty ? 'has an empty range in the header' : null;
}

function isInteger(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}

function latin1(buffer: ArrayBuffer, start: number, end: number): string {
  return new TextDecoder('latin1').decode(new Uint8Array(buffer, start, end - start));
}
