import { randomUUID } from 'node:crypto';
import { Cancellation } from '../native/cancellation';
import { EngineError, type Inference, type InferOptions } from '../native/engine';
import type { Readiness } from './readiness';
import { type Timings, timingsOf } from './timings';

const SANE_REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** A request and its answer, from its arrival to its end, whatever transport brings it. */
export class Exchange {
  /** `performance.now()` at its arrival. */
  readonly startedAt = performance.now();
  readonly readiness: Readiness;
  requestId = '';
  /** What it may take until the model runs, from its arrival, in ms. */
  timeoutMs: number;
  /** `performance.now()` when what is to be analyzed was handed to the engine. */
  submittedAt = 0;
  /** What the engine said of each element that was analyzed; none before the answer. */
  inferences: readonly Inference[] = [];
  /** What they took together; null: nothing was run. */
  timings: Timings | null = null;
  /** Where it was refused unread; null: it was not. */
  route: string | null = null;
  /** It is answered, or its client has gone. */
  isOver = false;
  /** What the answer is about, when it is an error. */
  error: Error | null = null;
  #cancellation: Cancellation | null = null;

  constructor(readiness: Readiness, timeoutMs: number) {
    this.readiness = readiness;
    this.timeoutMs = timeoutMs;
  }

  /** In ms, until its deadline. */
  get remainingMs(): number {
    return this.timeoutMs - (performance.now() - this.startedAt);
  }

  /**
   * To be taken right before submitting.
   *
   * @param timeoutMs of the body, from the arrival; null: it names none
   * @throws EngineError DEADLINE_EXCEEDED
   */
  inferOptions(timeoutMs: number | null = null): InferOptions {
    this.submittedAt = performance.now();
    if (timeoutMs !== null) this.timeoutMs = Math.min(this.timeoutMs, timeoutMs);
    const remainingMs = this.timeoutMs - (this.submittedAt - this.startedAt);
    if (remainingMs <= 0) {
      throw new EngineError('DEADLINE_EXCEEDED', 'The deadline passed before the model ran.');
    }
    this.#cancellation ??= new Cancellation();
    return { signal: this.#cancellation, timeoutMs: remainingMs };
  }

  /** What was run for it, for its answer, the log, the metrics and the span. */
  note(inferences: readonly Inference[]): void {
    this.inferences = inferences;
    this.timings = timingsOf(inferences);
  }

  /** Nobody waits any more for what it has begun. */
  cancel(): void {
    this.#cancellation?.abort();
  }
}

/** The one that was sent, where it is sane; else a new one. */
export function requestIdOf(given: unknown): string {
  return typeof given === 'string' && SANE_REQUEST_ID.test(given) ? given : randomUUID();
}
