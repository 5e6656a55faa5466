import { MAX_SAMPLES } from '../limits';
import { RecordingError } from '../recording';
import type { BrainVisionHeader, DataFormat } from './header';

/** Maximum size of a text file. */
const MAX_TEXT_BYTES = 50 * 1024 ** 2;
const LINE_FEED = 10;

/** Values of all channels, without their resolutions. */
export interface Data {
  readonly channels: readonly Float64Array[];
  readonly notes: readonly string[];
}

/**
 * Reads a data file of text. Lines are times, or channels if the data are vectorized. Leading columns and lines may be
 * names.
 *
 * @param name name of the data file
 * @throws RecordingError
 */
export function readTextData(
  bytes: Uint8Array,
  name: string,
  { channels, isVectorized }: BrainVisionHeader,
  format: Extract<DataFormat, { kind: 'text' }>,
): Data {
  if (bytes.length > MAX_TEXT_BYTES)
    throw new RecordingError(`${name}: is larger than 50 MB of text. Export it as BINARY.`);
  // Numbers have at least one digit and a separator.
  const values = new Float64Array(Math.ceil(bytes.length / 2) + 1);
  let [count, rows, width] = [0, 0, isVectorized ? 0 : channels.length];
  for (const { text, line } of linesOf(bytes, format.skipLines)) {
    const row = parseRow(text, format, `${name}, line ${line}`);
    if (isVectorized && rows === 0) width = row.length;
    if (row.length !== width) {
      throw new RecordingError(
        `${name}, line ${line}: expected ${width} numbers, found ${row.length}. Check the header file.`,
      );
    }
    for (const value of row) values[count++] = value;
    rows++;
  }
  if (isVectorized && rows !== channels.length) {
    throw new RecordingError(
      `${name}: expected ${channels.length} lines, one for each channel, found ${rows}. Check the header file.`,
    );
  }
  const length = isVectorized ? width : rows;
  requireLength(length, channels.length, name);
  const [ofChannel, ofSample] = isVectorized ? [length, 1] : [1, width];
  const samples = channels.map((_, channel) => {
    const own = new Float64Array(length);
    for (let at = 0; at < length; at++) {
      own[at] = values[channel * ofChannel + at * ofSample] as number;
    }
    return own;
  });
  return { channels: samples, notes: [] };
}

/** Lines that are not blank, one by one: all lines together need a multiple of the memory of the file. */
function* linesOf(
  bytes: Uint8Array,
  skip: number,
): Generator<{ readonly text: string; readonly line: number }> {
  const decoder = new TextDecoder('latin1');
  let start = 0;
  for (let line = 1; start < bytes.length; line++) {
    const found = bytes.indexOf(LINE_FEED, start);
    const end = found < 0 ? bytes.length : found;
    const text = line > skip ? decoder.decode(bytes.subarray(start, end)).trim() : '';
    if (text !== '') yield { text, line };
    start = end + 1;
  }
}

/** @param place file and line, for errors */
function parseRow(
  text: string,
  { decimal, skipColumns }: Extract<DataFormat, { kind: 'text' }>,
  place: string,
): readonly number[] {
  // Exports of BrainVision Analyzer can have commas between the numbers.
  const separator = decimal === ',' ? /[ \t;]+/ : /[ \t;,]+/;
  const cells = text.split(separator).slice(skipColumns);
  return cells.map((cell, index) => {
    const value = Number(decimal === ',' ? cell.replace(',', '.') : cell);
    if (cell !== '' && Number.isFinite(value)) return value;
    throw new RecordingError(
      `${place}, column ${skipColumns + index + 1}: expected a number. Check DecimalSymbol, SkipLines and SkipColumns of the header file.`,
    );
  });
}

/** @throws RecordingError */
export function requireLength(length: number, channels: number, name: string): void {
  if (length < 1) throw new RecordingError(`${name}: has no samples. Restore the file.`);
  if (length * channels > MAX_SAMPLES)
    throw new RecordingError(`${name}: has more than ${MAX_SAMPLES} samples. Split the recording.`);
}
