import type { GapNotice } from '../../streaming/stream-messages';
import {
  formatTime,
  MICROSECONDS_PER_SECOND,
  type SamplePosition,
  Timeline,
} from '../../streaming/timeline';
import type { WindowGrid } from './window-grid';

/** Samples of a message, at most. */
const PIECE = 4096;

/** What a source said, from one sample on. */
interface Entry {
  /** The number of its first sample. */
  readonly first: number;
  /** Samples that it covers, which a gap does without having any. */
  readonly length: number;
  /** Samples that there were before it. */
  readonly count: number;
  /** The time of its first sample. */
  readonly seconds: number;
  /** Null: it is a message, about the place of what follows. */
  readonly samples: Float64Array | Float32Array | null;
  readonly message: object;
}

/** A signal without gaps. */
interface Segment {
  /** The number of its first sample. */
  readonly base: number;
  /** Samples that there were before it. */
  readonly count: number;
}

/** Where a stream begins anew. */
export interface Beginning {
  /** The number of the first sample. */
  readonly sample: number;
  readonly place: number | string | { readonly seconds: number };
  readonly window: number;
}

/**
 * What a source said of its signal: what has not been sent, and behind it what may have to be sent again, which is
 * what the windows need that have not come.
 */
export class UnackedBuffer {
  readonly #timeline: Timeline;
  #entries: Entry[] = [];
  /** What is sent next: an entry, and of its samples. */
  #at = 0;
  #offset = 0;
  /** Samples that there were. */
  #count = 0;
  /** From the one in which the next window is. */
  #segments: Segment[];
  /** The number of the next window, and its place among those of its segment. */
  #window: number;
  #index = 0;
  /** Null: the service has not said how it cuts windows. */
  #grid: WindowGrid | null = null;
  /** Of which the service has not told. */
  #gaps: GapNotice[] = [];

  constructor(start: SamplePosition, samplingRate: number, firstWindow: number) {
    this.#timeline = new Timeline(start, samplingRate);
    this.#segments = [{ base: this.#timeline.next, count: 0 }];
    this.#window = firstWindow;
  }

  /** As the service said. */
  set grid(grid: WindowGrid) {
    this.#grid = grid;
  }

  /** Samples that have been sent, of all that there were. */
  get sent(): number {
    const entry = this.#entries[this.#at];
    return entry ? entry.count + this.#offset : this.#count;
  }

  /** Samples that have not been sent. */
  get unsent(): number {
    return this.#count - this.sent;
  }

  /** Everything has been sent. */
  get isSent(): boolean {
    return this.#at === this.#entries.length;
  }

  /** How many samples there have to be before the next window begins. */
  get due(): number {
    const { count } = this.#segments[0] as Segment;
    return count + this.#index * (this.#grid?.step ?? 0);
  }

  /** Copies them. */
  addSamples(samples: Float64Array | Float32Array): void {
    this.#timeline.requireRoom(samples.length);
    for (let at = 0; at < samples.length; at += PIECE) {
      const piece = samples.slice(at, at + PIECE);
      this.#add({ length: piece.length, samples: piece, message: {} });
      this.#count += piece.length;
      this.#timeline.advance(piece.length);
    }
  }

  addGap(samples: number): void {
    this.#addMark({ gap: samples }, samples);
  }

  /** @throws PositionError: it cannot be there */
  addPlace(place: SamplePosition, at: unknown): void {
    this.#addMark({ at }, this.#timeline.missingBefore(place));
  }

  /** What is to be sent next; null: nothing for now. @param most samples */
  take(most: number): Float64Array | Float32Array | object | null {
    const entry = this.#entries[this.#at];
    if (!entry) return null;
    const { samples, message } = entry;
    const end = Math.min(entry.length, this.#offset + Math.floor(most));
    if (samples && end <= this.#offset) return null;
    const piece = samples?.subarray(this.#offset, end);
    this.#offset = piece && end < entry.length ? end : 0;
    if (this.#offset === 0) this.#at++;
    return piece ?? message;
  }

  /** The service has taken what is before this sample alone: what follows is sent again. */
  rewind(sample: number): void {
    // A place without a gap before it changes nothing where it is said twice.
    const isTaken = ({ first, length }: Entry): boolean =>
      first + length < sample || (first + length === sample && length > 0);
    this.#at = 0;
    while (this.#entries[this.#at] && isTaken(this.#entries[this.#at] as Entry)) this.#at++;
    const entry = this.#entries[this.#at];
    this.#offset = entry?.samples ? Math.max(0, sample - entry.first) : 0;
  }

  /** For a service that knows nothing of the stream. */
  beginAnew(): Beginning {
    const { base, count } = this.#segments[0] as Segment;
    const grid = this.#grid;
    const index = grid === null ? 0 : grid.beginFor(this.#index);
    const before = index * (grid?.step ?? 0);
    const sample = base + before;
    const window = this.#window - (this.#index - index);
    this.rewind(sample);
    this.#segments[0] = { base: sample, count: count + before };
    this.#index -= index;
    return { sample, window, place: this.#parsePosition(sample) };
  }

  /** The answer to a window has come. */
  windowCame(window: number, firstSample: number): void {
    const grid = this.#grid as WindowGrid;
    while (this.#segments[1] && firstSample >= this.#segments[1].base) this.#segments.shift();
    const { base } = this.#segments[0] as Segment;
    this.#window = window + 1;
    this.#index = grid.indexOf(firstSample - base) + 1;
    this.#settle(grid);
  }

  /** False: it is known already. */
  gapCame(firstSample: number): boolean {
    const known = this.#gaps.findIndex(({ gap }) => gap.first_sample === firstSample);
    if (known >= 0) this.#gaps.splice(0, known + 1);
    return known >= 0;
  }

  /** Gaps before this sample, which the service knows of: it has told of them when nobody heard it. */
  untoldBefore(sample: number): readonly GapNotice[] {
    const isBefore = ({ gap }: GapNotice): boolean => gap.first_sample + gap.samples <= sample;
    const after = this.#gaps.findIndex((one) => !isBefore(one));
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
    if (this.#grid) this.#settle(this.#grid);
  }

  #add(entry: Pick<Entry, 'length' | 'samples' | 'message'>): Entry {
    const first = this.#timeline.next;
    const seconds = this.#timeline.secondsAt(first);
    const added = { ...entry, first, seconds, count: this.#count };
    this.#entries.push(added);
    return added;
  }

  /** The next window is in the next segment where this one has no more, and what is before it is forgotten. */
  #settle(grid: WindowGrid): void {
    let [segment, next] = this.#segments as [Segment, Segment | undefined];
    while (next && this.#index >= grid.countIn(next.count - segment.count)) {
      this.#segments.shift();
      this.#index = 0;
      [segment, next] = this.#segments as [Segment, Segment | undefined];
    }
    const needed = segment.base + grid.beginFor(this.#index) * grid.step;
    let done = 0;
    for (; done < this.#at; done++) {
      const entry = this.#entries[done] as Entry;
      if (entry.first + entry.length > needed) break;
    }
    if (done === 0) return;
    this.#entries.splice(0, done);
    this.#at -= done;
  }

  #parsePosition(sample: number): Beginning['place'] {
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
