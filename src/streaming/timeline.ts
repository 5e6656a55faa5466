/** Position of a sample: its number, or the time at which it was taken. */
export type SamplePosition =
  | { readonly type: 'index'; readonly index: number }
  /** Seconds on any clock. */
  | { readonly type: 'seconds'; readonly seconds: number }
  /** Seconds since 1970-01-01T00:00:00Z. */
  | { readonly type: 'date'; readonly seconds: number };

/** Clock jitter that is not a gap: the larger of the two, in samples and in seconds. */
const JITTER_SAMPLES = 1.5;
const JITTER_SECONDS = 0.02;
/** Largest sample number. Sums of integers up to here are exact in float64. */
export const MAX_SAMPLE_INDEX = 2 ** 50;
const FIRST_DATE = '0000-01-01T00:00:00.000Z';
const LAST_DATE = '9999-12-31T23:59:59.999Z';

/** Range of times by position type, in seconds. Dates have years of four digits. */
const TIME_RANGES = {
  index: [0, Number.POSITIVE_INFINITY],
  seconds: [-MAX_SAMPLE_INDEX, MAX_SAMPLE_INDEX],
  date: [Date.parse(FIRST_DATE) / 1000, Date.parse(LAST_DATE) / 1000],
} as const;

/** Accepted formats of positions by type, for error messages. */
export const POSITION_FORMATS = {
  index: 'the number of a sample',
  seconds: '{"seconds": number}',
  date: 'a time such as "2026-01-31T12:00:00.000Z"',
} as const;

export const ANY_POSITION = `${POSITION_FORMATS.index}, ${POSITION_FORMATS.seconds} or ${POSITION_FORMATS.date}`;

const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;
export const MICROSECONDS_PER_SECOND = 1e6;

/** Error for an invalid sample position. The message lacks the field name, which the caller adds. */
export class PositionError extends Error {
  override readonly name = 'PositionError';
  /** Whether the position is before the next sample. */
  readonly isBackward: boolean;

  constructor(message: string, { isBackward = false } = {}) {
    super(message);
    this.isBackward = isBackward;
  }
}

/** Numbers and times of the samples of one stream. */
export class Timeline {
  /** Position type that the client uses; results use the same type. */
  readonly type: SamplePosition['type'];
  /** Hz. */
  readonly samplingRate: number;
  /** Number of the next sample. */
  next: number;
  /** Last sample with a time from the client, and that time in seconds. */
  #index: number;
  #seconds: number;

  /**
   * @param samplingRate Hz
   * @throws PositionError: the start is out of range
   */
  constructor(start: SamplePosition, samplingRate: number) {
    requireInRange(start);
    this.type = start.type;
    this.samplingRate = samplingRate;
    this.next = start.type === 'index' ? start.index : 0;
    this.#index = this.next;
    this.#seconds = start.type === 'index' ? start.index / samplingRate : start.seconds;
  }

  /** Time in seconds of a sample number, which can be fractional. */
  secondsAt(index: number): number {
    return this.#seconds + (index - this.#index) / this.samplingRate;
  }

  /**
   * Synchronizes the timeline with the position of the next sample. A time within the jitter is not a gap, but
   * corrects the clock.
   *
   * @returns number of missing samples before the position
   * @throws PositionError: the position has another type, is backward, or is out of range
   */
  missingBefore(position: SamplePosition): number {
    if (position.type !== this.type) {
      throw new PositionError(`expected ${POSITION_FORMATS[this.type]}, the type of "start"`);
    }
    const missing =
      position.type === 'index' ? position.index - this.next : this.#missingUntil(position.seconds);
    if (missing < 0) {
      const message = `goes back by ${-missing} samples, which were already received`;
      throw new PositionError(message, { isBackward: true });
    }
    requireInRange(position);
    requireIndex(this.next + missing);
    if (position.type !== 'index') {
      this.#index = this.next + missing;
      this.#seconds = position.seconds;
    }
    return missing;
  }

  /**
   * Advances past received or missing samples.
   *
   * @throws PositionError: the range of numbers or times ends before
   */
  advance(samples: number): void {
    this.requireRoom(samples);
    this.next += samples;
  }

  /** @throws PositionError: the range of numbers or times ends before so many more samples */
  requireRoom(samples: number): void {
    const next = this.next + samples;
    requireIndex(next);
    if (this.type !== 'index') requireInRange({ type: this.type, seconds: this.secondsAt(next) });
  }

  #missingUntil(seconds: number): number {
    const samples = (seconds - this.secondsAt(this.next)) * this.samplingRate;
    const jitter = Math.max(JITTER_SAMPLES, JITTER_SECONDS * this.samplingRate);
    return Math.abs(samples) <= jitter ? 0 : Math.round(samples);
  }
}

function requireIndex(index: number): void {
  if (index <= MAX_SAMPLE_INDEX) return;
  throw new PositionError(
    `exceeds the maximum sample number ${MAX_SAMPLE_INDEX}. Open a new stream`,
  );
}

function requireInRange(position: SamplePosition): void {
  if (isInRange(position)) return;
  const [first, last] =
    position.type === 'date'
      ? [FIRST_DATE, LAST_DATE]
      : TIME_RANGES[position.type].map((time) => `${time} s`);
  throw new PositionError(`exceeds the time range ${first} to ${last}. Open a new stream`);
}

/** Whether a position is within the range of sample numbers or times. */
export function isInRange(position: SamplePosition): boolean {
  if (position.type === 'index') return position.index >= 0 && position.index <= MAX_SAMPLE_INDEX;
  const [first, last] = TIME_RANGES[position.type];
  return position.seconds >= first && position.seconds <= last;
}

/** Formats the time of a sample for results: dates to the millisecond, other times to the microsecond. */
export function formatTime(type: SamplePosition['type'], seconds: number): number | string {
  if (type === 'date') return new Date(Math.round(seconds * 1000)).toISOString();
  return Math.round(seconds * MICROSECONDS_PER_SECOND) / MICROSECONDS_PER_SECOND;
}

/** Parses a position from its JSON value; null if the value is invalid or out of range. */
export function parsePosition(value: unknown): SamplePosition | null {
  const position = toPosition(value);
  return position && isInRange(position) ? position : null;
}

function toPosition(value: unknown): SamplePosition | null {
  if (typeof value === 'number') {
    return Number.isInteger(value) ? { type: 'index', index: value } : null;
  }
  if (typeof value === 'string') {
    return DATE.test(value) ? { type: 'date', seconds: parseDate(value) } : null;
  }
  const seconds = (value as { readonly seconds?: unknown } | null)?.seconds;
  return typeof seconds === 'number' ? { type: 'seconds', seconds } : null;
}

/** Seconds since 1970 with all digits of the fraction; `Date.parse` reads only three. */
function parseDate(date: string): number {
  const fraction = /\.(\d+)/.exec(date)?.[1] ?? '';
  const seconds = Date.parse(date.replace(/\.\d+/, '')) / 1000;
  return seconds + (fraction === '' ? 0 : Number(`0.${fraction}`));
}
