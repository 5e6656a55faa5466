import { CLOSE, type Peer, SessionError } from '../serving/session';
import type { SamplePosition } from './timeline';

/** Input of a stream, from one message. */
export type SignalInput =
  | {
      readonly type: 'samples';
      readonly samples: Float64Array;
      /** Index of the first sample that is not processed. */
      offset: number;
      /** `performance.now()` at their arrival. */
      readonly arrivedAt: number;
    }
  /** Number of missing samples. */
  | { readonly type: 'gap'; readonly samples: number }
  /** Position of the next sample. */
  | { readonly type: 'position'; readonly position: SamplePosition }
  | { readonly type: 'end' };

/** Size of a queued input without its samples. */
const INPUT_BYTES = 128;

/** Size in bytes of a queued input with so many samples. */
export function inputBytes(samples = 0): number {
  return INPUT_BYTES + samples * Float64Array.BYTES_PER_ELEMENT;
}

function bytesOf(input: SignalInput): number {
  return inputBytes(input.type === 'samples' ? input.samples.length : 0);
}

/**
 * Decodes samples from a JSON array of values, or of frames with a value per channel; null becomes NaN.
 *
 * @param width values of a frame
 * @throws SessionError that names the element
 */
export function decodeNumbers(values: readonly unknown[], width = 1): Float64Array {
  if (width > 1 && Array.isArray(values[0])) return decodeFrames(values, width);
  const samples = new Float64Array(values.length);
  for (let i = 0; i < samples.length; i++) {
    const value = values[i];
    // Names are only built for errors: this loop runs for each sample of all streams.
    if (typeof value === 'number') samples[i] = value;
    else samples[i] = toSample(value, `samples[${i}]`);
  }
  return samples;
}

function decodeFrames(frames: readonly unknown[], width: number): Float64Array {
  const samples = new Float64Array(frames.length * width);
  for (const [index, frame] of frames.entries()) {
    if (!Array.isArray(frame) || frame.length !== width) {
      const what = `expected a frame of ${width} numbers`;
      throw new SessionError(CLOSE.INVALID, `samples[${index}]: ${what}`);
    }
    for (let i = 0; i < width; i++) {
      const value = frame[i];
      samples[index * width + i] =
        typeof value === 'number' ? value : toSample(value, `samples[${index}][${i}]`);
    }
  }
  return samples;
}

function toSample(value: unknown, field: string): number {
  if (value === null) return Number.NaN;
  throw new SessionError(CLOSE.INVALID, `${field}: expected a number or null`);
}

/** Decodes samples from little-endian float32. @throws SessionError */
export function decodeFloat32(bytes: Buffer): Float64Array {
  const length = bytes.length / Float32Array.BYTES_PER_ELEMENT;
  if (!Number.isInteger(length)) {
    throw new SessionError(CLOSE.INVALID, 'message: expected float32, a multiple of 4 bytes');
  }
  const samples = new Float64Array(length);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let i = 0; i < length; i++) samples[i] = view.getFloat32(i * 4, true);
  return samples;
}

/** Inputs of a stream that are not processed yet. Pauses the client while the queue is too long. */
export class InputQueue {
  readonly #addBytes: (bytes: number) => void;
  readonly #onResume: (() => void)[] = [];
  #inputs: SignalInput[] = [];
  #bytes = 0;
  #peer: Peer | null;
  #isPaused = false;

  /** @param addBytes called with the change of the queue's memory in bytes */
  constructor(peer: Peer, addBytes: (bytes: number) => void) {
    this.#peer = peer;
    this.#addBytes = addBytes;
  }

  get length(): number {
    return this.#inputs.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get first(): SignalInput | undefined {
    return this.#inputs[0];
  }

  /** Whether the queue contains the end of the signal. */
  get hasEnd(): boolean {
    return this.#inputs.at(-1)?.type === 'end';
  }

  push(input: SignalInput): void {
    this.#inputs.push(input);
    this.#resize(bytesOf(input));
  }

  shift(): void {
    const input = this.#inputs.shift();
    if (input) this.#resize(-bytesOf(input));
  }

  clear(): void {
    this.#inputs = [];
    this.#resize(-this.#bytes);
  }

  setPaused(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    if (isPaused) {
      this.#peer?.pause();
      return;
    }
    this.#peer?.resume();
    this.#notify();
  }

  /** Resolves when the client is not paused. */
  whenAccepting(): Promise<void> {
    if (!this.#isPaused) return Promise.resolve();
    return new Promise((resolve) => this.#onResume.push(resolve));
  }

  attach(peer: Peer): void {
    this.#peer = peer;
  }

  /** Discards the inputs, which the client sends again after it has resumed the stream. */
  detach(): void {
    this.#peer = null;
    this.#isPaused = false;
    this.clear();
    this.#notify();
  }

  #resize(bytes: number): void {
    if (bytes === 0) return;
    this.#bytes += bytes;
    this.#addBytes(bytes);
  }

  #notify(): void {
    for (const resolve of this.#onResume.splice(0)) resolve();
  }
}
