import { CompactingMap } from '../lib/compacting-map';
import type { Completion, Inference } from './binding';
import type { CancelSignal } from './cancellation';
import { type EngineError, errorOf } from './engine-error';

/** Told what has ended, once for a batch, before anybody who waits for it is. */
export type EngineObserver = (completions: readonly Completion[]) => void;

export interface PendingRequest {
  resolve(inference: Inference): void;
  reject(error: EngineError): void;
  /** What cancels it, and on what; undefined: nothing does. */
  readonly signal?: CancelSignal | undefined;
  readonly cancel?: (() => void) | undefined;
}

/** Who waits for an engine's answers, and who is told of them. */
export class PendingRequests {
  readonly requests = new CompactingMap<number, PendingRequest>();
  readonly observers: EngineObserver[] = [];

  add(ticket: number, pending: PendingRequest): void {
    this.requests.set(ticket, pending);
  }

  readonly onCompletions = (completions: readonly Completion[]): void => {
    for (const observe of this.observers) bounded(() => observe(completions));
    for (const completion of completions) {
      const request = this.requests.get(completion.ticket);
      if (!request) continue;
      this.requests.delete(completion.ticket);
      bounded(() => settle(request, completion));
    }
  };
}

function settle(request: PendingRequest, completion: Completion): void {
  if (request.cancel) request.signal?.removeEventListener('abort', request.cancel);
  if (completion.code === undefined) request.resolve(completion);
  else request.reject(errorOf(completion.code, completion.message));
}

/** A batch has the requests of many clients: an error of one of them must not keep the others from their answers. */
function bounded(tell: () => void): void {
  try {
    tell();
  } catch (error) {
    process.emitWarning(error as Error);
  }
}
