import { CLOSE, type Peer, runInSession } from '../serving/session';
import { planStream } from './channel-windows';
import { createWindows } from './create-windows';
import { InputQueue, type SignalInput } from './input-queue';
import { type Windowing, windowingOf } from './sliding-windows';
import type { StreamHost, StreamModel } from './stream-host';
import type { StreamOpened, StreamOptions } from './stream-messages';
import type { StreamWindows } from './stream-windows';
import { PositionError, Timeline } from './timeline';
import { WindowDispatcher } from './window-dispatcher';
import type { WindowResults } from './window-results';

/** Queued bytes that pause the client of a stream with a deadline. */
const MAX_QUEUED_BYTES = 262_144;

/** Message field of each input type. */
const FIELDS = { samples: 'samples', gap: 'gap', position: 'at', end: 'end' } as const;

type SamplesInput = Extract<SignalInput, { readonly type: 'samples' }>;

/** An unbounded signal that a model classifies window by window. Results are sent in order of the windows. */
export class SignalStream {
  readonly options: StreamOptions;
  readonly model: StreamModel;
  readonly windowing: Windowing;
  readonly #host: StreamHost;
  readonly #windows: StreamWindows;
  readonly #timeline: Timeline;
  readonly #dispatcher: WindowDispatcher;
  readonly #results: WindowResults;
  readonly #inputs: InputQueue;
  /** Whether the stream waits for its next time slice. */
  #isWaiting = false;
  /** Number of the first sample since the last gap. */
  #base: number;
  /** Whether all samples up to the end of the signal are processed. */
  #hasEnded = false;
  #isClosed = false;
  /** Resolves `quiesce`; null if the stream accepts samples. */
  #onQuiet: (() => void) | null = null;

  /** @throws PositionError: the start is out of range */
  constructor(model: StreamModel, options: StreamOptions, peer: Peer, host: StreamHost) {
    this.model = model;
    this.options = options;
    this.#host = host;
    this.windowing = windowingOf(options, model.settings);
    this.#windows = createWindows(options, model.settings);
    this.#timeline = new Timeline(options.start, options.sampling_rate_hz);
    const { rawLength } = this.#windows;
    const onResult = () => this.proceed();
    this.#dispatcher = new WindowDispatcher(model, options, { peer, host, rawLength, onResult });
    this.#results = this.#dispatcher.results;
    this.#inputs = new InputQueue(peer, (bytes) => host.addBytes(bytes));
    this.#base = this.#timeline.next;
  }

  /** Progress: the first window without a sent result, and the next expected sample. */
  get cursor(): { readonly next_window: number; readonly next_sample: number } {
    return { next_window: this.#results.next, next_sample: this.#timeline.next };
  }

  /** Number of windows in inference. */
  get inFlight(): number {
    return this.#dispatcher.inFlight;
  }

  get counts(): WindowResults['counts'] {
    return this.#results.counts;
  }

  /** Windows from which a client can resume, as the first and the last window. */
  get resumable(): readonly [first: number, last: number] {
    return [this.#results.firstKept, this.#results.next];
  }

  /** Look-ahead of the resampling filter behind a window, in ms. */
  get delayMs(): number {
    return this.#windows.delayMs;
  }

  /** Hz; null if samples are not resampled. */
  get resampledToHz(): number | null {
    return this.#windows.resampledToHz;
  }

  /** Channels of a frame, and channels of the model that the frames lack. Empty for models of one channel. */
  get channels(): Pick<StreamOpened, 'channels' | 'interpolated'> {
    const { channels } = this.model.settings;
    if (channels === null) return {};
    const { interpolated } = planStream(this.options, this.model.settings);
    return {
      channels: [...(this.options.channels ?? channels.inputs)],
      interpolated: [...interpolated],
    };
  }

  /** Number of values of a sample: one per channel. */
  get valuesPerSample(): number {
    return this.#windows.valuesPerSample;
  }

  /** Whether the client has sent the end of the signal. */
  get isEnding(): boolean {
    return this.#hasEnded || this.#inputs.hasEnd;
  }

  /** Adds an input. Inputs are processed in order. */
  push(input: SignalInput): void {
    if (this.#onQuiet !== null) return;
    this.#inputs.push(input);
    if (this.#inputs.length === 1) this.proceed();
    else if (this.#inputs.bytes > MAX_QUEUED_BYTES) this.#inputs.setPaused(true);
  }

  /** Discards results up to a window, which the client has received. */
  acknowledge(window: number): void {
    this.#results.acknowledge(window);
  }

  /** Resolves when the stream accepts more input. */
  whenAccepting(): Promise<void> {
    return this.#inputs.whenAccepting();
  }

  /** Disconnects the client, which sends unprocessed input again after it has resumed the stream. */
  detach(): void {
    this.#results.peer = null;
    this.#inputs.detach();
  }

  /** Resumes with another connection and sends the results from a window on again. */
  attach(peer: Peer, nextWindow: number): void {
    this.#results.peer = peer;
    this.#inputs.attach(peer);
    this.#results.replayFrom(nextWindow);
    this.proceed();
  }

  /** Ignores further input. Resolves after the windows in inference. */
  quiesce(): Promise<void> {
    this.#inputs.clear();
    return new Promise((resolve) => {
      this.#onQuiet = resolve;
      if (this.#results.areComplete) resolve();
    });
  }

  /** Releases the memory; later results of the model are ignored. */
  close(): void {
    this.#isClosed = true;
    this.#inputs.detach();
    this.#dispatcher.close();
  }

  /** Continues in the next time slice. */
  resume(): void {
    this.#isWaiting = false;
    runInSession(this.#host, () => this.proceed());
  }

  /** Processes queued input until the model, the client or the time slice has no room. */
  proceed(): void {
    if (this.#isClosed || this.#isWaiting) return;
    if (this.#onQuiet !== null) {
      if (this.#results.areComplete) this.#onQuiet();
      return;
    }
    let isBlocked = false;
    for (let input = this.#inputs.first; input && !isBlocked; input = this.#inputs.first) {
      isBlocked = !this.#process(input);
      if (this.#isClosed) return;
      if (!isBlocked) this.#inputs.shift();
    }
    const isFull = this.options.deadline_ms === null || this.#inputs.bytes > MAX_QUEUED_BYTES;
    this.#inputs.setPaused(isBlocked && isFull);
    if (this.#hasEnded && this.#results.areComplete) this.#end();
  }

  /** @returns false if the input has to wait or is invalid */
  #process(input: SignalInput): boolean {
    try {
      if (input.type === 'samples') return this.#processSamples(input);
      if (input.type === 'gap') return this.#skipGap(input.samples);
      if (input.type === 'position') {
        const missing = this.#timeline.missingBefore(input.position);
        return missing === 0 || this.#skipGap(missing);
      }
      this.#hasEnded = this.#flush();
      return this.#hasEnded;
    } catch (error) {
      if (!(error instanceof PositionError)) throw error;
      this.#host.onInvalidInput(`${FIELDS[input.type]}: ${error.message}`);
      return false;
    }
  }

  #processSamples(input: SamplesInput): boolean {
    const windows = this.#windows;
    const width = windows.valuesPerSample;
    this.#timeline.requireRoom((input.samples.length - input.offset) / width);
    for (;;) {
      if (this.#isSliceOver()) return false;
      if (windows.isComplete) {
        if (!this.#dispatch(input.arrivedAt)) return false;
        windows.advance();
      } else if (windows.needsResampling) {
        windows.resample();
      } else if (input.offset === input.samples.length) {
        return true;
      } else {
        const taken = windows.take(input.samples, input.offset);
        input.offset += taken;
        this.#timeline.advance(taken / width);
      }
    }
  }

  /** Dispatches the windows that are complete without further samples. */
  #flush(): boolean {
    const windows = this.#windows;
    windows.end();
    const now = performance.now();
    while (windows.isComplete || windows.needsResampling) {
      if (this.#isSliceOver()) return false;
      if (!windows.isComplete) {
        windows.resample();
        continue;
      }
      if (!this.#dispatch(now)) return false;
      windows.advance();
    }
    return true;
  }

  #isSliceOver(): boolean {
    const { timeSlices } = this.#host;
    if (!timeSlices.isOver) return false;
    this.#isWaiting = true;
    timeSlices.add(this);
    return true;
  }

  #skipGap(samples: number): boolean {
    this.#timeline.requireRoom(samples);
    if (!this.#flush() || this.#dispatcher.checkBlocked()) return false;
    const { peer, serializer } = this.#results;
    const first = this.#timeline.next;
    const time = serializer.formatTime(this.#timeline.secondsAt(first));
    peer?.send(`{"gap":{"first_sample":${first},"samples":${samples},"time":${time}}}`);
    this.#timeline.advance(samples);
    this.#windows.restart();
    this.#base = this.#timeline.next;
    this.#results.restart();
    return true;
  }

  /** @param arrivedAt `performance.now()` at the window's last sample. @returns false if the window has to wait */
  #dispatch(arrivedAt: number): boolean {
    const { firstRaw, position } = this.#windows;
    return this.#dispatcher.dispatch(this.#windows, {
      firstSample: this.#base + firstRaw,
      seconds: this.#timeline.secondsAt(this.#base + position),
      arrivedAt,
    });
  }

  #end(): void {
    const { peer } = this.#results;
    if (peer === null) return; // The client gets the end after it has resumed the stream.
    this.#isClosed = true;
    peer.send(JSON.stringify({ end: { ...this.counts, ...this.cursor } }));
    peer.close(CLOSE.NORMAL, '');
    this.#host.onEnd();
  }
}
