import { MAX_CHANNELS } from '../limits';
import { RecordingError } from '../recording';
import { parseIni, type Sections, splitValue } from './ini';

const FIRST_LINE = /^(?:\xef\xbb\xbf)?Brain ?Vision .{0,40}Header File/i;
/** Maximum size of a header file. */
const MAX_HEADER_BYTES = 16 * 1024 ** 2;
const DEFAULT_UNIT = 'µV';
const BINARY_FORMATS = { INT_16: 2, INT_32: 4, IEEE_FLOAT_32: 4 } as const;

export type BinaryFormat = keyof typeof BINARY_FORMATS;

export interface BrainVisionChannel {
  readonly label: string;
  readonly isNamed: boolean;
  /** Value in `unit` of the stored value 1. */
  readonly resolution: number;
  readonly unit: string;
}

/** Format of a data file. */
export type DataFormat =
  | { readonly kind: 'binary'; readonly format: BinaryFormat; readonly bytesPerValue: number }
  | {
      readonly kind: 'text';
      readonly decimal: string;
      readonly skipLines: number;
      readonly skipColumns: number;
    };

export interface BrainVisionHeader {
  /** File names without folders. */
  readonly dataFile: string;
  readonly markerFile: string | null;
  readonly format: DataFormat;
  /** Whether all values of a channel are together, instead of all values of a time. */
  readonly isVectorized: boolean;
  readonly samplingRateHz: number;
  /** Samples per channel; null: all samples of the data file. */
  readonly dataPoints: number | null;
  /** Length of the segments of a segmented recording in samples; null for other recordings. */
  readonly segmentPoints: number | null;
  readonly channels: readonly BrainVisionChannel[];
}

/** Whether a file starts like a BrainVision header (.vhdr). */
export function isBrainVision(start: Uint8Array): boolean {
  return FIRST_LINE.test(new TextDecoder('latin1').decode(start.subarray(0, 128)));
}

/**
 * Reads and validates a header file of BrainVision (BrainVision Core Data Format 1.0).
 *
 * @param name name of the header file
 * @throws RecordingError
 */
export function readBrainVisionHeader(bytes: Uint8Array, name: string): BrainVisionHeader {
  if (bytes.length > MAX_HEADER_BYTES)
    throw new RecordingError(`${name}: is larger than 16 MB. Expected a header file of text.`);
  const sections = parseIni(bytes);
  const fields = new Fields(sections, name);
  const orientation = fields.oneOf('DataOrientation', ['MULTIPLEXED', 'VECTORIZED']);
  const type = sections.get('common infos')?.get('datatype')?.toUpperCase() ?? 'TIMEDOMAIN';
  if (type !== 'TIMEDOMAIN') throw fields.error('DataType', 'expected TIMEDOMAIN');
  const count = fields.integer('NumberOfChannels', 1, MAX_CHANNELS);
  const interval = fields.number('SamplingInterval');
  const samplingRateHz = 1e6 / interval;
  if (!(interval > 0) || !(samplingRateHz > 0 && samplingRateHz < Infinity))
    throw fields.error('SamplingInterval', 'expected a positive number of microseconds');
  const isSegmented = fields.optional('SegmentationType')?.toUpperCase() === 'MARKERBASED';
  return {
    dataFile: fields.fileName('DataFile'),
    markerFile: fields.optional('MarkerFile') === null ? null : fields.fileName('MarkerFile'),
    format: readFormat(fields),
    isVectorized: orientation === 'VECTORIZED',
    samplingRateHz,
    dataPoints: fields.optionalInteger('DataPoints'),
    segmentPoints: isSegmented ? fields.optionalInteger('SegmentDataPoints') : null,
    channels: Array.from({ length: count }, (_, index) => readChannel(sections, index, name)),
  };
}

function readFormat(fields: Fields): DataFormat {
  const kind = fields.oneOf('DataFormat', ['BINARY', 'ASCII']);
  if (kind === 'BINARY') {
    const names = Object.keys(BINARY_FORMATS) as BinaryFormat[];
    const format = fields.in('Binary Infos').oneOf('BinaryFormat', names);
    return { kind: 'binary', format, bytesPerValue: BINARY_FORMATS[format] };
  }
  const text = fields.in('ASCII Infos');
  const decimal = text.optional('DecimalSymbol') ?? '.';
  if (decimal !== '.' && decimal !== ',') throw text.error('DecimalSymbol', 'expected "." or ","');
  const [skipLines, skipColumns] = [
    text.optionalInteger('SkipLines') ?? 0,
    text.optionalInteger('SkipColumns') ?? 0,
  ];
  return { kind: 'text', decimal, skipLines, skipColumns };
}

function readChannel(sections: Sections, index: number, name: string): BrainVisionChannel {
  const key = `Ch${index + 1}`;
  const value = sections.get('channel infos')?.get(key.toLowerCase());
  if (value === undefined)
    throw new RecordingError(`${name}, [Channel Infos], ${key}: missing. Restore the header file.`);
  const [label = '', , resolution = '', unit = ''] = splitValue(value);
  // Without a resolution and a unit, a stored value is in microvolts.
  const number = resolution === '' ? 1 : toNumber(resolution);
  if (!Number.isFinite(number)) {
    throw new RecordingError(
      `${name}, [Channel Infos], ${key}: the resolution is not a number. Correct the header file.`,
    );
  }
  return {
    label: label || `Channel ${index + 1}`,
    isNamed: label !== '',
    resolution: number,
    // Some programs write UTF-8 text as Windows-1252.
    unit: unit.replace('Â', '').replace('\u03bc', 'µ') || DEFAULT_UNIT,
  };
}

/** Entries of a section, with errors that name file, section and key. */
class Fields {
  readonly #sections: Sections;
  readonly #name: string;
  readonly #section: string;

  constructor(sections: Sections, name: string, section = 'Common Infos') {
    this.#sections = sections;
    this.#name = name;
    this.#section = section;
  }

  in(section: string): Fields {
    return new Fields(this.#sections, this.#name, section);
  }

  error(key: string, problem: string): RecordingError {
    return new RecordingError(
      `${this.#name}, [${this.#section}], ${key}: ${problem}. Correct the header file.`,
    );
  }

  optional(key: string): string | null {
    return this.#sections.get(this.#section.toLowerCase())?.get(key.toLowerCase()) || null;
  }

  oneOf<Value extends string>(key: string, values: readonly Value[]): Value {
    const value = this.optional(key)?.toUpperCase();
    const found = values.find((candidate) => candidate === value);
    if (found === undefined) throw this.error(key, `expected ${values.join(' or ')}`);
    return found;
  }

  number(key: string): number {
    return toNumber(this.optional(key) ?? '');
  }

  integer(key: string, min: number, max: number): number {
    const value = this.number(key);
    if (!Number.isInteger(value) || value < min || value > max)
      throw this.error(key, `expected an integer from ${min} to ${max}`);
    return value;
  }

  /** Null if the key is missing or 0. */
  optionalInteger(key: string): number | null {
    return this.optional(key) === null ? null : this.integer(key, 0, 2 ** 40) || null;
  }

  /** File name without folders; `$b` stands for the name of the header file without its extension. */
  fileName(key: string): string {
    const base = this.#name.replace(/\.[^.]*$/, '');
    const value = this.optional(key)?.replace('$b', () => base);
    if (value === undefined) throw this.error(key, 'missing');
    if (/[/\\:\0]/.test(value) || value === '.' || value === '..')
      throw this.error(key, 'expected a file name without a folder');
    return value;
  }
}

/** NaN for text that is not a decimal number. */
function toNumber(text: string): number {
  return /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
}
