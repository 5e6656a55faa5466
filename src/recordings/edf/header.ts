import { MAX_CHANNELS } from '../limits';

const HEADER_BYTES = 256;
/** Lengths of the header fields in bytes. */
const FIELDS = {
  version: 8,
  patient: 80,
  recording: 80,
  date: 8,
  time: 8,
  headerBytes: 8,
  reserved: 44,
  records: 8,
  recordSeconds: 8,
  signals: 4,
} as const;
/** Lengths of the fields of each signal in bytes. A field of all signals precedes the next field. */
const SIGNAL_FIELDS = {
  label: 16,
  transducer: 80,
  unit: 8,
  physicalMinimum: 8,
  physicalMaximum: 8,
  digitalMinimum: 8,
  digitalMaximum: 8,
  prefilter: 80,
  samplesPerRecord: 8,
  reserved: 32,
} as const;
const NUMBER = /^[-+]?(?:\d+[.,]?\d*|[.,]\d+)(?:e[-+]?\d+)?$/i;
const MAX_SAMPLES_PER_RECORD = 10_000_000;
/** Shorter records would have infinite sampling rates. */
const MIN_RECORD_SECONDS = 1e-9;
/** Years of two digits below this number are in the 21st century. */
const CENTURY_FROM = 85;

/** Signal as its header describes it. Numbers are NaN if the field is not a number. */
export interface EdfSignal {
  readonly label: string;
  readonly unit: string;
  readonly physicalMinimum: number;
  readonly physicalMaximum: number;
  readonly digitalMinimum: number;
  readonly digitalMaximum: number;
  readonly samplesPerRecord: number;
  /** Offset of the samples in each record, in samples. */
  readonly offset: number;
}

export interface EdfHeader {
  /** 2 for EDF, 3 for BDF. */
  readonly bytesPerSample: 2 | 3;
  /** Whether records may have gaps between them (EDF+D, BDF+D). */
  readonly hasGaps: boolean;
  /** Start in ms since 1970, as if local time were UTC; null if the fields are not a date. */
  readonly startMs: number | null;
  readonly headerBytes: number;
  /** -1 if the recorder was stopped; NaN if the field is not a number. */
  readonly records: number;
  readonly recordSeconds: number;
  readonly samplesPerRecord: number;
  readonly signals: readonly EdfSignal[];
}

/** Creates an error with the name of the file. */
export type Fail = (problem: string) => Error;

/** Whether a file starts like EDF, or BDF, the variant with 24 bits per sample. */
export function isEdf(start: Uint8Array): boolean {
  const text = latin1(start, 0, 8);
  return /^0[ \0]{7}$/.test(text) || isBdf(text);
}

const isBdf = (text: string): boolean => text.startsWith('\xffBIOSEMI');

/**
 * Reads and validates the header of EDF (https://www.edfplus.info/specs) or BDF
 * (https://www.biosemi.com/faq/file_format.htm). Accepts NUL padding and decimal commas.
 *
 * @throws the error of `fail`
 */
export function readHeader(bytes: Uint8Array, fail: Fail): EdfHeader {
  if (bytes.length < HEADER_BYTES) throw fail('is truncated in its header.');
  const fields = splitFields(latin1(bytes, 0, HEADER_BYTES), FIELDS, 1);
  const text = (name: keyof typeof FIELDS) => (fields[name] as readonly string[])[0] as string;
  const count = toNumber(text('signals'));
  if (!isInteger(count, 1, MAX_CHANNELS))
    throw fail('has an invalid number of channels in its header (bytes 252 to 255).');
  const headerBytes = toNumber(text('headerBytes'));
  if (headerBytes !== HEADER_BYTES * (count + 1)) {
    throw fail(
      `has a header whose length differs from the specified length: expected ${HEADER_BYTES * (count + 1)} bytes for ${count} channels (bytes 184 to 191).`,
    );
  }
  if (bytes.length < headerBytes) throw fail('is truncated in its header.');
  const recordSeconds = toNumber(text('recordSeconds'));
  const isDuration = recordSeconds === 0 || recordSeconds >= MIN_RECORD_SECONDS;
  if (!isDuration || recordSeconds === Infinity)
    throw fail('has an invalid record duration in its header (bytes 244 to 251).');
  const signals = readSignals(latin1(bytes, HEADER_BYTES, headerBytes), count, fail);
  return {
    bytesPerSample: isBdf(text('version')) ? 3 : 2,
    hasGaps: /^(?:EDF|BDF)\+D/.test(text('reserved')),
    startMs: readStart(text('date'), text('time')),
    headerBytes,
    records: toNumber(text('records')),
    recordSeconds,
    samplesPerRecord: signals.reduce((sum, signal) => sum + signal.samplesPerRecord, 0),
    signals,
  };
}

function readSignals(text: string, count: number, fail: Fail): readonly EdfSignal[] {
  const fields = splitFields(text, SIGNAL_FIELDS, count);
  let offset = 0;
  return fields.label.map((label, index) => {
    const number = (name: keyof typeof SIGNAL_FIELDS) => toNumber(fields[name][index] as string);
    const samplesPerRecord = number('samplesPerRecord');
    if (!isInteger(samplesPerRecord, 0, MAX_SAMPLES_PER_RECORD))
      throw fail(`“${label.trim()}” has an invalid number of samples per record in the header.`);
    offset += samplesPerRecord;
    return {
      label: label.trim(),
      unit: (fields.unit[index] as string).trim(),
      physicalMinimum: number('physicalMinimum'),
      physicalMaximum: number('physicalMaximum'),
      digitalMinimum: number('digitalMinimum'),
      digitalMaximum: number('digitalMaximum'),
      samplesPerRecord,
      offset: offset - samplesPerRecord,
    };
  });
}

/** Splits text into fields of fixed length, each without the part from the first NUL on. */
function splitFields<Name extends string>(
  text: string,
  lengths: Readonly<Record<Name, number>>,
  times: number,
): Readonly<Record<Name, readonly string[]>> {
  let at = 0;
  const fields = Object.entries<number>(lengths).map(([name, length]) => {
    const values = Array.from({ length: times }, (_, index) => {
      const [value = ''] = text.slice(at + index * length, at + (index + 1) * length).split('\0');
      return value;
    });
    at += length * times;
    return [name, values];
  });
  return Object.fromEntries(fields);
}

/** `Number` would read an empty field as 0 and 0x10 as 16. */
function toNumber(text: string): number {
  const trimmed = text.trim();
  return NUMBER.test(trimmed) ? Number(trimmed.replace(',', '.')) : Number.NaN;
}

function readStart(date: string, time: string): number | null {
  const [, day, month, year] = /^(\d\d?)\D(\d\d?)\D(\d\d)/.exec(date.trim()) ?? [];
  const [, hours, minutes, seconds] = /^(\d\d?)\D(\d\d?)\D(\d\d?)/.exec(time.trim()) ?? [];
  const century = Number(year) < CENTURY_FROM ? 2000 : 1900;
  const parts = [century + Number(year), Number(month) - 1, Number(day)] as const;
  const start = new Date(Date.UTC(...parts, Number(hours), Number(minutes), Number(seconds)));
  // Date.UTC accepts the 31st of February as the 3rd of March.
  const isDate = start.getUTCMonth() === parts[1] && start.getUTCDate() === parts[2];
  return isDate ? start.getTime() : null;
}

function isInteger(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  return new TextDecoder('latin1').decode(bytes.subarray(start, end));
}
