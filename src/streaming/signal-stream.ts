import type { EngineError } from '../native/engine';
import { MOST_UNSENT } from '../serving/outflow';
import { CLOSE, type Peer, type SessionEnd } from '../serving/session';
import type { Classification, SignalClassifier } from '../tasks/abilities';
import type { ModelSettings } from '../tasks/signal-classification/model-settings';
import { type Item, Waiting } from './input-queue';
import type { Opening } from './messages';
import { cutOf } from './opening';
import { SignalQualityAnalyzer } from './signal-quality';
import { type Cut, SlidingWindows } from './sliding-windows';
import { type Place, PlaceError, Timeline } from './timeline';
import type { WindowOwner, WindowQueue } from './window-queue';
import { type WindowCounter, WindowResults } from './window-results';

/** Windows of one stream that the model has not answered yet: one that sends minutes at once is no burst for others. */
const MOST_IN_FLIGHT = 16;
/** Bytes of samples that may wait where windows have a deadline, and so will not wait for long. */
const MOST_WAITING = 262_144;

/** What a stream is told to the world. */
export interface Watcher extends WindowCounter {
  readonly requestTimeoutMs: number;
  /** So many bytes more, or fewer, are held for what waits, for windows in the model and for answers. */
  held(bytes: number): void;
  /** Whether streams have worked for long enough in this iteration of the event loop. */
  readonly isTurnOver: boolean;
  /** It has more to do: `takeTurn` is to be called in a later iteration. */
  later(stream: SignalStream): void;
  /** Its client takes no answers for now: `proceed` is to be called when it has. */
  stuck(stream: SignalStream): void;
  /** It has come to its end. */
  ended(stream: SignalStream): void;
  /** Its model is going. */
  left(stream: SignalStream): void;
  /** A sample cannot be where its client says it is; the message names the field. */
  misplaced(stream: SignalStream, message: string): void;
  /** An unexpected error: it ends the stream. Does not throw. */
  crashed(stream: SignalStream, error: unknown): void;
}

/** The field of a message that says it. */
const FIELDS = { samples: 'samples', gap: 'gap', place: 'at', end: 'end' } as const;

export interface StreamModel {
  readonly name: string;
  readonly model: SignalClassifier;
  readonly settings: ModelSettings;
  readonly queue: WindowQueue;
}

/** A signal that never ends, window by window through a model. Takes samples, gives answers in their order. */
export class SignalStream implements WindowOwner {
  readonly opening: Opening;
  readonly asked: StreamModel;
  readonly cut: Cut;
  readonly #watcher: Watcher;
  readonly #windows: SlidingWindows;
  readonly #timeline: Timeline;
  readonly #judge: SignalQualityAnalyzer;
  readonly #answers: WindowResults;
  readonly #waiting: Waiting;
  /** It goes on in another turn of the event loop. */
  #isLater = false;
  #inFlight = 0;
  /** Bytes that are held for answers. */
  #answerBytes = 0;
  /** The number of the first sample since the last gap. */
  #base: number;
  /** The end was said, and all samples before it have been taken. */
  #hasEnded = false;
  #isOver = false;
  /** Not null: it takes no more samples. */
  #onRest: (() => void) | null = null;

  constructor(asked: StreamModel, opening: Opening, peer: Peer, watcher: Watcher) {
    const { settings, model } = asked;
    this.asked = asked;
    this.opening = opening;
    this.#watcher = watcher;
    this.cut = cutOf(opening, settings);
    this.#windows = new SlidingWindows(this.cut);
    this.#timeline = new Timeline(opening.start, opening.sampling_rate_hz);
    this.#judge = new SignalQualityAnalyzer(
      this.#windows.rawLength,
      opening.sampling_rate_hz,
      settings.quality,
    );
    this.#answers = new WindowResults(opening, model.metadata.labels, peer, watcher);
    this.#waiting = new Waiting(peer, (bytes) => watcher.held(bytes));
    this.#base = this.#timeline.next;
  }

  /** The first window that has not been answered, and the first sample that has not been taken. */
  get place(): { readonly next_window: number; readonly next_sample: number } {
    return { next_window: this.#answers.next, next_sample: this.#timeline.next };
  }

  /** Windows that the model is working on. */
  get inFlight(): number {
    return this.#inFlight;
  }

  get counts(): WindowResults['counts'] {
    return this.#answers.counts;
  }

  /** Why it cannot go on from this window; null: it can. */
  problemOf(nextWindow: number): SessionEnd | null {
    const { firstKept, next } = this.#answers;
    if (nextWindow >= firstKept && nextWindow <= next) return null;
    const detail = `resume.next_window: expected a window from ${firstKept} to ${next}`;
    return { code: CLOSE.CONFLICT, detail };
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
    return this.#hasEnded || this.#waiting.hasEnd;
  }

  /** Takes samples, or what is said of them, in their order. */
  put(item: Item): void {
    if (this.#onRest !== null) return;
    this.#waiting.add(item);
    if (this.#waiting.length === 1) this.proceed();
    else if (this.#waiting.bytes > MOST_WAITING) this.#waiting.slow(true);
  }

  /** Answers up to this window have come to the client. */
  received(window: number): void {
    this.#answers.received(window);
  }

  /** Resolves when what was put in has been taken, as far as it is to wait for that. */
  taken(): Promise<void> {
    return this.#waiting.taken();
  }

  /** The connection is broken: what has not been taken of it will be sent again. */
  detach(): void {
    this.#answers.peer = null;
    this.#waiting.detach();
  }

  /** Goes on with another connection, from this window on. */
  attach(peer: Peer, nextWindow: number): void {
    this.#answers.peer = peer;
    this.#waiting.attach(peer);
    this.#answers.tellAgain(nextWindow);
    this.proceed();
  }

  /** Takes no more samples; once what the model is working on has been answered, `then` is called. */
  rest(then: () => void): void {
    this.#waiting.clear();
    this.#onRest = then;
    if (this.#answers.areTold) then();
  }

  /** Nothing is done any more. */
  stop(): void {
    this.#isOver = true;
    this.detach();
    this.#watcher.held(-this.#answerBytes);
    this.#answerBytes = 0;
  }

  /** Goes on with what did not fit into an earlier iteration of the event loop. */
  takeTurn(): void {
    this.#isLater = false;
    this.#bounded(() => this.proceed());
  }

  /** Does what can be done with what has come. */
  proceed(): void {
    if (this.#isOver || this.#isLater) return;
    if (this.#onRest !== null) {
      if (this.#answers.areTold) this.#onRest();
      return;
    }
    const { first } = this.#waiting;
    let isHeld = false;
    for (let item = first; item && !isHeld; item = this.#waiting.first) {
      isHeld = !this.#do(item);
      if (this.#isOver) return;
      if (!isHeld) this.#waiting.shift();
    }
    const isLate = this.opening.deadline_ms === null || this.#waiting.bytes > MOST_WAITING;
    this.#waiting.slow(isHeld && isLate);
    if (this.#hasEnded && this.#answers.areTold) this.#finish();
  }

  /** False: it cannot be done for now, or at all. */
  #do(item: Item): boolean {
    try {
      return this.#take(item);
    } catch (error) {
      if (!(error instanceof PlaceError)) throw error;
      this.#watcher.misplaced(this, `${FIELDS[item.type]}: ${error.message}`);
      return false;
    }
  }

  /** The same. @throws PlaceError: it cannot be there */
  #take(item: Item): boolean {
    switch (item.type) {
      case 'samples':
        return this.#takeSamples(item);
      case 'gap':
        return this.#leap(item.samples);
      case 'place':
        return this.#moveTo(item.place);
      case 'end':
        this.#hasEnded = this.#flush();
        return this.#hasEnded;
    }
  }

  #moveTo(place: Place): boolean {
    const missing = this.#timeline.missingBefore(place);
    return missing === 0 || this.#leap(missing);
  }

  #takeSamples(item: Extract<Item, { readonly type: 'samples' }>): boolean {
    const windows = this.#windows;
    this.#timeline.require(item.samples.length - item.offset);
    for (;;) {
      if (this.#mustWait()) return false;
      if (windows.isComplete) {
        if (!this.#complete(item.at)) return false;
        windows.advance();
      } else if (windows.hasWork) {
        windows.work();
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
    while (windows.isComplete || windows.hasWork) {
      if (this.#mustWait()) return false;
      if (!windows.isComplete) {
        windows.work();
        continue;
      }
      if (!this.#complete(now)) return false;
      windows.advance();
    }
    return true;
  }

  /** Requests of others have their turn before it goes on. */
  #mustWait(): boolean {
    if (!this.#watcher.isTurnOver) return false;
    this.#isLater = true;
    this.#watcher.later(this);
    return true;
  }

  #leap(samples: number): boolean {
    this.#timeline.require(samples);
    if (!this.#flush() || this.#isStuck()) return false;
    const { peer, writer } = this.#answers;
    const first = this.#timeline.next;
    const time = writer.timeOf(this.#timeline.secondsOf(first));
    peer?.send(`{"gap":{"first_sample":${first},"samples":${samples},"time":${time}}}`);
    this.#timeline.pass(samples);
    this.#windows.restart();
    this.#base = this.#timeline.next;
    this.#answers.restart();
    return true;
  }

  /** A window is complete. @param arrivedAt its last sample. @returns false: it has to wait */
  #complete(arrivedAt: number): boolean {
    const { deadline_ms: deadline } = this.opening;
    // Also with a deadline: then it is kept for the window that is waited for.
    if (!this.#answers.hasRoom) return false;
    const isStuck = this.#isStuck();
    if (deadline === null && isStuck) return false;
    const now = performance.now();
    const until = deadline === null ? now + this.#watcher.requestTimeoutMs : arrivedAt + deadline;
    if (until <= now || isStuck) {
      this.#answers.skip(this.#add(arrivedAt));
      return true;
    }
    if (this.#inFlight >= MOST_IN_FLIGHT) return false;
    const window = this.#add(arrivedAt);
    const { filter, rawWindow, window: taken } = this.#windows;
    this.#judge.see(rawWindow, filter === null ? rawWindow : taken);
    this.#answers.setQuality(window, this.#judge);
    if (this.#judge.isUsable) {
      this.#inFlight++;
      this.#watcher.held(this.#windowBytes);
      this.asked.queue.ask(this, window, taken, until);
    } else this.#answers.leaveOut(window);
    return true;
  }

  #isStuck(): boolean {
    const { peer } = this.#answers;
    if (peer === null || peer.bufferedBytes <= MOST_UNSENT) return false;
    this.#watcher.stuck(this);
    return true;
  }

  #add(arrivedAt: number): number {
    const { firstRaw, place } = this.#windows;
    const seconds = this.#timeline.secondsOf(this.#base + place);
    const window = this.#answers.add(this.#base + firstRaw, seconds, arrivedAt);
    const { bytes } = this.#answers;
    if (bytes !== this.#answerBytes) this.#watcher.held(bytes - this.#answerBytes);
    this.#answerBytes = bytes;
    return window;
  }

  /** Of a window in the model. */
  get #windowBytes(): number {
    return this.cut.windowLength * Float32Array.BYTES_PER_ELEMENT;
  }

  /** Of `WindowOwner`. */
  answered(window: number, { scores }: Classification): void {
    this.#settled(() => this.#answers.answer(window, scores));
  }

  /** Of `WindowOwner`. */
  late(window: number): void {
    this.#settled(() => this.#answers.skip(window));
  }

  /** Of `WindowOwner`. */
  failed(window: number, { code, message }: EngineError): void {
    this.#settled(() => {
      if (code === 'DRAINING') this.#watcher.left(this);
      else this.#answers.fail(window, message);
    });
  }

  /** Of `WindowOwner`. */
  crashed(error: unknown): void {
    this.#settled(() => {
      throw error;
    });
  }

  /** A window is back from the model, among those of other streams: an unexpected error ends this one alone. */
  #settled(take: () => void): void {
    this.#inFlight--;
    this.#watcher.held(-this.#windowBytes);
    if (this.#isOver) return;
    this.#bounded(() => {
      take();
      this.proceed();
    });
  }

  #bounded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#watcher.crashed(this, error);
    }
  }

  #finish(): void {
    const { peer } = this.#answers;
    if (peer === null) return; // its client is to be told when it comes back
    this.#isOver = true;
    peer.send(JSON.stringify({ end: { ...this.counts, ...this.place } }));
    peer.close(CLOSE.NORMAL, '');
    this.#watcher.ended(this);
  }
}
