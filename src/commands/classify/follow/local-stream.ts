import type { Peer } from '../../../serving/session';
import type { Item } from '../../../streaming/input-queue';
import type { Opening } from '../../../streaming/messages';
import { SignalStream, type StreamModel, type Watcher } from '../../../streaming/signal-stream';
import { Turns } from '../../../streaming/time-slices';
import { type Place, Timeline } from '../../../streaming/timeline';
import type { WindowCounter } from '../../../streaming/window-results';

/** All windows are to be answered, however long that takes. */
const PATIENCE_MS = 2 ** 31 - 1;

/** Where the messages of a stream go. */
export interface Lines {
  /** Bytes that have not gone out yet. */
  readonly unsent: number;
  write(message: string): void;
}

/** A stream without a connection: samples and messages stay in this process. */
export class LocalStream {
  readonly #stream: SignalStream;
  /** As the stream has it, for what it would refuse. */
  readonly #timeline: Timeline;
  /** Rejects with what went wrong unexpectedly. */
  readonly #ended: Promise<void>;

  /** @throws PlaceError: a clock does not go as far as its start */
  constructor(asked: StreamModel, opening: Opening, lines: Lines, counter: WindowCounter) {
    let end: Ends = { ended: () => {}, crashed: () => {} };
    this.#ended = new Promise((resolve, reject) => {
      end = { ended: resolve, crashed: reject };
    });
    this.#ended.catch(() => {}); // whoever waits for it is told
    this.#stream = new SignalStream(asked, opening, peerOf(lines), watch(counter, end));
    this.#timeline = new Timeline(opening.start, opening.sampling_rate_hz);
  }

  /** Windows that the model is working on. */
  get inFlight(): number {
    return this.#stream.inFlight;
  }

  /** Where the next sample is. @throws PlaceError: before those that have come, or too far behind them */
  place(place: Place): void {
    this.#timeline.pass(this.#timeline.missingBefore(place));
    this.#put({ type: 'place', place });
  }

  /** @param samples NaN: there is none. @throws PlaceError: they lead too far */
  samples(samples: Float64Array): void {
    if (samples.length === 0) return;
    this.#timeline.pass(samples.length);
    this.#put({ type: 'samples', samples, offset: 0, at: performance.now() });
  }

  /** Resolves when what was put in has been taken, as far as it is to wait for that. */
  taken(): Promise<void> {
    return Promise.race([this.#stream.taken(), this.#ended]);
  }

  /** What was written has gone out. */
  drained(): void {
    this.#stream.proceed();
  }

  /** Answers all that is complete. @returns the number of the next window */
  async end(): Promise<number> {
    this.#put({ type: 'end' });
    await this.#ended;
    return this.#stream.place.next_window;
  }

  /** Nothing is answered any more. */
  stop(): void {
    this.#stream.stop();
  }

  #put(item: Item): void {
    this.#stream.put(item);
  }
}

/** Nobody is told to wait: whoever reads waits by itself (`taken`). */
function peerOf(lines: Lines): Peer {
  const nothing = () => {};
  return {
    get bufferedBytes() {
      return lines.unsent;
    },
    send: (message) => lines.write(message),
    close: nothing,
    pause: nothing,
    resume: nothing,
    setIdle: nothing,
    destroy: nothing,
  };
}

/** How a stream comes to its end. */
type Ends = { readonly ended: () => void; readonly crashed: (error: unknown) => void };

function watch(counter: WindowCounter, { ended, crashed }: Ends): Watcher {
  const nothing = () => {};
  const turns = new Turns();
  return {
    requestTimeoutMs: PATIENCE_MS,
    get isTurnOver() {
      return turns.isOver;
    },
    later: (stream) => turns.add(stream),
    answered: (milliseconds) => counter.answered(milliseconds),
    unusable: () => counter.unusable(),
    skipped: () => counter.skipped(),
    failed: () => counter.failed(),
    // Its model stays as long as it is not stopped, and `place` refuses what cannot be.
    held: nothing,
    stuck: nothing,
    left: nothing,
    misplaced: nothing,
    ended,
    crashed: (stream, error) => {
      stream.stop();
      crashed(error);
    },
  };
}
