import { type Metadata, ServerInterceptingCall, type ServerInterceptor } from '@grpc/grpc-js';
import { waitTooLong } from '../http/front-door';
import type { EngineError } from '../native/engine';
import { type ApiKeys, keyOfValues } from '../serving/credentials/keys';
import { ServiceError } from '../serving/errors';
import type { Readiness } from '../serving/readiness';
import { report, type Watchers } from '../serving/report';
import type { Turns } from '../serving/turns';
import { bytesOf } from './reading';
import type { Receiving } from './receiving';
import { TrackedCall } from './tracked-call';

export interface CallsOptions {
  readonly readiness: Readiness;
  /** Null: everybody may ask. */
  readonly keys: ApiKeys | null;
  readonly watchers: Watchers;
  readonly turns: Turns;
  readonly receiving: Receiving;
  readonly limits: { readonly requestTimeoutMs: number; readonly maxQueueWaitMs: number };
  /** Paths of methods for supervisors and load balancers, who have no key. */
  readonly probes: ReadonlySet<string>;
  /** Why a call of this method would be refused with so much time left; null: it would not. */
  readonly refusalOf: (path: string, remainingMs: number) => EngineError | null;
}

/**
 * The calls that have come and are not over: who may ask, what is refused unread, and what is said of
 * each when it is over; as the gate and the front door do for HTTP.
 */
export class Calls {
  readonly #options: CallsOptions;
  readonly #byMetadata = new WeakMap<Metadata, TrackedCall>();
  /** Those that are to be answered before the service ends: not streams. */
  readonly #inFlight = new Set<TrackedCall>();
  #isDraining = false;
  #onIdle: (() => void) | null = null;

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#inFlight.size;
  }

  /** The call that a handler is given. */
  of({ metadata }: { readonly metadata: Metadata }): TrackedCall {
    return this.#byMetadata.get(metadata) as TrackedCall;
  }

  /**
   * Refuses calls from now on; resolves when those that came before are answered.
   *
   * @param patienceMs how long their clients are waited for; see `Receiving.drain`
   */
  drain(patienceMs: number): Promise<void> {
    this.#isDraining = true;
    this.#options.receiving.drain(patienceMs);
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      if (this.size === 0) resolve();
    });
  }

  readonly intercept: ServerInterceptor = (method, inner) => {
    const { receiving, readiness, limits } = this.#options;
    const call = new TrackedCall(method, inner, readiness, limits.requestTimeoutMs);
    return new ServerInterceptingCall(inner, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, pass) => {
            this.#begin(call, metadata);
            const refusal = this.#refusalOf(call, metadata);
            if (!refusal) return pass(metadata);
            call.route = call.path;
            call.refuse(...refusal);
          },
          onReceiveHalfClose: (pass) => {
            receiving.whole(call);
            pass();
          },
          onCancel: () => this.#end(call),
        }),
      sendMessage: (message, next) => {
        next(message);
        receiving.answered(call, bytesOf(message));
      },
      sendStatus: (status, next) => {
        call.ownStatus();
        next(status);
      },
    });
  };

  #begin(call: TrackedCall, metadata: Metadata): void {
    call.begin(metadata);
    this.#byMetadata.set(metadata, call);
    this.#options.receiving.begin(call);
    if (!call.isStream) this.#inFlight.add(call);
  }

  /** Called when its stream has closed, whatever came before. */
  #end(call: TrackedCall): void {
    if (call.isOver) return;
    this.#options.receiving.end(call);
    report(this.#options.watchers, call.end());
    if (this.#inFlight.delete(call) && this.size === 0) this.#onIdle?.();
  }

  #refusalOf(call: TrackedCall, metadata: Metadata): Refusal | null {
    const { keys, turns, limits, probes, refusalOf, receiving } = this.#options;
    const crowded = receiving.refusalOf(call);
    if (crowded) return [crowded, crowded];
    if (probes.has(call.path)) return null;
    if (keys) {
      const key = keyOfValues(metadata.get('authorization'));
      if (key === null) return ofService('KEY_NEEDED', NEEDED);
      if (!keys.has(key)) return ofService('KEY_NEEDED', 'The API key is not known.');
    }
    if (this.#isDraining) return ofService('DRAINING', 'The service is shutting down.');
    const isWaitTooLong = turns.waitMs > limits.maxQueueWaitMs;
    const refusal = isWaitTooLong
      ? waitTooLong(turns.waitMs, limits.maxQueueWaitMs)
      : refusalOf(call.path, call.remainingMs);
    return refusal && [new ServiceError(refusal.code as 'QUEUE_FULL', refusal.message), refusal];
  }
}

const NEEDED = 'An API key is needed, in metadata: "authorization: Bearer KEY".';

/** What the client is told, and what raised it. */
type Refusal = readonly [ServiceError, Error];

function ofService(code: 'KEY_NEEDED' | 'DRAINING', message: string): Refusal {
  const error = new ServiceError(code, message);
  return [error, error];
}
