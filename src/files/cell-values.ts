/**
 * What a cell of a row holds, exactly: null, a boolean, a string, a number (a double), a bigint, bytes, one of the
 * classes below, an array of cells, or an object of cells.
 */

/** A JSON value by its text: numbers that no double holds, and arrays and objects as they were written. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A time of any distance, in ms since 1970, UTC. */
export class Timestamp {
  readonly millis: bigint;

  constructor(millis: bigint) {
    this.millis = millis;
  }
}

/** Why a cell cannot be read, without its content. */
export class CellError extends Error {
  override readonly name = 'CellError';
}

const INTEGER = /^-?\d+$/;
const NUMBER = /^-?\d+(?:\.\d+)?(?:e[-+]?\d+)?$/i;
/** As many as JavaScript writes. */
const MOST_DIGITS = 100;
/** Of the largest double. */
const MOST_INTEGER_DIGITS = 309;

/** An integer that is written as one; null: the cell is no integer, or is -0. */
export function toExactInteger(cell: unknown): bigint | null {
  if (typeof cell === 'bigint') return cell;
  if (typeof cell === 'number') {
    return Number.isSafeInteger(cell) && !Object.is(cell, -0) ? BigInt(cell) : null;
  }
  if (!(cell instanceof JsonText) || !INTEGER.test(cell.text)) return null;
  return /^-0+$/.test(cell.text) || cell.text.length > MOST_INTEGER_DIGITS
    ? null
    : BigInt(cell.text);
}

/** A double that has all digits of the cell; null: no double has, or the cell is no number. */
export function toExactDouble(cell: unknown): number | null {
  if (typeof cell === 'number') return cell;
  if (typeof cell === 'bigint') return BigInt(Number(cell)) === cell ? Number(cell) : null;
  return cell instanceof JsonText && NUMBER.test(cell.text) ? exactDouble(cell.text) : null;
}

function exactDouble(text: string): number | null {
  const value = Number(text);
  if (!Number.isFinite(value)) return null;
  // 2^53 + 1 has the digits of no double.
  if (INTEGER.test(text)) return BigInt(value) === BigInt(text) ? value : null;
  const digits = significant(text);
  if (digits === '') return value;
  if (digits.length > MOST_DIGITS) return null;
  return significant(value.toPrecision(digits.length)) === digits ? value : null;
}

/** Digits between the first and the last that is not 0. */
function significant(number: string): string {
  const [mantissa = ''] = number.toLowerCase().split('e');
  return mantissa.replace(/[-.]/g, '').replace(/^0+|0+$/g, '');
}

const DAY_SECONDS = 86_400n;
/** After 400 years the calendar repeats. */
const CYCLE_DAYS = 146_097n;
const CYCLE_YEARS = 400n;

/**
 * A time since 1970 as ISO 8601, in years of any number of digits: 1704067200123456 µs → "2024-01-01T00:00:00.123456Z".
 *
 * @param digits of the fraction of a second
 */
export function formatTimestamp(value: bigint, digits: number): string {
  const perSecond = 10n ** BigInt(digits);
  const [seconds, fraction] = floorDivide(value, perSecond);
  const [days, secondOfDay] = floorDivide(seconds, DAY_SECONDS);
  const [cycles, dayOfCycle] = floorDivide(days, CYCLE_DAYS);
  const date = new Date(Number(dayOfCycle * DAY_SECONDS + secondOfDay) * 1000);
  const year = yearText(BigInt(date.getUTCFullYear()) + cycles * CYCLE_YEARS);
  const rest = date.toISOString().slice(4, -5);
  return `${year}${rest}${digits > 0 ? `.${String(fraction).padStart(digits, '0')}` : ''}Z`;
}

/** Years of more than four digits have a sign, and six digits or more, as ECMAScript has them. */
function yearText(year: bigint): string {
  if (year >= 0n && year <= 9999n) return String(year).padStart(4, '0');
  return `${year < 0n ? '-' : '+'}${String(year < 0n ? -year : year).padStart(6, '0')}`;
}

/** Towards minus infinity. */
export function floorDivide(value: bigint, by: bigint): readonly [quotient: bigint, rest: bigint] {
  const rest = ((value % by) + by) % by;
  return [(value - rest) / by, rest];
}
