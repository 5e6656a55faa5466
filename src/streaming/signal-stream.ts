import type { EngineError } from '../native/engine';
import { CLOSE, type Peer } from '../serving/conversation';
import type { Classification, ClassifiesSignals } from '../tasks/abilities';
import type { ModelSettings } from '../tasks/signal-classification/model-settings';
import { ANSWERED, AnswerRing, FAILED, PENDING, SKIPPED_WINDOW, UNUSABLE } from './answer-ring';
import { AnswerWriter } from './answer-writer';
import type { Opening } from './messages';
import { Judge } from './quality';
import { type Cut, SlidingWindows } from './sliding-windows';
import { type Smoothing, smoothingOf } from './smoothing';
import { type Place, PlaceError, Timeline } from './timeline';
import type { WindowOwner, WindowQueue } from './window-queue';

/** Windows of one stream that the model has not answered yet: one that sends minutes at once is no burst for others. */
const MOST_IN_FLIGHT = 16;
/** Bytes of answers that a client has not taken, from when on it gets no more. */
const MOST_UNSENT = 16_384;
/** Bytes of samples that may wait where windows have a deadline, and so will not wait for long. */
const MOST_WAITING = 262_144;

/** What a stream is told to the world. */
export interface Watcher {
  readonly requestTimeoutMs: number;
  answered(milliseconds: number): void;
  unusable(): void;
  skipped(): void;
  failed(): void;
  /** So many bytes of samples more, or fewer, wait for their turn. */
  held(bytes: number): void;
  /** Its client takes no answers for now: `proceed` is to be called when it has. */
  stuck(stream: SignalStream): void;
  /** It has come to its end. */
  ended(stream: SignalStream): void;
  /** Its model is going. */
  left(stream: SignalStream): void;
  /** A sample cannot be where its client says it is. */
  misplaced(stream: SignalStream, message: string): void;
}

export interface Asked {
  readonly name: string;
  readonly model: ClassifiesSignals;
  readonly settings: ModelSettings;
  readonly queue: WindowQueue;
}

type Item =
  | {
      readonly type: 'samples';
      readonly samples: Float64Array;
      offset: number;
      readonly at: number;
    }
  | { readonly type: 'gap'; readonly samples: number }
  | { readonly type: 'place'; readonly place: Place }
  | { readonly type: 'end' };

/** A signal that never ends, window by window through a model. Takes samples, gives answers in their order. */
export class SignalStream implements WindowOwner {
  readonly opening: Opening;
  readonly asked: Asked;
  readonly cut: Cut;
  readonly #watcher: Watcher;
  readonly #windows: SlidingWindows;
  readonly #timeline: Timeline;
  readonly #judge: Judge;
  readonly #ring: AnswerRing;
  readonly #writer: AnswerWriter;
  readonly #smoothing: Smoothing | null;
  /** Windows with which smoothing begins anew. */
  readonly #restarts: number[] = [];
  readonly #errors = new Map<number, string>();
  /** `performance.now()` when the last sample of windows came that are not answered, in their order. */
  #arrivals: number[] = [];
  #waiting: Item[] = [];
  #waitingBytes = 0;
  #inFlight = 0;
  /** The number of the first sample since the last gap. */
  #base: number;
  /** The first window that has not been answered. */
  #next: number;
  #skippedSince = 0;
  #skipped = 0;
  #answered = 0;
  #peer: Peer | null;
  #isPaused = false;
  /** The end was said, and all samples before it have been taken. */
  #hasEnded = false;
  #isOver = false;
  /** Who waits for `taken`. */
  readonly #onTaken: (() => void)[] = [];
  /** Not null: it takes no more samples. */
  #onRest: (() => void) | null = null;

  constructor(asked: Asked, opening: Opening, peer: Peer, watcher: Watcher) {
    const { settings, model } = asked;
    this.asked = asked;
    this.opening = opening;
    this.#peer = peer;
    this.#watcher = watcher;
    this.cut = cutOf(opening, settings);
    this.#windows = new SlidingWindows(this.cut);
    this.#timeline = new Timeline(opening.start, opening.sampling_rate_hz);
    this.#judge = new Judge(this.#windows.rawLength, opening.sampling_rate_hz, settings.quality);
    const { smoothing, first_window: firstWindow } = opening;
    const { labels } = model.about;
    this.#ring = new AnswerRing(firstWindow, labels.length, smoothing !== null);
    this.#writer = new AnswerWriter(labels, opening.start.type);
    this.#smoothing = smoothing && smoothingOf(smoothing, labels.length);
    this.#base = this.#timeline.next;
    this.#next = firstWindow;
  }

  /** The first window that has not been answered, and the first sample that has not been taken. */
  get place(): { readonly next_window: number; readonly next_sample: number } {
    return { next_window: this.#next, next_sample: this.#timeline.next };
  }

  get counts(): { readonly windows: number; readonly skipped: number } {
    return { windows: this.#answered, skipped: this.#skipped + this.#skippedSince };
  }

  /** Of what the filter waits for behind a window, in ms. */
  get delayMs(): number {
    const { filter } = this.#windows;
    return filter === null ? 0 : (Math.ceil(filter.reach) / filter.from) * 1000;
  }

  get resampledToHz(): number | null {
    return this.#windows.filter?.to ?? null;
  }

  /** Samples of a window, as they come. */
  get rawLength(): number {
    return this.#windows.rawLength;
  }

  /** Whether the end has been said. */
  get isEnding(): boolean {
    return this.#hasEnded || this.#waiting.some(({ type }) => type === 'end');
  }

  feed(samples: Float64Array): void {
    this.#put({ type: 'samples', samples, offset: 0, at: performance.now() }, samples.byteLength);
  }

  gap(samples: number): void {
    this.#put({ type: 'gap', samples });
  }

  /** Where the next sample is. */
  at(place: Place): void {
    this.#put({ type: 'place', place });
  }

  /** Answers up to this window have come to the client. */
  received(window: number): void {
    this.#ring.forgetBefore(Math.min(window + 1, this.#next));
  }

  end(): void {
    this.#put({ type: 'end' });
  }

  /** The connection is broken: what has not been taken of it will be sent again. */
  detach(): void {
    this.#peer = null;
    this.#waiting = [];
    this.#hold(-this.#waitingBytes);
    this.#isPaused = false;
    for (const tell of this.#onTaken.splice(0)) tell();
  }

  /** The first window that can still be told. */
  get firstKept(): number {
    return this.#ring.first;
  }

  /** Goes on with another connection, from this window on. */
  attach(peer: Peer, nextWindow: number): void {
    this.#peer = peer;
    this.#ring.forgetBefore(nextWindow);
    for (let window = Math.max(nextWindow, this.#ring.first); window < this.#next; window++) {
      if (this.#ring.stateOf(window) !== SKIPPED_WINDOW) this.#tell(window);
    }
    this.proceed();
  }

  /** Does what can be done with what has come. */
  proceed(): void {
    if (this.#isOver) return;
    if (this.#onRest !== null) {
      if (this.#next === this.#ring.end) this.#onRest();
      return;
    }
    let isHeld = false;
    while (!isHeld) {
      const [item] = this.#waiting;
      if (!item) break;
      isHeld = !this.#do(item);
      if (!isHeld) this.#waiting.shift();
      if (this.#isOver) return;
    }
    if (this.#waiting.length === 0) this.#hold(-this.#waitingBytes);
    this.#slow(isHeld && (this.opening.deadline_ms === null || this.#waitingBytes > MOST_WAITING));
    if (this.#hasEnded && this.#next === this.#ring.end) this.#finish();
  }

  /** Takes no more samples; once what the model is working on has been answered, `then` is called. */
  rest(then: () => void): void {
    this.#waiting = [];
    this.#hold(-this.#waitingBytes);
    this.#slow(true);
    this.#onRest = then;
    if (this.#next === this.#ring.end) then();
  }

  /** Resolves when what was put in has been taken, as far as it is to wait for that. */
  taken(): Promise<void> {
    if (!this.#isPaused) return Promise.resolve();
    return new Promise((resolve) => this.#onTaken.push(resolve));
  }

  /** Nothing is done any more. */
  stop(): void {
    this.#isOver = true;
    this.detach();
  }

  #put(item: Item, bytes = 0): void {
    if (this.#onRest !== null) return;
    this.#waiting.push(item);
    this.#hold(bytes);
    if (this.#waiting.length === 1) this.proceed();
    else if (this.#waitingBytes > MOST_WAITING) this.#slow(true);
  }

  #hold(bytes: number): void {
    if (bytes === 0) return;
    this.#waitingBytes += bytes;
    this.#watcher.held(bytes);
  }

  #slow(isSlow: boolean): void {
    if (isSlow === this.#isPaused) return;
    this.#isPaused = isSlow;
    if (isSlow) this.#peer?.pause();
    else {
      this.#peer?.resume();
      for (const tell of this.#onTaken.splice(0)) tell();
    }
  }

  /** False: it cannot be done for now. */
  #do(item: Item): boolean {
    switch (item.type) {
      case 'samples':
        return this.#takeSamples(item);
      case 'gap':
        return this.#leap(item.samples);
      case 'place':
        return this.#moveTo(item.place);
      case 'end':
        if (!this.#flush()) return false;
        this.#hasEnded = true;
        return true;
    }
  }

  #moveTo(place: Place): boolean {
    try {
      const missing = this.#timeline.missingBefore(place);
      return missing === 0 || this.#leap(missing);
    } catch (error) {
      if (!(error instanceof PlaceError)) throw error;
      this.#watcher.misplaced(this, error.message);
      return false;
    }
  }

  #takeSamples(item: Extract<Item, { readonly type: 'samples' }>): boolean {
    const windows = this.#windows;
    for (;;) {
      if (windows.isComplete) {
        if (!this.#complete(item.at)) return false;
        windows.advance();
      } else if (item.offset === item.samples.length) {
        return true;
      } else {
        const taken = windows.take(item.samples, item.offset);
        item.offset += taken;
        this.#timeline.pass(taken);
      }
    }
  }

  /** The windows that are complete though no more samples come. */
  #flush(): boolean {
    const windows = this.#windows;
    windows.end();
    const now = performance.now();
    while (windows.isComplete) {
      if (!this.#complete(now)) return false;
      windows.advance();
    }
    return true;
  }

  #leap(samples: number): boolean {
    if (!this.#flush() || this.#isStuck()) return false;
    const first = this.#timeline.next;
    const time = this.#writer.timeOf(this.#timeline.secondsOf(first));
    this.#peer?.send(`{"gap":{"first_sample":${first},"samples":${samples},"time":${time}}}`);
    this.#timeline.pass(samples);
    this.#windows.restart();
    this.#base = this.#timeline.next;
    const window = this.#ring.end;
    if (this.#smoothing && this.#restarts.at(-1) !== window) this.#restarts.push(window);
    return true;
  }

  /** A window is complete. @param arrivedAt its last sample. @returns false: it has to wait */
  #complete(arrivedAt: number): boolean {
    const { deadline_ms: deadline } = this.opening;
    const isStuck = this.#isStuck();
    if (deadline === null && isStuck) return false;
    const left =
      deadline === null
        ? this.#watcher.requestTimeoutMs
        : deadline - (performance.now() - arrivedAt);
    if (left <= 0 || isStuck) {
      this.#add(arrivedAt);
      this.#settle(this.#ring.end - 1, SKIPPED_WINDOW);
      return true;
    }
    if (this.#inFlight >= MOST_IN_FLIGHT) return false;
    const window = this.#add(arrivedAt);
    const judge = this.#judge;
    judge.see(this.#windows.rawWindow);
    this.#ring.setQuality(window, judge.problems, judge.peakToPeak, judge.mainsShare);
    if (judge.isUsable) {
      this.#inFlight++;
      this.asked.queue.ask(this, window, this.#windows.window, performance.now() + left);
    } else this.#settle(window, UNUSABLE);
    return true;
  }

  #isStuck(): boolean {
    if (this.#peer === null || this.#peer.unsent <= MOST_UNSENT) return false;
    this.#watcher.stuck(this);
    return true;
  }

  #add(arrivedAt: number): number {
    const windows = this.#windows;
    const { end } = this.#ring;
    this.#ring.add(
      this.#base + windows.firstRaw,
      this.#timeline.secondsOf(this.#base + windows.place),
    );
    this.#arrivals.push(arrivedAt);
    return end;
  }

  /** Of `WindowOwner`. */
  answered(window: number, { scores }: Classification): void {
    this.#inFlight--;
    if (this.#isOver) return;
    this.#ring.probabilitiesOf(window).set(scores);
    this.#settle(window, ANSWERED);
    this.proceed();
  }

  /** Of `WindowOwner`. */
  late(window: number): void {
    this.#inFlight--;
    if (this.#isOver) return;
    this.#settle(window, SKIPPED_WINDOW);
    this.proceed();
  }

  /** Of `WindowOwner`. */
  failed(window: number, { code, message }: EngineError): void {
    this.#inFlight--;
    if (this.#isOver) return;
    if (code === 'DRAINING') {
      this.#watcher.left(this);
      return;
    }
    this.#noteError(window, message);
    this.#settle(window, FAILED);
    this.proceed();
  }

  #noteError(window: number, message: string): void {
    for (const known of this.#errors.keys())
      if (known < this.#ring.first) this.#errors.delete(known);
    this.#errors.set(window, message);
  }

  /** It is known what becomes of a window; those that are the next ones are told. */
  #settle(window: number, state: number): void {
    this.#ring.setState(window, state);
    while (this.#next < this.#ring.end) {
      const next = this.#next;
      const is = this.#ring.stateOf(next);
      if (is === PENDING) return;
      this.#next++;
      const arrivedAt = this.#arrivals.shift() as number;
      if (is === SKIPPED_WINDOW) {
        this.#skippedSince++;
        this.#watcher.skipped();
        continue;
      }
      this.#ring.setSkipped(next, this.#skippedSince);
      this.#skipped += this.#skippedSince;
      this.#skippedSince = 0;
      this.#answered++;
      if (is === ANSWERED) {
        this.#smooth(next);
        this.#watcher.answered(performance.now() - arrivedAt);
      } else if (is === UNUSABLE) this.#watcher.unusable();
      else this.#watcher.failed();
      this.#tell(next);
    }
  }

  #smooth(window: number): void {
    if (!this.#smoothing) return;
    const [restart] = this.#restarts;
    if (restart !== undefined && restart <= window) {
      this.#restarts.shift();
      this.#smoothing.restart();
    }
    const output = this.#ring.smoothedOf(window) as Float32Array;
    this.#smoothing.add(this.#ring.probabilitiesOf(window), output);
  }

  #tell(window: number): void {
    this.#peer?.send(this.#writer.write(this.#ring, window, this.#errors.get(window)));
  }

  #finish(): void {
    const peer = this.#peer;
    if (peer === null) return; // its client is to be told when it comes back
    this.#isOver = true;
    peer.send(JSON.stringify({ end: { ...this.counts, ...this.place } }));
    peer.close(CLOSE.ENDED, '');
    this.#watcher.ended(this);
  }
}

export function cutOf(opening: Opening, { windowLength, samplingRateHz }: ModelSettings): Cut {
  const rate = opening.sampling_rate_hz;
  const perModelSample = samplingRateHz === null ? 1 : rate / samplingRateHz;
  const step = opening.step ?? Math.max(1, Math.round(windowLength * perModelSample));
  return { windowLength, samplingRate: rate, modelRate: samplingRateHz, step };
}
