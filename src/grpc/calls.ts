import { type Metadata, ServerInterceptingCall, type ServerInterceptor } from '@grpc/grpc-js';
import type { Target } from '../serving/exchange';
import { InFlight } from '../serving/in-flight';
import type { Pipeline } from '../serving/pipeline';
import type { Readiness } from '../serving/readiness';
import { GrpcExchange } from './exchange';
import { bytesOf } from './reading';
import type { Receiving } from './receiving';

export interface CallsOptions {
  readonly readiness: Readiness;
  readonly pipeline: Pipeline;
  readonly receiving: Receiving;
  /** Paths of methods for supervisors and load balancers, who have no key. */
  readonly probes: ReadonlySet<string>;
  /** What runs the model, by path. */
  readonly targets: ReadonlyMap<string, Target>;
}

/** The calls that have come and are not over: each goes the pipeline's way. */
export class Calls {
  readonly #options: CallsOptions;
  readonly #byMetadata = new WeakMap<Metadata, GrpcExchange>();
  /** Those that are to be answered before the service ends: not streams. */
  readonly #inFlight = new InFlight();

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#inFlight.size;
  }

  /** The call that a handler is given. */
  of({ metadata }: { readonly metadata: Metadata }): GrpcExchange {
    return this.#byMetadata.get(metadata) as GrpcExchange;
  }

  /**
   * Refuses calls from now on; resolves when those that came before are answered.
   *
   * @param patienceMs how long their clients are waited for; see `Receiving.drain`
   */
  drain(patienceMs: number): Promise<void> {
    this.#options.receiving.drain(patienceMs);
    return this.#inFlight.drain();
  }

  readonly intercept: ServerInterceptor = (method, inner) => {
    const { receiving, readiness, probes, targets } = this.#options;
    const { path } = method;
    let call: GrpcExchange | null = null;
    return new ServerInterceptingCall(inner, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, pass) => {
            const isProbe = probes.has(path);
            const target = isProbe ? null : (targets.get(path) ?? { path, refusal: () => null });
            call = new GrpcExchange(inner, {
              ...{ method, metadata, readiness, isProbe, target },
              isLate: this.#inFlight.isDraining,
              pass: () => pass(metadata),
            });
            this.#begin(call, metadata);
          },
          onReceiveHalfClose: (pass) => {
            if (call) receiving.whole(call);
            pass();
          },
          onCancel: () => call && this.#end(call),
        }),
      sendMessage: (message, next) => {
        next(message);
        if (call) receiving.answered(call, bytesOf(message));
      },
      sendStatus: (status, next) => {
        call?.ownStatus();
        next(status);
      },
    });
  };

  #begin(call: GrpcExchange, metadata: Metadata): void {
    const { receiving, pipeline } = this.#options;
    this.#byMetadata.set(metadata, call);
    if (!call.isStream) this.#inFlight.begun();
    const crowded = receiving.begin(call);
    if (crowded) call.refuse(crowded, call.place);
    else pipeline.begin(call);
  }

  /** Called when its stream has closed, whatever came before. */
  #end(call: GrpcExchange): void {
    if (call.isOver) return;
    this.#options.receiving.end(call);
    this.#options.pipeline.ended(call, call.end());
    if (!call.isStream) this.#inFlight.ended();
  }
}
