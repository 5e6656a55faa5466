import { CONTINUOUS, type Segment } from './recording';

export interface TimeColumn {
  /** Units per second; null if the column counts samples or the unit is unknown. */
  readonly unit: number | null;
  /** Null if the column counts samples or the unit is unknown. */
  readonly samplingRateHz: number | null;
  /** Continuous parts; one part if the unit is unknown. */
  readonly segments: readonly Segment[];
  readonly notes: readonly string[];
}

const TIME_NAME =
  /^(?:time|t|times?\s?stamp|seconds?|secs?|s|ms|milliseconds?|zeit|temps|tiempo|tempo|samples?|index|n)(?:\s*[[(]\s*\w+\s*[\])]|[\s_]+(?:s|sec|seconds|ms))?$/i;
const COUNTS = /^(?:samples?|index|n)$/i;
/** Minimum length of an unnamed column of times: shorter columns can rise evenly by chance. */
const MIN_UNNAMED_LENGTH = 8;
/** Step that is a gap, in typical steps. */
const GAP_STEPS = 1.5;
/** Maximum relative difference of even steps. */
const EVEN = 0.02;

export function isTimeName(title: string | null): boolean {
  return title !== null && TIME_NAME.test(title.trim());
}

/**
 * Detects a column of times by its name; a column without a name also if it rises in even steps. Null for other
 * columns.
 *
 * @param isAlone whether the table has no other column
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
  if (!isNamed && (times.length < MIN_UNNAMED_LENGTH || !isEven)) return null;
  return describe(times, steps, typical, title);
}

/** @param typical median step between the times */
function describe(
  times: readonly number[],
  steps: readonly number[],
  typical: number,
  title: string | null,
): TimeColumn {
  const unit = unitOf(title, typical);
  const first = times[0] as number;
  const span = (times[times.length - 1] as number) - first;
  const isGap = (step: number) => step > GAP_STEPS * typical;
  const hasGap = steps.some(isGap);
  if (unit === null) {
    const notes = hasGap
      ? ['The sample numbers have gaps, which are ignored: samples after a gap follow directly.']
      : [];
    return { unit, samplingRateHz: null, segments: CONTINUOUS, notes };
  }
  // Without gaps, the whole span gives a more precise rate than the median step.
  const period = hasGap ? typical : span / (times.length - 1);
  const gaps = steps.flatMap((step, index) => (isGap(step) ? [index + 1] : []));
  const segments = gaps.map((firstSample) => ({
    firstSample,
    startSeconds: ((times[firstSample] as number) - first) / unit,
    measuredRateHz: null,
  }));
  const notes = hasGap ? ['The times have gaps. No window spans a gap.'] : [];
  return {
    unit,
    samplingRateHz: roundRate(unit / period),
    segments: [...CONTINUOUS, ...segments],
    notes,
  };
}

/** Units per second; null if the column counts samples. */
function unitOf(title: string | null, typical: number): number | null {
  const name = title?.trim() ?? '';
  if (COUNTS.test(name)) return null;
  if (/(?:^|[[(\s_])(?:ms|msec|milliseconds?)[\])]?$/i.test(name)) return 1000;
  if (/(?:^|[[(\s_])(?:us|µs)[\])]?$/i.test(name)) return 1e6;
  if (/(?:^|[[(\s_])(?:s|sec|secs|seconds?)[\])]?$/i.test(name)) return 1;
  if (typical === 1) return null; // Samples, seconds or milliseconds.
  return typical > 1 ? 1000 : 1;
}

/** @param mayBeDate whether dates are accepted, as seconds since 1970 */
export function toTime(cell: string, decimal: '.' | ',', mayBeDate: boolean): number {
  const number = toNumber(cell, decimal);
  if (Number.isFinite(number) || !mayBeDate || !/\d[-:T/]\d/.test(cell)) return number;
  return Date.parse(cell.trim().replace(' ', 'T')) / 1000;
}

/** Rounds a rate that is nearly an integer, because times have few digits: 255.998 → 256. */
function roundRate(rate: number): number {
  const whole = Math.round(rate);
  return whole > 0 && Math.abs(rate - whole) <= 0.002 * rate ? whole : Number(rate.toPrecision(6));
}

/** Parses a decimal number; NaN for other text. Accepts U+2212 as the minus sign, which some locales use. */
export function toNumber(cell: string, decimal: '.' | ','): number {
  const plain = cell.trim().replaceAll('\u2212', '-');
  const text = decimal === ',' ? plain.replace(',', '.') : plain;
  return /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
}
