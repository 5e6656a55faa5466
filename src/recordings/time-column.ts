export interface TimeColumn {
  /** In a second; null: it counts samples, or does not say in what unit. */
  readonly unit: number | null;
  /** null: it counts samples, or does not say in what unit. */
  readonly samplingRateHz: number | null;
  readonly notes: readonly string[];
}

const TIME_NAME =
  /^(?:time|t|times?\s?stamp|seconds?|secs?|s|ms|milliseconds?|zeit|temps|tiempo|tempo|samples?|index|n)(?:\s*[[(]\s*\w+\s*[\])]|[\s_]+(?:s|sec|seconds|ms))?$/i;
const COUNTS = /^(?:samples?|index|n)$/i;
/** Shorter columns go up evenly by chance. */
const SHORTEST_UNNAMED = 8;
const EVEN = 0.02;

export function isTimeName(title: string | null): boolean {
  return title !== null && TIME_NAME.test(title.trim());
}

/**
 * What a column says about when samples were taken; null when it is no column of times. One with
 * no name, or another one, is taken for it if it rises in even steps.
 *
 * @param isAlone there is no other column
 */
export function asTime(
  cells: readonly string[],
  title: string | null,
  decimal: '.' | ',',
  isAlone: boolean,
): TimeColumn | null {
  const isNamed = isTimeName(title);
  if (isAlone || (title !== null && !isNamed)) return null;
  const times = cells.map((cell) => toTime(cell, decimal, isNamed));
  if (times.length < 2 || times.some((time) => !Number.isFinite(time))) return null;
  const steps = times.slice(1).map((time, index) => time - (times[index] as number));
  if (steps.some((step) => step <= 0)) return null;
  const typical = [...steps].sort((a, b) => a - b)[Math.floor(steps.length / 2)] as number;
  const isEven = steps.every((step) => Math.abs(step - typical) <= EVEN * typical);
  if (!isNamed && (times.length < SHORTEST_UNNAMED || !isEven)) return null;
  return describe(times, steps, typical, title);
}

/** @param typical the usual one of the steps between the times */
function describe(
  times: readonly number[],
  steps: readonly number[],
  typical: number,
  title: string | null,
): TimeColumn {
  const unit = unitOf(title, typical);
  if (unit === null) return { unit, samplingRateHz: null, notes: [] };
  const span = (times[times.length - 1] as number) - (times[0] as number);
  // A gap must not lower the rate: without one, the whole span is more exact than one step.
  const hasGap = steps.some((step) => step > 1.5 * typical);
  const period = hasGap ? typical : span / (times.length - 1);
  const notes = hasGap
    ? ['The times have gaps. They are left out: what comes after one is drawn directly behind it.']
    : [];
  return { unit, samplingRateHz: nearlyWhole(unit / period), notes };
}

/** Steps of time in a second; null: it counts samples. */
function unitOf(title: string | null, typical: number): number | null {
  const name = title?.trim() ?? '';
  if (COUNTS.test(name)) return null;
  if (/(?:^|[[(\s_])(?:ms|msec|milliseconds?)[\])]?$/i.test(name)) return 1000;
  if (/(?:^|[[(\s_])(?:us|µs)[\])]?$/i.test(name)) return 1e6;
  if (/(?:^|[[(\s_])(?:s|sec|secs|seconds?)[\])]?$/i.test(name)) return 1;
  if (typical === 1) return null; // samples, or seconds, or milliseconds: nobody can tell
  return typical > 1 ? 1000 : 1;
}

/** @param mayBeDate a date becomes seconds since 1970 */
export function toTime(cell: string, decimal: '.' | ',', mayBeDate: boolean): number {
  const number = toNumber(cell, decimal);
  if (Number.isFinite(number) || !mayBeDate || !/\d[-:T/]\d/.test(cell)) return number;
  return Date.parse(cell.trim().replace(' ', 'T')) / 1000;
}

/** 255.998 → 256: times are written with few digits. */
function nearlyWhole(rate: number): number {
  const whole = Math.round(rate);
  return whole > 0 && Math.abs(rate - whole) <= 0.002 * rate ? whole : Number(rate.toPrecision(6));
}

/** NaN for what is no decimal number. Minus may be U+2212, as typesetting and some locales have it. */
export function toNumber(cell: string, decimal: '.' | ','): number {
  const plain = cell.trim().replaceAll('\u2212', '-');
  const text = decimal === ',' ? plain.replace(',', '.') : plain;
  return /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
}
