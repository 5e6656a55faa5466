import { MAX_SAMPLES } from '../limits';
import { RecordingError } from '../recording';
import type { BinaryFormat, BrainVisionHeader, DataFormat } from './header';

/** Maximum size of a text file: the parsed numbers take much more memory. */
const MAX_TEXT_BYTES = 50 * 1024 ** 2;

/** Values of all channels, without their resolutions. */
export interface Data {
  readonly channels: readonly Float64Array[];
  readonly notes: readonly string[];
}

/**
 * Reads a data file.
 *
 * @param name name of the data file
 * @throws RecordingError
 */
export function readData(bytes: Uint8Array, name: string, header: BrainVisionHeader): Data {
  const { format } = header;
  return format.kind === 'binary'
    ? readBinary(bytes, name, header, format)
    : readText(bytes, name, header, format);
}

type Binary = Extract<DataFormat, { kind: 'binary' }>;
type Text = Extract<DataFormat, { kind: 'text' }>;

function readBinary(
  bytes: Uint8Array,
  name: string,
  { channels, isVectorized, dataPoints }: BrainVisionHeader,
  { format, bytesPerValue }: Binary,
): Data {
  const count = channels.length;
  const available = Math.floor(bytes.length / (bytesPerValue * count));
  const notes: string[] = [];
  if (isVectorized && dataPoints !== null && dataPoints > available) {
    throw new RecordingError(
      `${name}: is truncated: DataPoints of the header file specifies ${dataPoints} samples, the file has ${available}. Restore the file.`,
    );
  }
  const length = isVectorized ? (dataPoints ?? available) : available;
  requireLength(length, count, name);
  const rest = bytes.length - length * count * bytesPerValue;
  if (rest > 0) notes.push(`${name}: ${rest} bytes at the end are skipped.`);
  if (dataPoints !== null && dataPoints !== length) {
    notes.push(
      `${name}: has ${length} samples, which are read; DataPoints specifies ${dataPoints}.`,
    );
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const valueAt = readerOf(view, format);
  const [ofChannel, ofSample] = isVectorized ? [length, 1] : [1, count];
  const values = channels.map((_, channel) => {
    const samples = new Float64Array(length);
    for (let index = 0; index < length; index++) {
      samples[index] = valueAt((channel * ofChannel + index * ofSample) * bytesPerValue);
    }
    return samples;
  });
  return { channels: values, notes };
}

/** Returns a function that reads the little-endian value at an offset in bytes. */
function readerOf(view: DataView, format: BinaryFormat): (at: number) => number {
  switch (format) {
    case 'INT_16':
      return (at) => view.getInt16(at, true);
    case 'INT_32':
      return (at) => view.getInt32(at, true);
    case 'IEEE_FLOAT_32':
      return (at) => view.getFloat32(at, true);
  }
}

/** Lines are times, or channels if the data are vectorized. Leading columns and lines may be names. */
function readText(
  bytes: Uint8Array,
  name: string,
  { channels, isVectorized }: BrainVisionHeader,
  { decimal, skipLines, skipColumns }: Text,
): Data {
  if (bytes.length > MAX_TEXT_BYTES)
    throw new RecordingError(`${name}: is larger than 50 MB of text. Export it as BINARY.`);
  const lines = new TextDecoder('latin1').decode(bytes).split(/\r\n|\n|\r/);
  // Exports of BrainVision Analyzer can have commas between the numbers.
  const separator = decimal === ',' ? /[ \t;]+/ : /[ \t;,]+/;
  const rows: Float64Array[] = [];
  for (const [index, line] of lines.entries()) {
    if (index < skipLines || line.trim() === '') continue;
    const cells = line.trim().split(separator).slice(skipColumns);
    const row = Float64Array.from(cells, (cell) =>
      Number(decimal === ',' ? cell.replace(',', '.') : cell),
    );
    const bad = row.findIndex((value) => !Number.isFinite(value));
    if (bad >= 0) {
      throw new RecordingError(
        `${name}, line ${index + 1}, column ${skipColumns + bad + 1}: expected a number. Check DecimalSymbol, SkipLines and SkipColumns of the header file.`,
      );
    }
    const expected = isVectorized ? (rows[0]?.length ?? row.length) : channels.length;
    if (row.length !== expected) {
      throw new RecordingError(
        `${name}, line ${index + 1}: expected ${expected} numbers, found ${row.length}. Check the header file.`,
      );
    }
    rows.push(row);
  }
  const length = isVectorized ? (rows[0]?.length ?? 0) : rows.length;
  requireLength(length, channels.length, name);
  if (isVectorized && rows.length !== channels.length) {
    throw new RecordingError(
      `${name}: expected ${channels.length} lines, one for each channel, found ${rows.length}. Check the header file.`,
    );
  }
  if (isVectorized) return { channels: rows, notes: [] };
  const columns = channels.map((_, channel) =>
    Float64Array.from(rows, (row) => row[channel] as number),
  );
  return { channels: columns, notes: [] };
}

function requireLength(length: number, channels: number, name: string): void {
  if (length < 1) throw new RecordingError(`${name}: has no samples. Restore the file.`);
  if (length * channels > MAX_SAMPLES)
    throw new RecordingError(`${name}: has more than ${MAX_SAMPLES} samples. Split the recording.`);
}
