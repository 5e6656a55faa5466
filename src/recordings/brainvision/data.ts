import { RecordingError } from '../recording';
import type { BinaryFormat, BrainVisionHeader, DataFormat } from './header';
import { type Data, readTextData, requireLength } from './text-data';

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
    : readTextData(bytes, name, header, format);
}

type Binary = Extract<DataFormat, { kind: 'binary' }>;

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
  if (rest > 0) {
    const end = rest === 1 ? '1 byte at the end is' : `${rest} bytes at the end are`;
    notes.push(`${name}: ${end} skipped.`);
  }
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
