import { toServiceError } from '../serving/errors';
import { MAX_UNSENT_BYTES } from '../serving/send-buffer';
import { CLOSE, type CloseCode, type Peer, SessionError } from '../serving/session';
import { decodeFloat32, decodeNumbers, inputBytes, type SignalInput } from './input-queue';
import type { SignalStream } from './signal-stream';
import type { StreamModel } from './stream-host';
import { CONTROLS, decodeJson, resumption, streamOptions, validate } from './stream-messages';
import { findOptionsProblem } from './stream-options';
import type { Session, StreamRecord, Streams } from './streams';

/** Maximum size of a close reason in bytes (RFC 6455, 5.5). */
const MAX_REASON_BYTES = 123;
const EXPECTED = 'an array of samples, or an object with samples, at, gap, received or end';

/** The request that opened a session. */
export interface Caller {
  readonly requestId: string;
  /** Identifies the API key; empty if the server needs no keys. */
  readonly owner: string;
}

/** Handles the messages of one connection, from the first message to the close of the connection. */
export class StreamSession implements Session {
  readonly requestId: string;
  readonly startedAt = performance.now();
  lastMessageAt = 0;
  record: StreamRecord | null = null;
  readonly #streams: Streams;
  readonly #model: StreamModel;
  readonly #owner: string;
  readonly #peer: Peer;
  /** Error that closed the session; null if none. */
  #error: SessionError | null = null;
  /** Whether messages are ignored because the session is being closed. */
  #isClosed = false;
  #isIdle = false;

  constructor(streams: Streams, model: StreamModel, { requestId, owner }: Caller, peer: Peer) {
    this.#streams = streams;
    this.#model = model;
    this.#owner = owner;
    this.requestId = requestId;
    this.#peer = peer;
    streams.addSession(this);
  }

  onText(bytes: Buffer): void {
    if (this.#accepts()) this.#handle(decodeJson(bytes));
  }

  /** Handles a parsed JSON message. */
  onMessage(message: unknown): void {
    if (this.#accepts()) this.#handle(message);
  }

  /** Handles float32 samples. */
  onBinary(bytes: Buffer): void {
    if (!this.#accepts()) return;
    const { record } = this;
    if (record === null) throw new SessionError(CLOSE.INVALID, 'message: expected JSON first');
    if (record.stream.options.format !== 'f32') {
      throw new SessionError(CLOSE.UNSUPPORTED, 'message: is binary, but "format" is "json"');
    }
    this.#requireRoom(bytes.length / Float32Array.BYTES_PER_ELEMENT);
    this.#pushSamples(record.stream, decodeFloat32(bytes));
  }

  async post(message: unknown): Promise<SignalStream['cursor']> {
    try {
      if (Buffer.isBuffer(message)) this.onBinary(message);
      else this.onMessage(message);
    } catch (error) {
      this.onError(error);
    }
    if (this.#error) throw this.#error;
    const { stream } = this.record as StreamRecord;
    await stream.whenAccepting();
    // Queued input can be invalid, too.
    if (this.#error) throw this.#error;
    return stream.cursor;
  }

  onDrain(): void {
    this.#streams.timeouts.onDrain(this);
    this.record?.stream.proceed();
  }

  onClose(): void {
    if (!this.#isClosed && this.record) this.#streams.disconnect(this.record);
    this.#isClosed = true;
    this.#streams.removeSession(this);
  }

  onError(error: unknown): void {
    try {
      if (error instanceof SessionError) {
        this.fail(error.code, error.message);
        return;
      }
      this.#streams.logError(this, error);
      const { requestId } = this;
      this.fail(CLOSE.INTERNAL, toServiceError(error, { timeoutMs: 0, requestId }).message);
    } catch (failure) {
      this.#streams.logError(this, failure);
      this.#isClosed = true;
      this.#peer.destroy();
    }
  }

  setIdle(isIdle: boolean): void {
    this.#isIdle = isIdle;
    this.#peer.setIdle(isIdle);
  }

  /** Closes the session after an error, which the client receives. */
  fail(code: CloseCode, detail: string): void {
    if (this.#isClosed) return;
    this.#error = new SessionError(code, detail);
    this.#peer.send(JSON.stringify({ error: { code, detail } }));
    this.#close(code, truncateReason(detail));
  }

  supersede(): void {
    this.fail(CLOSE.CONFLICT, 'The stream was resumed by another connection.');
    // The other connection receives the unread results, too: they are not kept twice.
    if (this.#peer.bufferedBytes > MAX_UNSENT_BYTES) this.#peer.destroy();
  }

  drain(): void {
    const quiet = this.record?.stream.quiesce() ?? Promise.resolve();
    quiet.then(() => this.goAway()).catch((error) => this.onError(error));
  }

  goAway(): void {
    if (this.#isClosed) return;
    this.#close(CLOSE.GOING_AWAY, this.record ? JSON.stringify(this.record.stream.cursor) : '');
  }

  end(): void {
    this.#isClosed = true;
    this.#streams.onClosing(this, CLOSE.NORMAL);
  }

  #close(code: CloseCode, reason: string): void {
    this.#isClosed = true;
    this.#peer.close(code, reason);
    this.#streams.onClosing(this, code);
  }

  /** Records that a message has arrived. @returns false if it is ignored */
  #accepts(): boolean {
    if (this.#isClosed) return false;
    this.lastMessageAt = performance.now();
    if (this.#isIdle) this.#streams.timeouts.wake(this);
    return true;
  }

  #handle(message: unknown): void {
    const { record } = this;
    if (record !== null) {
      if (Array.isArray(message)) this.#pushNumbers(record.stream, message);
      else this.#control(record.stream, message);
    } else if (typeof message === 'object' && message !== null && 'resume' in message) {
      this.#resume(message);
    } else this.#open(message);
  }

  #open(message: unknown): void {
    const options = validate(streamOptions, message);
    const problem = findOptionsProblem(options, this.#model.settings);
    if (problem !== null) throw new SessionError(CLOSE.INVALID, problem);
    const parts = { model: this.#model, options, peer: this.#peer };
    const record = this.#streams.open(this, this.#owner, parts);
    if (record === null) {
      throw new SessionError(CLOSE.TRY_LATER, 'Not enough memory for another stream.');
    }
    this.record = record;
    this.#sendOpened(record, false);
  }

  #resume(message: unknown): void {
    const { resume } = validate(resumption, message);
    const record = this.#streams.find(resume.stream, this.#owner, this.#model.name);
    if (record === null) {
      throw new SessionError(CLOSE.NOT_FOUND, 'resume.stream: no such stream. Open a new stream');
    }
    const [first, last] = record.stream.resumable;
    if (resume.next_window < first || resume.next_window > last) {
      const detail = `resume.next_window: expected a window from ${first} to ${last}`;
      throw new SessionError(CLOSE.CONFLICT, detail);
    }
    this.#streams.resume(record, this);
    this.record = record;
    this.#sendOpened(record, true);
    record.stream.attach(this.#peer, resume.next_window);
  }

  #sendOpened({ id, stream }: StreamRecord, isResumed: boolean): void {
    const { name, model, settings } = this.#model;
    const opened = {
      stream: id,
      patient_id: stream.options.patient_id,
      model: name,
      classes: model.metadata.labels,
      ...stream.channels,
      window_length: settings.windowLength,
      step: stream.windowing.step,
      sampling_rate_hz: stream.options.sampling_rate_hz,
      resampled_to_hz: stream.resampledToHz,
      delay_ms: Math.round(stream.delayMs * 1000) / 1000,
      ...stream.cursor,
      resumed: isResumed,
    };
    this.#peer.send(JSON.stringify(opened));
  }

  #control(stream: SignalStream, message: unknown): void {
    const keys = typeof message === 'object' && message !== null ? Object.keys(message) : [];
    const [key] = Object.keys(CONTROLS).filter((name) => keys.includes(name));
    switch (key) {
      case 'samples': {
        const { at, samples } = validate(CONTROLS.samples, message);
        if (at !== undefined) this.#push(stream, { type: 'position', position: at });
        this.#pushNumbers(stream, samples);
        break;
      }
      case 'at':
        this.#push(stream, { type: 'position', position: validate(CONTROLS.at, message).at });
        break;
      case 'gap':
        this.#push(stream, { type: 'gap', samples: validate(CONTROLS.gap, message).gap });
        break;
      case 'received':
        stream.acknowledge(validate(CONTROLS.received, message).received);
        break;
      case 'end':
        validate(CONTROLS.end, message);
        // A client that has resumed the stream sends the end again.
        if (!stream.isEnding) stream.push({ type: 'end' });
        break;
      default:
        throw new SessionError(CLOSE.INVALID, `message: expected ${EXPECTED}`);
    }
  }

  #pushNumbers(stream: SignalStream, values: readonly unknown[]): void {
    if (stream.options.format !== 'json') {
      throw new SessionError(CLOSE.UNSUPPORTED, 'samples: are JSON, but "format" is "f32"');
    }
    const width = stream.valuesPerSample;
    this.#requireRoom(Array.isArray(values[0]) ? values.length * width : values.length);
    this.#pushSamples(stream, decodeNumbers(values, width));
  }

  #pushSamples(stream: SignalStream, samples: Float64Array): void {
    if (samples.length === 0) return;
    const width = stream.valuesPerSample;
    if (samples.length % width !== 0) {
      const detail = `samples: expected frames of ${width} channels, found ${samples.length} values`;
      throw new SessionError(CLOSE.INVALID, detail);
    }
    this.#push(stream, { type: 'samples', samples, offset: 0, arrivedAt: performance.now() });
  }

  /** @throws SessionError: the signal has ended, or there is not enough memory */
  #push(stream: SignalStream, input: SignalInput): void {
    if (stream.isEnding) throw new SessionError(CLOSE.INVALID, 'message: unexpected after "end"');
    this.#requireRoom(input.type === 'samples' ? input.samples.length : 0);
    stream.push(input);
  }

  /** @throws SessionError: there is not enough memory for an input with so many samples */
  #requireRoom(samples: number): void {
    if (this.#streams.makeRoom(inputBytes(samples))) return;
    const noun = samples === 0 ? 'this message' : 'these samples';
    throw new SessionError(CLOSE.TRY_LATER, `Not enough memory for ${noun}.`);
  }
}

/** Truncates an error message to the maximum size of a close reason. */
function truncateReason(reason: string): string {
  let end = reason.length;
  while (Buffer.byteLength(reason.slice(0, end)) > MAX_REASON_BYTES) end--;
  return reason.slice(0, end);
}
