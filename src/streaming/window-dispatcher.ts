import { EngineError } from '../native/engine';
import { MAX_UNSENT_BYTES } from '../serving/send-buffer';
import { type Peer, runInSession } from '../serving/session';
import type { Classification } from '../tasks/capabilities';
import { SignalQualityAnalyzer } from '../tasks/signal-classification/signal-quality';
import { SKIPPED_WINDOW, UNUSABLE } from './result-ring';
import type { StreamHost, StreamModel } from './stream-host';
import type { StreamOptions } from './stream-messages';
import type { StreamWindows } from './stream-windows';
import type { WindowOwner } from './window-queue';
import { WindowResults } from './window-results';

/** Maximum number of windows of one stream in inference: a stream cannot flood the queue of the model. */
const MAX_IN_FLIGHT = 16;

/** Error codes of a missed deadline. */
const LATE = new Set(['DEADLINE_EXCEEDED', 'DEADLINE_TOO_CLOSE', 'CANCELLED']);

/** Start of a window and arrival of its last sample. */
interface WindowTimes {
  readonly firstSample: number;
  /** Time of the start in seconds. */
  readonly seconds: number;
  /** `performance.now()`. */
  readonly arrivedAt: number;
}

/** Sends the windows of one stream to the model and records their results. */
export class WindowDispatcher implements WindowOwner {
  readonly results: WindowResults;
  readonly #model: StreamModel;
  readonly #options: StreamOptions;
  readonly #host: StreamHost;
  readonly #analyzer: SignalQualityAnalyzer;
  readonly #onResult: () => void;
  #inFlight = 0;
  /** Counted memory of the results. */
  #resultBytes = 0;
  #isClosed = false;

  /** @param onResult called after the result of a window that was in inference */
  constructor(
    model: StreamModel,
    options: StreamOptions,
    {
      peer,
      host,
      rawLength,
      onResult,
    }: {
      readonly peer: Peer;
      readonly host: StreamHost;
      /** Window length in samples of the signal. */
      readonly rawLength: number;
      readonly onResult: () => void;
    },
  ) {
    this.#model = model;
    this.#options = options;
    this.#host = host;
    this.#onResult = onResult;
    const { quality } = model.settings;
    this.#analyzer = new SignalQualityAnalyzer(rawLength, options.sampling_rate_hz, quality);
    this.results = new WindowResults(options, model.model.metadata.labels, peer, host.counter);
  }

  /** Number of windows in inference. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Returns whether the client does not read its results, and reports this to the host. */
  checkBlocked(): boolean {
    const { peer } = this.results;
    if (peer === null || peer.bufferedBytes <= MAX_UNSENT_BYTES) return false;
    this.#host.onBlocked();
    return true;
  }

  /** Sends a complete window to the model, or skips it after its deadline. @returns false if it has to wait */
  dispatch(windows: StreamWindows, times: WindowTimes): boolean {
    const { deadline_ms: deadline } = this.#options;
    if (!this.results.hasRoom) return false;
    const isBlocked = this.checkBlocked();
    if (deadline === null && isBlocked) return false;
    const now = performance.now();
    const until =
      deadline === null ? now + this.#host.requestTimeoutMs : times.arrivedAt + deadline;
    if (until <= now || isBlocked) {
      this.results.setState(this.#addResult(times), SKIPPED_WINDOW);
      return true;
    }
    if (this.#inFlight >= MAX_IN_FLIGHT) return false;
    const number = this.#addResult(times);
    const quality = windows.analyze(this.#analyzer);
    this.results.setQuality(number, quality);
    if (quality.isUsable) {
      this.#inFlight++;
      this.#host.addBytes(this.#windowBytes);
      this.#model.queue.push(this, number, windows.window, until);
    } else this.results.setState(number, UNUSABLE);
    return true;
  }

  /** Releases the memory of the results and ignores later results of the model. */
  close(): void {
    this.#isClosed = true;
    this.results.peer = null;
    this.#host.addBytes(-this.#resultBytes);
    this.#resultBytes = 0;
  }

  onPrediction(window: number, { scores }: Classification): void {
    this.#settle(() => this.results.setPrediction(window, scores));
  }

  onFailure(window: number, error: unknown): void {
    this.#settle(() => {
      if (!(error instanceof EngineError)) throw error;
      if (LATE.has(error.code)) this.results.setState(window, SKIPPED_WINDOW);
      else if (error.code === 'DRAINING') this.#host.onModelUnload();
      else this.results.fail(window, error.message);
    });
  }

  /** Runs inside a loop over the windows of several streams: an error must not leave it. */
  #settle(record: () => void): void {
    this.#inFlight--;
    this.#host.addBytes(-this.#windowBytes);
    if (this.#isClosed) return;
    runInSession(this.#host, () => {
      record();
      this.#onResult();
    });
  }

  /** Adds a pending result. @returns the window's number */
  #addResult({ firstSample, seconds, arrivedAt }: WindowTimes): number {
    const window = this.results.add(firstSample, seconds, arrivedAt);
    const { bytes } = this.results;
    if (bytes !== this.#resultBytes) this.#host.addBytes(bytes - this.#resultBytes);
    this.#resultBytes = bytes;
    return window;
  }

  /** Size in bytes of a window in inference. */
  get #windowBytes(): number {
    const { windowLength, channels } = this.#model.settings;
    return (channels?.names.length ?? 1) * windowLength * Float32Array.BYTES_PER_ELEMENT;
  }
}
