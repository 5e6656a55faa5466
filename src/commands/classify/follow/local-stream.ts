import type { Peer } from '../../../serving/session';
import type { SignalInput } from '../../../streaming/input-queue';
import { SignalStream } from '../../../streaming/signal-stream';
import type { StreamHost, StreamModel } from '../../../streaming/stream-host';
import type { StreamOptions } from '../../../streaming/stream-messages';
import { TimeSlices } from '../../../streaming/time-slices';
import { type SamplePosition, Timeline } from '../../../streaming/timeline';
import type { WindowCounter } from '../../../streaming/window-results';

/** No request timeout: the maximum delay of a timer. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** Receives the messages of a stream. */
export interface Lines {
  /** Bytes that are not written yet. */
  readonly unsent: number;
  write(message: string): void;
}

const ignore = (): void => {};

/** A stream without a connection, for samples of a file. */
export class LocalStream {
  readonly #stream: SignalStream;
  /** Validates positions before they reach the stream. */
  readonly #timeline: Timeline;
  /** Resolves at the end of the stream; rejects with an unexpected error. */
  readonly #ended: Promise<void>;

  /** @throws PositionError: the start is out of range */
  constructor(model: StreamModel, options: StreamOptions, lines: Lines, counter: WindowCounter) {
    this.#timeline = new Timeline(options.start, options.sampling_rate_hz);
    let [onEnd, onError]: [() => void, (error: unknown) => void] = [ignore, ignore];
    this.#ended = new Promise((resolve, reject) => {
      [onEnd, onError] = [resolve, reject];
    });
    this.#ended.catch(ignore); // Callers of `end` and `whenAccepting` get the error.
    const host: StreamHost = {
      counter,
      requestTimeoutMs: NO_TIMEOUT_MS,
      timeSlices: new TimeSlices(),
      addBytes: ignore,
      onBlocked: ignore,
      onModelUnload: ignore,
      onInvalidInput: ignore,
      onEnd,
      onError: (error) => {
        this.#stream.close();
        onError(error);
      },
    };
    this.#stream = new SignalStream(model, options, peerOf(lines), host);
  }

  /** Number of windows in inference. */
  get inFlight(): number {
    return this.#stream.inFlight;
  }

  /** Sets the position of the next sample. @throws PositionError: the position is backward or out of range */
  setPosition(position: SamplePosition): void {
    this.#timeline.advance(this.#timeline.missingBefore(position));
    this.#stream.push({ type: 'position', position });
  }

  /** @param samples NaN for missing samples. @throws PositionError: the range of positions ends before */
  push(samples: Float64Array): void {
    if (samples.length === 0) return;
    this.#timeline.advance(samples.length);
    const input: SignalInput = {
      type: 'samples',
      samples,
      offset: 0,
      arrivedAt: performance.now(),
    };
    this.#stream.push(input);
  }

  /** Resolves when the stream accepts more samples. */
  whenAccepting(): Promise<void> {
    return Promise.race([this.#stream.whenAccepting(), this.#ended]);
  }

  /** Continues after messages were written. */
  proceed(): void {
    this.#stream.proceed();
  }

  /** Writes the results of all complete windows. @returns the number of the next window */
  async end(): Promise<number> {
    this.#stream.push({ type: 'end' });
    await this.#ended;
    return this.#stream.cursor.next_window;
  }

  close(): void {
    this.#stream.close();
  }
}

/** A peer without flow control: the reader of the file waits for `whenAccepting`. */
function peerOf(lines: Lines): Peer {
  return {
    get bufferedBytes() {
      return lines.unsent;
    },
    send: (message) => lines.write(message),
    close: ignore,
    pause: ignore,
    resume: ignore,
    setIdle: ignore,
    destroy: ignore,
  };
}
