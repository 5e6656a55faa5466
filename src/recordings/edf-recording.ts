/// <reference path="./edfjs.d.ts" />
import type { EDF } from 'edfjs';
import { HEADER_BYTES, plainHeader, plainSignals } from './edf-header';
import { type Channel, type Recording, RecordingError, type UnreadableChannel } from './recording';

const BYTES_PER_SAMPLE = 2;
const CHANNELS_MAX = 512;
const ANNOTATIONS = 'EDF Annotations';
const RANGE = [
  'physical_minimum',
  'physical_maximum',
  'digital_minimum',
  'digital_maximum',
] as const;
const TOO_LARGE = 'has a range in the header that gives no finite samples';

/** Whether a file begins as EDF does, or as BDF, its 24-bit variant. */
export function isEdf(start: Uint8Array): boolean {
  const text = String.fromCharCode(...start.subarray(0, 8));
  return /^0[ \0]{7}$/.test(text) || text === '\xffBIOSEMI';
}

/**
 * Reads EDF and continuous EDF+ (https://www.edfplus.info/specs). The library believes what a
 * header says; so what the header says is held against the size of the file first.
 *
 * @param Edf the library's class. It is an ES module: pages import it, Node loads it when it is needed.
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
  const notes = cutToWholeRecords(edf, buffer, fail);
  const { channels, unreadable } = readChannels(edf);
  for (const { label, reason } of unreadable) notes.push(`“${label}” is left out: it ${reason}.`);
  if (channels.length === 0) throw fail(['has no channel with a signal.', ...notes].join(' '));
  return { name, channels, unreadable, notes };
}

type Fail = (problem: string) => RecordingError;

function readHeaders(buffer: ArrayBuffer, edf: EDF, fail: Fail): EDF {
  if (new Uint8Array(buffer)[0] === 0xff)
    throw fail('is BDF, with 24 bits a sample. Convert it to EDF.');
  if (buffer.byteLength < HEADER_BYTES) throw fail('is cut off in its header.');
  edf.read_header_from_string(plainHeader(latin1(buffer, 0, HEADER_BYTES)));
  const { num_channels: count, num_header_bytes: headerBytes, record_duration: duration } = edf;
  if (!isWhole(count, 1, CHANNELS_MAX))
    throw fail('its header names no sensible number of channels.');
  if (headerBytes !== HEADER_BYTES * (count + 1))
    throw fail('its header has another length than it says.');
  if (buffer.byteLength < headerBytes) throw fail('is cut off in its header.');
  if (edf.type === 'EDF+D')
    throw fail('is EDF+D, with gaps between its records. Save it as EDF or EDF+C.');
  if (!Number.isFinite(duration) || duration <= 0)
    throw fail('its header says that a record lasts no time.');
  const signals = latin1(buffer, HEADER_BYTES, headerBytes);
  edf.read_channel_header_from_string(plainSignals(signals, count));
  for (const channel of edf.channels) {
    if (!isWhole(channel.num_samples_per_record, 0, 10_000_000)) {
      throw fail(`“${channel.label}” has no sensible number of samples in a record.`);
    }
  }
  return edf;
}

/** What is there counts, not what the header says: recorders write -1 until they are stopped. */
function cutToWholeRecords(edf: EDF, buffer: ArrayBuffer, fail: Fail): string[] {
  const samples = edf.channels.reduce((sum, channel) => sum + channel.num_samples_per_record, 0);
  if (samples === 0) throw fail('has no channel with a signal.');
  const recordBytes = samples * BYTES_PER_SAMPLE;
  const bytes = buffer.byteLength - edf.num_header_bytes;
  const there = Math.floor(bytes / recordBytes);
  if (there < 1) throw fail('is cut off: not one whole record is in it.');
  const notes: string[] = [];
  const said = edf.num_records;
  if (said > there) {
    notes.push(`The file is cut off: ${there} whole records are in it, the header says ${said}.`);
  } else if (said !== there && said !== -1) {
    const words = Number.isNaN(said) ? 'does not say how many' : `says ${said}`;
    notes.push(`${there} records are in the file and are read; the header ${words}.`);
  } else if (bytes > there * recordBytes) {
    notes.push(`The last record is not whole: ${bytes - there * recordBytes} bytes are left out.`);
  }
  edf.num_records = there;
  const end = edf.num_header_bytes + there * recordBytes;
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
    const reason = problemOf(signal) ?? (samples.every(Number.isFinite) ? null : TOO_LARGE);
    if (reason !== null) unreadable.push({ label, isNamed, reason });
    else {
      const unit = physical_dimension || null;
      channels.push({ label, isNamed, unit, samplingRateHz: sampling_rate, samples });
    }
  }
  return { channels, unreadable };
}

/** Why the samples of a signal are not known; null: they are. */
function problemOf(signal: EDF['channels'][number]): string | null {
  if (signal.num_samples_per_record === 0) return 'has no samples';
  const range = RANGE.find((field) => !Number.isFinite(signal[field]));
  if (range) return `has no number as its ${range.replace('_', ' ')} in the header`;
  const isEmpty =
    signal.physical_minimum === signal.physical_maximum ||
    signal.digital_minimum === signal.digital_maximum;
  return isEmpty ? 'has an empty range in the header' : null;
}

function isWhole(value: number, least: number, most: number): boolean {
  return Number.isInteger(value) && value >= least && value <= most;
}

function latin1(buffer: ArrayBuffer, start: number, end: number): string {
  return new TextDecoder('latin1').decode(new Uint8Array(buffer, start, end - start));
}
