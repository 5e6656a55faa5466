/// <reference path="./edfjs.d.ts" />
import type { EDF } from 'edfjs';
import { type Channel, type Recording, RecordingError } from './recording';

const HEADER_BYTES = 256;
const BYTES_PER_SAMPLE = 2;
const CHANNELS_MAX = 512;
const ANNOTATIONS = 'EDF Annotations';

/** Whether a file begins as EDF does, or as BDF, its 24-bit variant. */
export function isEdf(start: Uint8Array): boolean {
  const text = String.fromCharCode(...start.subarray(0, 8));
  return text === '0       ' || text === '\xffBIOSEMI';
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
  if (new Uint8Array(buffer)[0] === 0xff)
    throw fail('is BDF, with 24 bits a sample. Convert it to EDF.');
  if (buffer.byteLength < HEADER_BYTES) throw fail('is cut off in its header.');
  const edf = new Edf();
  edf.read_header_from_string(latin1(buffer, 0, HEADER_BYTES));
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
  edf.read_channel_header_from_string(latin1(buffer, HEADER_BYTES, headerBytes));
  for (const channel of edf.channels) {
    if (!isWhole(channel.num_samples_per_record, 1, 10_000_000)) {
      throw fail(`“${channel.label}” has no sensible number of samples in a record.`);
    }
  }
  const notes = cutToWholeRecords(edf, buffer, fail);
  const channels = readChannels(edf, notes);
  if (channels.length === 0) throw fail('has no channel with a signal.');
  return { name, channels, notes };
}

/** What is there counts, not what the header says: recorders write -1 until they are stopped. */
function cutToWholeRecords(
  edf: EDF,
  buffer: ArrayBuffer,
  fail: (problem: string) => RecordingError,
) {
  const notes: string[] = [];
  const samples = edf.channels.reduce((sum, channel) => sum + channel.num_samples_per_record, 0);
  const there = Math.floor(
    (buffer.byteLength - edf.num_header_bytes) / (samples * BYTES_PER_SAMPLE),
  );
  const said = edf.num_records;
  if (there < 1) throw fail('is cut off: not one whole record is in it.');
  if (isWhole(said, 1, there)) {
    edf.num_records = said;
  } else {
    if (said !== -1) notes.push(`The file is cut off: ${there} whole records are in it.`);
    edf.num_records = there;
  }
  const end = edf.num_header_bytes + edf.num_records * samples * BYTES_PER_SAMPLE;
  edf.read_blob_from_buffer(end === buffer.byteLength ? buffer : buffer.slice(0, end));
  return notes;
}

function readChannels(edf: EDF, notes: string[]): Channel[] {
  const channels: Channel[] = [];
  for (const { label, blob, physical_dimension, sampling_rate } of edf.channels) {
    if (label === ANNOTATIONS) continue;
    const samples = Float64Array.from(blob);
    if (samples.every(Number.isFinite)) {
      const unit = physical_dimension || null;
      const shown = label || `Channel ${channels.length + 1}`;
      channels.push({ label: shown, unit, samplingRateHz: sampling_rate, samples });
    } else {
      notes.push(`“${label}” is left out: the range in its header is empty.`);
    }
  }
  return channels;
}

function isWhole(value: number, least: number, most: number): boolean {
  return Number.isInteger(value) && value >= least && value <= most;
}

function latin1(buffer: ArrayBuffer, start: number, end: number): string {
  return new TextDecoder('latin1').decode(new Uint8Array(buffer, start, end - start));
}
