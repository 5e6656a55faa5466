import { toServiceError } from '../serving/errors';
import { MOST_UNSENT } from '../serving/outflow';
import {
  CLOSE,
  type CloseCode,
  type Peer,
  type SessionEnd,
  type SessionHandler,
} from '../serving/session';
import { type Item, itemBytes } from './input-queue';
import { CONTROLS, type Opening, opening, resumption } from './messages';
import { openingProblem } from './opening';
import { check, cut, parse, Refusal } from './refusal';
import { findNoSample, fromFloat32, fromNumbers } from './samples';
import { SignalStream, type StreamModel } from './signal-stream';
import { memoryOf } from './stream-memory';
import type { Session } from './stream-types';
import type { Streams } from './streams';

const SHAPES = 'an array of samples, or an object with samples, at, gap, received or end';

/** Whose conversation it is. */
export interface Caller {
  /** Of the request that it began with. */
  readonly requestId: string;
  /** What only who knows the same key has; empty: no keys are needed. */
  readonly owner: string;
}

/** What a client says on one connection, from its first message to the end of the connection. */
export class StreamSession implements SessionHandler, Session {
  readonly #streams: Streams;
  readonly #asked: StreamModel;
  readonly #owner: string;
  readonly #peer: Peer;
  /** Of the request that it began with, for the log. */
  readonly requestId: string;
  /** `performance.now()` at its beginning. */
  readonly startedAt = performance.now();
  /** When its client said something last. */
  heardAt = 0;
  /** Null: the first message has not come. */
  stream: SignalStream | null = null;
  /** Why it was ended; null: it was not, or there is nothing wrong. */
  problem: SessionEnd | null = null;
  #isOver = false;
  #isQuiet = false;

  constructor(streams: Streams, asked: StreamModel, { requestId, owner }: Caller, peer: Peer) {
    this.#streams = streams;
    this.#asked = asked;
    this.#owner = owner;
    this.requestId = requestId;
    this.#peer = peer;
    streams.begin(this);
  }

  /** Nothing that comes is listened to any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** JSON. */
  onText(bytes: Buffer): void {
    this.#hear(() => this.#say(parse(bytes)));
  }

  /** The same, parsed. */
  say(message: unknown): void {
    this.#hear(() => this.#say(message));
  }

  /** Samples. */
  onBinary(bytes: Buffer): void {
    this.#hear(() => {
      const { stream } = this;
      if (stream === null)
        throw new Refusal(CLOSE.INVALID, 'message: the first one has to be JSON');
      if (stream.opening.format !== 'f32') {
        throw new Refusal(CLOSE.UNSUPPORTED, 'message: is binary, but "format" is "json"');
      }
      this.#requireRoom(bytes.length / Float32Array.BYTES_PER_ELEMENT);
      const samples = fromFloat32(bytes);
      if (samples === null) {
        throw new Refusal(CLOSE.INVALID, 'message: expected a multiple of 4 bytes, of float32');
      }
      this.#feed(stream, samples);
    });
  }

  /** What was sent has gone out. */
  onDrain(): void {
    this.#bounded(() => {
      this.#streams.drained(this);
      this.stream?.proceed();
    });
  }

  setIdle(isQuiet: boolean): void {
    this.#isQuiet = isQuiet;
    this.#peer.setIdle(isQuiet);
  }

  /** The connection is closed, whoever did so. */
  onClose(): void {
    this.#bounded(() => {
      const { stream } = this;
      if (!this.#isOver && stream) this.#streams.broke(stream);
      this.#isOver = true;
      this.#streams.gone(this);
    });
  }

  /** An unexpected error: it is logged, and ends this conversation. Does not throw. */
  onError(error: unknown): void {
    this.#streams.logCrash(this, error);
    const { requestId } = this;
    try {
      this.fail(CLOSE.INTERNAL, toServiceError(error, { timeoutMs: 0, requestId }).message);
    } catch (another) {
      this.#streams.logCrash(this, another);
      this.#isOver = true;
      this.#peer.destroy();
    }
  }

  /** Ends it, the client being told why. */
  fail(code: CloseCode, detail: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.problem = { code, detail };
    this.#peer.send(JSON.stringify({ error: { code, detail } }));
    this.#peer.close(code, cut(detail));
    this.#streams.closing(this, code);
  }

  /** Its stream goes on with another connection. What it has not taken yet is sent there, and not held twice. */
  superseded(): void {
    this.fail(CLOSE.CONFLICT, 'The stream goes on with another connection.');
    if (this.#peer.bufferedBytes > MOST_UNSENT) this.#peer.destroy();
  }

  /**
   * The stream is to go on elsewhere: what the model is working on is answered, and then the client is told where
   * the stream is.
   */
  leave(): void {
    const { stream } = this;
    if (stream === null) this.leaveNow();
    else stream.rest(() => this.leaveNow());
  }

  /** The same at once: the model is gone. */
  leaveNow(): void {
    this.#leave(this.stream ? JSON.stringify(this.stream.place) : '');
  }

  /** Its stream has come to its end, of which the client has been told. */
  ended(): void {
    this.#isOver = true;
    this.#streams.closing(this, CLOSE.NORMAL);
  }

  #leave(place: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#peer.close(CLOSE.GOING_AWAY, place);
    this.#streams.closing(this, CLOSE.GOING_AWAY);
  }

  #hear(say: () => void): void {
    if (this.#isOver) return;
    this.#bounded(() => {
      this.heardAt = performance.now();
      if (this.#isQuiet) this.#streams.woke(this);
      say();
    });
  }

  /** What is thrown ends this conversation, and goes no further. */
  #bounded(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (error instanceof Refusal) this.fail(error.code, error.message);
      else this.onError(error);
    }
  }

  #say(message: unknown): void {
    if (this.stream === null) this.#begin(message);
    else if (Array.isArray(message)) this.#numbers(this.stream, message, 'samples');
    else this.#control(this.stream, message);
  }

  #begin(message: unknown): void {
    const isResumption = typeof message === 'object' && message !== null && 'resume' in message;
    if (isResumption) {
      const { resume } = check(resumption, message);
      this.#resume(resume.stream, resume.next_window);
    } else this.#open(check(opening, message));
  }

  #open(given: Opening): void {
    const problem = openingProblem(given, this.#asked.settings);
    if (problem !== null) throw new Refusal(CLOSE.INVALID, problem);
    const { watcher } = this.#streams;
    const added = this.#streams.add(this, this.#owner, memoryOf(this.#asked, given), () => {
      return new SignalStream(this.#asked, given, this.#peer, watcher);
    });
    if (added === null) {
      throw new Refusal(CLOSE.TRY_LATER, 'There is no memory for another stream.');
    }
    this.stream = added.stream;
    this.#welcome(added.id, added.stream, false);
  }

  #resume(id: string, nextWindow: number): void {
    const claim = { id, owner: this.#owner, model: this.#asked.name };
    const stream = this.#streams.find(claim);
    if (stream === null) {
      throw new Refusal(CLOSE.NOT_FOUND, 'resume.stream: there is no such stream any more');
    }
    const problem = stream.problemOf(nextWindow);
    if (problem !== null) throw new Refusal(problem.code, problem.detail);
    this.#streams.resumed(this, stream);
    this.#goOn(id, stream, nextWindow);
  }

  #goOn(id: string, stream: SignalStream, nextWindow: number): void {
    this.stream = stream;
    this.#welcome(id, stream, true);
    stream.attach(this.#peer, nextWindow);
  }

  #welcome(id: string, stream: SignalStream, isResumed: boolean): void {
    const { name, model, settings } = this.#asked;
    const told = {
      stream: id,
      patient_id: stream.opening.patient_id,
      model: name,
      classes: model.metadata.labels,
      window_length: settings.windowLength,
      step: stream.cut.step,
      sampling_rate_hz: stream.opening.sampling_rate_hz,
      resampled_to_hz: stream.resampledToHz,
      delay_ms: Math.round(stream.delayMs * 1000) / 1000,
      ...stream.place,
      resumed: isResumed,
    };
    this.#peer.send(JSON.stringify(told));
  }

  #control(stream: SignalStream, message: unknown): void {
    const keys = typeof message === 'object' && message !== null ? Object.keys(message) : [];
    const [key] = Object.keys(CONTROLS).filter((name) => keys.includes(name));
    switch (key) {
      case 'samples': {
        const { at, samples } = check(CONTROLS.samples, message);
        if (at !== undefined) this.#put(stream, { type: 'place', place: at });
        this.#numbers(stream, samples, 'samples');
        return;
      }
      case 'at':
        this.#put(stream, { type: 'place', place: check(CONTROLS.at, message).at });
        return;
      case 'gap':
        this.#put(stream, { type: 'gap', samples: check(CONTROLS.gap, message).gap });
        return;
      case 'received':
        stream.received(check(CONTROLS.received, message).received);
        return;
      case 'end':
        check(CONTROLS.end, message);
        // Who comes back after a broken connection does not know whether it has come.
        if (!stream.isEnding) stream.put({ type: 'end' });
        return;
      default:
        throw new Refusal(CLOSE.INVALID, `message: expected ${SHAPES}`);
    }
  }

  #numbers(stream: SignalStream, values: readonly unknown[], field: string): void {
    if (stream.opening.format !== 'json') {
      throw new Refusal(CLOSE.UNSUPPORTED, `${field}: are JSON, but "format" is "f32"`);
    }
    this.#requireRoom(values.length);
    const wrong = findNoSample(values);
    if (wrong >= 0) {
      throw new Refusal(CLOSE.INVALID, `${field}[${wrong}]: expected a number or null`);
    }
    this.#feed(stream, fromNumbers(values as readonly (number | null)[]));
  }

  #feed(stream: SignalStream, samples: Float64Array): void {
    if (samples.length === 0) return;
    this.#put(stream, { type: 'samples', samples, offset: 0, at: performance.now() });
  }

  /** @throws Refusal: the stream has been ended, or there is no memory */
  #put(stream: SignalStream, item: Item): void {
    if (stream.isEnding) throw new Refusal(CLOSE.INVALID, 'message: comes after "end"');
    this.#requireRoom(item.type === 'samples' ? item.samples.length : 0);
    stream.put(item);
  }

  /** Before they are read. @throws Refusal: there is no memory for so many samples */
  #requireRoom(samples: number): void {
    if (this.#streams.hasRoomFor(itemBytes(samples))) return;
    const what = samples === 0 ? 'this message' : 'these samples';
    throw new Refusal(CLOSE.TRY_LATER, `There is no memory for ${what}.`);
  }
}
