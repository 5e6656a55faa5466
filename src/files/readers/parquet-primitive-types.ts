import { CellError, floorDivide, formatTimestamp, JsonText, Timestamp } from '../cell-values';
import type { ColumnType } from '../job-spec';

type Library = typeof import('hyparquet', { with: { 'resolution-mode': 'import' }});
export type SchemaElement = Awaited<ReturnType<Library['parquetMetadataAsync']>>['schema'][number];

/** Conversion of a primitive column to cells. */
interface PrimitiveType {
  /** Type of the output column. */
  readonly type: ColumnType;
  /** @throws CellError if the cell is not representable */
  readonly decode: (value: unknown) => unknown;
}

/** Decimal digits that every double represents exactly. */
const DECIMAL_DIGITS = 15;
const DAY_MILLIS = 86_400_000n;
const UNIT_DIGITS = { MILLIS: 3, MICROS: 6, NANOS: 9 } as const;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const UNCHANGED = (value: unknown) => value;
const BOOLEAN: PrimitiveType = { type: 'boolean', decode: UNCHANGED };
const INTEGER: PrimitiveType = { type: 'integer', decode: UNCHANGED };
const NUMBER: PrimitiveType = { type: 'number', decode: UNCHANGED };
const BYTES: PrimitiveType = { type: 'string', decode: (value) => bytesOf(value) };
const TEXT: PrimitiveType = { type: 'string', decode: (value) => textOf(bytesOf(value)) };
const JSON_TEXT: PrimitiveType = {
  type: 'json',
  decode: (value) => jsonOf(textOf(bytesOf(value))),
};
const UUID: PrimitiveType = { type: 'string', decode: (value) => uuidOf(bytesOf(value)) };
const FLOAT16: PrimitiveType = { type: 'number', decode: (value) => float16(bytesOf(value)) };
const DATE: PrimitiveType = {
  type: 'time',
  decode: (days) => new Timestamp(bigintOf(days) * DAY_MILLIS),
};
const UNSIGNED_32: PrimitiveType = { type: 'integer', decode: (value) => (value as number) >>> 0 };
const UNSIGNED_64: PrimitiveType = {
  type: 'unsigned',
  decode: (value) => BigInt.asUintN(64, bigintOf(value)),
};
/** The library converts INT96 to nanoseconds since 1970. */
const INT96 = timestamp(9);

/** Conversions by logical type. */
const BY_LOGICAL: { readonly [name: string]: PrimitiveType } = {
  STRING: TEXT,
  ENUM: TEXT,
  JSON: JSON_TEXT,
  UUID,
  FLOAT16,
  DATE,
};
/** Conversions by converted type, which older writers use. */
const BY_CONVERTED: { readonly [name: string]: PrimitiveType } = {
  UTF8: TEXT,
  ENUM: TEXT,
  JSON: JSON_TEXT,
  DATE,
  UINT_8: UNSIGNED_32,
  UINT_16: UNSIGNED_32,
  UINT_32: UNSIGNED_32,
  UINT_64: UNSIGNED_64,
  TIME_MILLIS: timeOfDay(3),
  TIME_MICROS: timeOfDay(6),
  TIMESTAMP_MILLIS: timestamp(3),
  TIMESTAMP_MICROS: timestamp(6),
};
/** Conversions by physical type, for columns without a logical or converted type. */
const BY_PHYSICAL: { readonly [name: string]: PrimitiveType } = {
  BOOLEAN,
  INT32: INTEGER,
  INT64: INTEGER,
  INT96,
  FLOAT: NUMBER,
  DOUBLE: NUMBER,
  BYTE_ARRAY: BYTES,
  FIXED_LEN_BYTE_ARRAY: BYTES,
};

export function primitiveTypeOf(element: SchemaElement): PrimitiveType {
  const { type = '', logical_type: logical, converted_type: converted = '' } = element;
  switch (logical?.type) {
    case 'DECIMAL':
      return decimal(logical.precision, logical.scale);
    case 'TIME':
      return timeOfDay(UNIT_DIGITS[logical.unit]);
    case 'TIMESTAMP':
      return timestamp(UNIT_DIGITS[logical.unit]);
    case 'INTEGER':
      if (logical.isSigned) return INTEGER;
      return type === 'INT64' ? UNSIGNED_64 : UNSIGNED_32;
  }
  if (converted === 'DECIMAL') return decimal(element.precision ?? 0, element.scale ?? 0);
  const found = BY_LOGICAL[logical?.type ?? ''] ?? BY_CONVERTED[converted] ?? BY_PHYSICAL[type];
  return found ?? BYTES;
}

/** Returns whether a column contains strings. */
export const isText = (element: SchemaElement): boolean => primitiveTypeOf(element) === TEXT;

function decimal(precision: number, scale: number): PrimitiveType {
  // Longer decimals become JSON text, which keeps all digits.
  const type = precision > 0 && precision <= DECIMAL_DIGITS ? 'number' : 'json';
  return { type, decode: (value) => new JsonText(formatDecimal(unscaledValue(value), scale)) };
}

function formatDecimal(value: bigint, scale: number): string {
  if (scale <= 0) return String(value * 10n ** BigInt(-scale));
  const [sign, digits] = value < 0n ? ['-', -value] : ['', value];
  const padded = String(digits).padStart(scale + 1, '0');
  return `${sign}${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
}

/** Unscaled integer of a decimal, stored as a number or as big-endian bytes. */
function unscaledValue(value: unknown): bigint {
  if (!(value instanceof Uint8Array)) return bigintOf(value);
  if (value.length === 0) return 0n;
  const hex = Buffer.from(value.buffer, value.byteOffset, value.length).toString('hex');
  return BigInt.asIntN(value.length * 8, BigInt(`0x${hex}`));
}

/** Milliseconds become timestamps; finer units become text, because output formats would lose digits. */
function timestamp(digits: number): PrimitiveType {
  return digits === 3
    ? { type: 'time', decode: (millis) => new Timestamp(bigintOf(millis)) }
    : { type: 'string', decode: (value) => formatTimestamp(bigintOf(value), digits) };
}

function timeOfDay(digits: number): PrimitiveType {
  const perDay = 86_400n * 10n ** BigInt(digits);
  return {
    type: 'string',
    decode: (stored) => {
      const value = bigintOf(stored);
      if (floorDivide(value, perDay)[0] !== 0n)
        throw new CellError('time of day outside of 24 hours');
      return formatTimestamp(value, digits).slice('1970-01-01T'.length, -1);
    },
  };
}

function bigintOf(value: unknown): bigint {
  return BigInt(value as number | bigint);
}

function bytesOf(value: unknown): Uint8Array {
  return value as Uint8Array;
}

function textOf(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new CellError('not UTF-8');
  }
}

function jsonOf(text: string): JsonText {
  try {
    JSON.parse(text);
  } catch {
    throw new CellError('not JSON');
  }
  return new JsonText(text.trim());
}

function uuidOf(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Decodes IEEE 754 binary16. */
function float16(bytes: Uint8Array): number {
  const bits = ((bytes[1] as number) << 8) | (bytes[0] as number);
  const [exponent, fraction] = [(bits >> 10) & 0x1f, bits & 0x3ff];
  const sign = bits & 0x8000 ? -1 : 1;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return exponent === 0
    ? sign * fraction * 2 ** -24
    : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
