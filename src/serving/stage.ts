import type { ApiKeys } from './credentials/keys';
import type { Exchange } from './exchange';
import type { Scheduler } from './scheduler';

/** A part of a request's way: it goes on with `next`, now or later, or ends here with an error. */
export type Stage = (exchange: Exchange, next: (exchange: Exchange) => void) => void;

export interface AdmissionLimits {
  /** The longest deadline, and that of requests that name none, in ms. */
  readonly requestTimeoutMs: number;
  readonly maxQueueWaitMs: number;
}

/** What the stages of a transport share. */
export interface StageOptions {
  /** Null: everybody may ask. */
  readonly keys: ApiKeys | null;
  /** How a key is sent, for those who sent none. */
  readonly keyNeeded: string;
  readonly scheduler: Scheduler;
  readonly limits: AdmissionLimits;
}
