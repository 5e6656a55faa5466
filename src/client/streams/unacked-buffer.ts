import type { GapNotice } from '../../streaming/stream-messages';
import {
  formatTime,
  MICROSECONDS_PER_SECOND,
  type SamplePosition,
  Timeline,
} from '../../streaming/timeline';
import type { WindowGrid } from './window-grid';

/** Maximum number of values in a message, unless a frame has more. */
const MAX_VALUES = 4096;

/** Element of the source, at a sample. */
interface Entry {
  /** Number of the first sample. */
  readonly first: number;
  /** Number of samples, or of missing samples of a gap. */
  readonly length: number;
  /** Number of samples of the source before the entry, without gaps. */
  readonly count: number;
  /** Time of the first sample. */
  readonly seconds: number;
  /** Values of all channels, frame by frame; null: `message` is a gap or a position. */
  readonly samples: Float64Array | Float32Array | null;
  readonly message: object;
}

/** Samples between two gaps. */
interface Segment {
  /** Number of the first sample. */
  readonly base: number;
  /** Number of samples of the source before the segment, without gaps. */
  readonly count: number;
}

/** Start of a stream that is opened again. */
export interface RestartPoint {
  /** Number of the first sample. */
  readonly sample: number;
  readonly position: number | string | { readonly seconds: number };
  readonly window: number;
}

/**
 * Samples, gaps and positions of the source that are not sent yet, or that have to be sent again if the connection
 * breaks: the windows without a result need them.
 */
export class UnackedBuffer {
  /** Number of values of a sample: one per channel. */
  readonly width: number;
  readonly #timeline: Timeline;
  #entries: Entry[] = [];
  /** Next entry to send, and the index of its next sample. */
  #at = 0;
  #offset = 0;
  /** Number of samples of the source. */
  #count = 0;
  /** Segments from the next window on. */
  #segments: Segment[];
  /** Number of the next window without a result, and its index in its segment. */
  #window: number;
  #index = 0;
  /** Null before the stream is opened. */
  #grid: WindowGrid | null = null;
  /** Gaps without a notice from the server. */
  #gaps: GapNotice[] = [];

  constructor(start: SamplePosition, samplingRate: number, firstWindow: number, width: number) {
    this.width = width;
    this.#timeline = new Timeline(start, samplingRate);
    this.#segments = [{ base: this.#timeline.next, count: 0 }];
    this.#window = firstWindow;
  }

  set grid(grid: WindowGrid) {
    this.#grid = grid;
  }

  /** Number of sent samples. */
  get sent(): number {
    const entry = this.#entries[this.#at];
    return entry ? entry.count + this.#offset : this.#count;
  }

  /** Number of unsent samples. */
  get unsent(): number {
    return this.#count - this.sent;
  }

  /** Whether everything is sent. */
  get isSent(): boolean {
    return this.#at === this.#entries.length;
  }

  /** Number of samples of the source before the next window without a result. */
  get due(): number {
    const { count } = this.#segments[0] as Segment;
    return count + this.#index * (this.#grid?.step ?? 0);
  }

  /** Copies samples into the buffer. @param values of all channels, frame by frame. @throws PositionError */
  addSamples(values: Float64Array | Float32Array): void {
    const { width } = this;
    this.#timeline.requireRoom(values.length / width);
    const most = Math.max(1, Math.floor(MAX_VALUES / width)) * width;
    for (let at = 0; at < values.length; at += most) {
      const piece = values.slice(at, at + most);
      const length = piece.length / width;
      this.#add({ length, samples: piece, message: {} });
      this.#count += length;
      this.#timeline.advance(length);
    }
  }

  /** @throws PositionError */
  addGap(samples: number): void {
    this.#addMark({ gap: samples }, samples);
  }

  /** @param at JSON value of the position. @throws PositionError */
  addPosition(position: SamplePosition, at: unknown): void {
    this.#addMark({ at }, this.#timeline.missingBefore(position));
  }

  /** Takes the next message; null if none can be sent. @param max maximum number of samples */
  take(max: number): Float64Array | Float32Array | object | null {
    const entry = this.#entries[this.#at];
    if (!entry) return null;
    const { samples, message } = entry;
    const end = Math.min(entry.length, this.#offset + Math.floor(max));
    if (samples && end <= this.#offset) return null;
    const piece = samples?.subarray(this.#offset * this.width, end * this.width);
    this.#offset = piece && end < entry.length ? end : 0;
    if (this.#offset === 0) this.#at++;
    return piece ?? message;
  }

  /** Sends everything from a sample on again. */
  rewind(sample: number): void {
    // A position without a gap can be sent twice.
    const isTaken = ({ first, length }: Entry): boolean =>
      first + length < sample || (first + length === sample && length > 0);
    this.#at = 0;
    while (this.#entries[this.#at] && isTaken(this.#entries[this.#at] as Entry)) this.#at++;
    const entry = this.#entries[this.#at];
    this.#offset = entry?.samples ? Math.max(0, sample - entry.first) : 0;
  }

  /** Prepares a new stream, because the server does not have the stream any more. */
  restart(): RestartPoint {
    const { base, count } = this.#segments[0] as Segment;
    const grid = this.#grid;
    const index = grid === null ? 0 : grid.restartFor(this.#index);
    const before = index * (grid?.step ?? 0);
    const sample = base + before;
    const window = this.#window - (this.#index - index);
    this.rewind(sample);
    this.#segments[0] = { base: sample, count: count + before };
    this.#index -= index;
    return { sample, window, position: this.#positionOf(sample) };
  }

  /** Removes what only windows up to this window need. */
  acknowledge(window: number, firstSample: number): void {
    const grid = this.#grid as WindowGrid;
    while (this.#segments[1] && firstSample >= this.#segments[1].base) this.#segments.shift();
    const { base } = this.#segments[0] as Segment;
    this.#window = window + 1;
    this.#index = grid.indexOf(firstSample - base) + 1;
    this.#advance(grid);
  }

  /** Removes the gap at a sample. @returns false if its notice was already received */
  acknowledgeGap(firstSample: number): boolean {
    const index = this.#gaps.findIndex(({ gap }) => gap.first_sample === firstSample);
    if (index >= 0) this.#gaps.splice(0, index + 1);
    return index >= 0;
  }

  /** Takes the gaps before a sample: the server has sent their notices on a broken connection. */
  takeGapsBefore(sample: number): readonly GapNotice[] {
    const isBefore = ({ gap }: GapNotice): boolean => gap.first_sample + gap.samples <= sample;
    const after = this.#gaps.findIndex((gap) => !isBefore(gap));
    return this.#gaps.splice(0, after < 0 ? this.#gaps.length : after);
  }

  #addMark(message: object, length: number): void {
    this.#timeline.requireRoom(length);
    const { first, seconds } = this.#add({ length, samples: null, message });
    this.#timeline.advance(length);
    if (length === 0) return;
    this.#segments.push({ base: this.#timeline.next, count: this.#count });
    const time = formatTime(this.#timeline.type, seconds);
    this.#gaps.push({ gap: { first_sample: first, samples: length, time } });
    if (this.#grid) this.#advance(this.#grid);
  }

  #add(entry: Pick<Entry, 'length' | 'samples' | 'message'>): Entry {
    const first = this.#timeline.next;
    const seconds = this.#timeline.secondsAt(first);
    const added = { ...entry, first, seconds, count: this.#count };
    this.#entries.push(added);
    return added;
  }

  /** Moves to the segment of the next window and removes the entries that no window needs. */
  #advance(grid: WindowGrid): void {
    let [segment, next] = this.#segments as [Segment, Segment | undefined];
    while (next && this.#index >= grid.countIn(next.count - segment.count)) {
      this.#segments.shift();
      this.#index = 0;
      [segment, next] = this.#segments as [Segment, Segment | undefined];
    }
    const needed = segment.base + grid.restartFor(this.#index) * grid.step;
    let done = 0;
    for (; done < this.#at; done++) {
      const entry = this.#entries[done] as Entry;
      if (entry.first + entry.length > needed) break;
    }
    if (done === 0) return;
    this.#entries.splice(0, done);
    this.#at -= done;
  }

  #positionOf(sample: number): RestartPoint['position'] {
    const { type } = this.#timeline;
    if (type === 'index') return sample;
    const entry = this.#entries[this.#at];
    const seconds = entry
      ? entry.seconds + (sample - entry.first) / this.#timeline.samplingRate
      : this.#timeline.secondsAt(sample);
    if (type === 'seconds') return { seconds };
    const whole = Math.floor(seconds);
    const fraction = Math.min(
      MICROSECONDS_PER_SECOND - 1,
      Math.round((seconds - whole) * MICROSECONDS_PER_SECOND),
    );
    const date = new Date(whole * 1000).toISOString();
    return date.replace('.000Z', `.${String(fraction).padStart(6, '0')}Z`);
  }
}
