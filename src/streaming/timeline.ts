/** Where a sample is: its number, or when it was taken, as seconds of any clock or in time of the world. */
export type Place =
  | { readonly type: 'index'; readonly index: number }
  | { readonly type: 'seconds'; readonly seconds: number }
  /** Since 1970-01-01T00:00:00Z. */
  | { readonly type: 'date'; readonly seconds: number };

/** A time stamp that is off by less says nothing of a gap: by so many samples, or so many seconds. */
const SLACK_SAMPLES = 1.5;
const SLACK_SECONDS = 0.02;
/** The last number that a sample can have: sums of whole numbers up to here are exact. */
export const MOST_INDEX = 2 ** 50;
const FIRST_DATE = '0000-01-01T00:00:00.000Z';
const LAST_DATE = '9999-12-31T23:59:59.999Z';

/** Times that a sample can have, in seconds: of dates those whose year has four digits. */
const TIMES = {
  index: [0, Number.POSITIVE_INFINITY],
  seconds: [-MOST_INDEX, MOST_INDEX],
  date: [Date.parse(FIRST_DATE) / 1000, Date.parse(LAST_DATE) / 1000],
} as const;

/** A place that cannot be where a client says it is; the message says why. */
export class PlaceError extends Error {
  override readonly name = 'PlaceError';
  /** It is before a sample that has come. */
  readonly isBack: boolean;

  constructor(message: string, { isBack = false } = {}) {
    super(message);
    this.isBack = isBack;
  }
}

/** Numbers and times of the samples of a stream. */
export class Timeline {
  /** In which the client says where samples are, and is told. */
  readonly type: Place['type'];
  readonly samplingRate: number;
  /** The number that the next sample will have. */
  next: number;
  /** The sample whose time is known last, and its time in seconds. */
  #index: number;
  #seconds: number;

  /**
   * @param samplingRate Hz
   * @throws PlaceError: a clock does not go that far
   */
  constructor(start: Place, samplingRate: number) {
    requireInRange(start);
    this.type = start.type;
    this.samplingRate = samplingRate;
    this.next = start.type === 'index' ? start.index : 0;
    this.#index = this.next;
    this.#seconds = start.type === 'index' ? start.index / samplingRate : start.seconds;
  }

  /** Of a sample, which may lie between two, in seconds. */
  secondsOf(index: number): number {
    return this.#seconds + (index - this.#index) / this.samplingRate;
  }

  /**
   * The next sample is here. Times may tremble, and a clock may run faster than the rate says: what is near
   * enough is taken for no gap, and for the time from then on.
   *
   * @returns how many samples are missing before it
   * @throws PlaceError: it says nothing that can be, or goes back
   */
  missingBefore(place: Place): number {
    if (place.type !== this.type) {
      throw new PlaceError(`expected ${WORDS[this.type]}, as "start" is`);
    }
    const missing =
      place.type === 'index' ? place.index - this.next : this.#missingUntil(place.seconds);
    if (missing < 0) {
      const what = `goes back by ${-missing} samples: those have come already`;
      throw new PlaceError(what, { isBack: true });
    }
    requireInRange(place);
    requireIndex(this.next + missing);
    if (place.type !== 'index') {
      this.#index = this.next + missing;
      this.#seconds = place.seconds;
    }
    return missing;
  }

  /**
   * So many samples have come, or are missing.
   *
   * @throws PlaceError: they lead beyond the last number or the last time
   */
  pass(samples: number): void {
    this.require(samples);
    this.next += samples;
  }

  /** Whether so many more samples have numbers and times. @throws PlaceError: they have not */
  require(samples: number): void {
    const next = this.next + samples;
    requireIndex(next);
    if (this.type !== 'index') requireInRange({ type: this.type, seconds: this.secondsOf(next) });
  }

  #missingUntil(seconds: number): number {
    const samples = (seconds - this.secondsOf(this.next)) * this.samplingRate;
    const slack = Math.max(SLACK_SAMPLES, SLACK_SECONDS * this.samplingRate);
    return Math.abs(samples) <= slack ? 0 : Math.round(samples);
  }
}

function requireIndex(index: number): void {
  if (index <= MOST_INDEX) return;
  throw new PlaceError(`leads beyond sample ${MOST_INDEX}, the last one. Open another stream`);
}

function requireInRange(place: Place): void {
  if (isInRange(place)) return;
  const [first, last] =
    place.type === 'date' ? [FIRST_DATE, LAST_DATE] : TIMES[place.type].map((time) => `${time} s`);
  throw new PlaceError(`leads to a time that is not from ${first} to ${last}. Open another stream`);
}

/** Whether a sample can be there: what is added to it stays exact, and can be written as a time. */
export function isInRange(place: Place): boolean {
  if (place.type === 'index') return place.index >= 0 && place.index <= MOST_INDEX;
  const [first, last] = TIMES[place.type];
  return place.seconds >= first && place.seconds <= last;
}

export const MICROSECONDS = 1e6;

/** When a sample was taken, as answers say it: to the microsecond, of a date to the millisecond. */
export function timeOf(type: Place['type'], seconds: number): number | string {
  if (type === 'date') return new Date(Math.round(seconds * 1000)).toISOString();
  return Math.round(seconds * MICROSECONDS) / MICROSECONDS;
}

export const WORDS = {
  index: 'the number of a sample',
  seconds: '{"seconds": number}',
  date: 'a time such as "2026-01-31T12:00:00.000Z"',
} as const;

const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;
/** What JSON says; null: that is no place. */
export function placeOf(value: unknown): Place | null {
  const place = read(value);
  return place && isInRange(place) ? place : null;
}

function read(value: unknown): Place | null {
  if (typeof value === 'number') {
    return Number.isInteger(value) ? { type: 'index', index: value } : null;
  }
  if (typeof value === 'string') {
    return DATE.test(value) ? { type: 'date', seconds: secondsOf(value) } : null;
  }
  const seconds = (value as { readonly seconds?: unknown } | null)?.seconds;
  return typeof seconds === 'number' ? { type: 'seconds', seconds } : null;
}

/** With all digits of the fraction, of which Date has three. */
function secondsOf(date: string): number {
  const fraction = /\.(\d+)/.exec(date)?.[1] ?? '';
  const without = date.replace(/\.\d+/, '');
  return Date.parse(without) / 1000 + (fraction === '' ? 0 : Number(`0.${fraction}`));
}
