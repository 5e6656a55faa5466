/*
 * A cell of a row is null, a boolean, a string, a number (double), a bigint, bytes, a JsonText, a Timestamp, an array of
 * cells, or an object of cells.
 */

/** JSON source text of a value: preserves all digits of numbers and the formatting of arrays and objects. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Time in ms since 1970, UTC, without a limited range. */
export class Timestamp {
  readonly millis: bigint;

  constructor(millis: bigint) {
    this.millis = millis;
  }
}

/** Error of a cell value. The message does not quote the value. */
export class CellError extends Error {
  override readonly name = 'CellError';
}

const INTEGER = /^-?\d+$/;
const NUMBER = /^-?\d+(?:\.\d+)?(?:e[-+]?\d+)?$/i;
/** Maximum precision of Number.prototype.toPrecision. */
const MAX_DIGITS = 100;
/** Digits of the largest double. */
const MAX_INTEGER_DIGITS = 309;

/** Converts a cell to an integer without loss; null if the cell is not an integer literal or is -0. */
export function toExactInteger(cell: unknown): bigint | null {
  if (typeof cell === 'bigint') return cell;
  if (typeof cell === 'number') {
    return Number.isSafeInteger(cell) && !Object.is(cell, -0) ? BigInt(cell) : null;
  }
  if (!(cell instanceof JsonText) || !INTEGER.test(cell.text)) return null;
  return /^-0+$/.test(cell.text) || cell.text.length > MAX_INTEGER_DIGITS
    ? null
    : BigInt(cell.text);
}

/** Converts a cell to a double without loss; null if digits would be lost or the cell is not a number. */
export function toExactDouble(cell: unknown): number | null {
  if (typeof cell === 'number') return cell;
  if (typeof cell === 'bigint') return BigInt(Number(cell)) === cell ? Number(cell) : null;
  return cell instanceof JsonText && NUMBER.test(cell.text) ? parseExactDouble(cell.text) : null;
}

function parseExactDouble(text: string): number | null {
  const value = Number(text);
  if (!Number.isFinite(value)) return null;
  // For example, no double equals 2^53 + 1.
  if (INTEGER.test(text)) return BigInt(value) === BigInt(text) ? value : null;
  const digits = significantDigits(text);
  if (digits === '') return value;
  if (digits.length > MAX_DIGITS) return null;
  return significantDigits(value.toPrecision(digits.length)) === digits ? value : null;
}

/** Digits of a number without leading and trailing zeros. */
function significantDigits(number: string): string {
  const [mantissa = ''] = number.toLowerCase().split('e');
  return mantissa.replace(/[-.]/g, '').replace(/^0+|0+$/g, '');
}

const DAY_SECONDS = 86_400n;
/** The Gregorian calendar repeats every 400 years. */
const CYCLE_DAYS = 146_097n;
const CYCLE_YEARS = 400n;

/**
 * Formats a time since 1970 as ISO 8601, without a limited range: 1704067200123456 µs → "2024-01-01T00:00:00.123456Z".
 *
 * @param digits digits of the fraction of a second; defines the unit of `value`
 */
export function formatTimestamp(value: bigint, digits: number): string {
  const perSecond = 10n ** BigInt(digits);
  const [seconds, fraction] = floorDivide(value, perSecond);
  const [days, secondOfDay] = floorDivide(seconds, DAY_SECONDS);
  const [cycles, dayOfCycle] = floorDivide(days, CYCLE_DAYS);
  const date = new Date(Number(dayOfCycle * DAY_SECONDS + secondOfDay) * 1000);
  const year = formatYear(BigInt(date.getUTCFullYear()) + cycles * CYCLE_YEARS);
  const rest = date.toISOString().slice(4, -5);
  return `${year}${rest}${digits > 0 ? `.${String(fraction).padStart(digits, '0')}` : ''}Z`;
}

/** Years outside of 0 to 9999 have a sign and at least six digits, as in ECMAScript. */
function formatYear(year: bigint): string {
  if (year >= 0n && year <= 9999n) return String(year).padStart(4, '0');
  return `${year < 0n ? '-' : '+'}${String(year < 0n ? -year : year).padStart(6, '0')}`;
}

/** Integer division that rounds towards minus infinity. */
export function floorDivide(value: bigint, by: bigint): readonly [quotient: bigint, rest: bigint] {
  const rest = ((value % by) + by) % by;
  return [(value - rest) / by, rest];
}

/** Serializes a cell as JSON. Numbers keep all digits; NaN and infinities become strings. */
export function toJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') {
    return Number.isFinite(value) ? formatNumber(value) : `"${formatNumber(value)}"`;
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  // A line break inside of a value would end the JSONL line.
  if (value instanceof JsonText) return value.text.replace(/[\r\n]+/g, ' ');
  if (value instanceof Timestamp) return JSON.stringify(formatTimestamp(value.millis, 3));
  if (value instanceof Uint8Array) return JSON.stringify(base64(value));
  if (Array.isArray(value) || ArrayBuffer.isView(value)) {
    return `[${Array.from(value as ArrayLike<unknown>, toJson).join(',')}]`;
  }
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${toJson(member)}`).join(',')}}`;
}

/** Text of a cell in a table or string column: strings unchanged, other values as JSON without quotes. */
export function toText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return formatNumber(value);
  if (value instanceof JsonText) return value.text;
  if (value instanceof Timestamp) return formatTimestamp(value.millis, 3);
  return value instanceof Uint8Array ? base64(value) : toJson(value);
}

function formatNumber(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
}
