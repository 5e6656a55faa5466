import {
  type Metadata,
  type Server,
  ServerInterceptingCall,
  type ServerInterceptor,
  type ServerUnaryCall,
  type ServiceDefinition,
  type sendUnaryData,
} from '@grpc/grpc-js';
import type { PackageDefinition } from '@grpc/proto-loader';
import type { GrpcService } from '../protocols/grpc-service';
import { InFlight } from '../serving/in-flight';
import type { Pipeline } from '../serving/pipeline';
import type { Readiness } from '../serving/readiness';
import { GrpcExchange, type GrpcTarget } from './exchange';
import { bytesOf, readCarefully } from './reading';
import type { Receiving } from './receiving';

export interface CallsOptions {
  readonly readiness: Readiness;
  readonly pipeline: Pipeline;
  readonly receiving: Receiving;
  /** What runs the model, by path; null: a method for supervisors and load balancers, who have no key. */
  readonly targets: ReadonlyMap<string, GrpcTarget | null>;
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

  /** Offers a service: grpc-js reads the messages of its calls, what follows is the pipeline's. */
  serve(service: GrpcService, server: Server, loaded: PackageDefinition): void {
    const { name, methods } = service;
    const definition = readCarefully(loaded[name] as ServiceDefinition, service);
    const handlers = Object.entries(methods).map(([method, handle]) => [
      method,
      (call: ServerUnaryCall<never, object>, callback: sendUnaryData<object>) => {
        const exchange = this.#byMetadata.get(call.metadata) as GrpcExchange;
        exchange.body = call.request;
        exchange.callback = callback;
        exchange.handle = () => handle(call.request, exchange);
        this.#options.pipeline.received(exchange);
      },
    ]);
    server.addService(definition, Object.fromEntries(handlers));
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
    const { receiving, readiness, targets } = this.#options;
    const { path } = method;
    let call: GrpcExchange | null = null;
    return new ServerInterceptingCall(inner, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, pass) => {
            const known = targets.get(path);
            const target = known === undefined ? { path, refusal: () => null } : known;
            call = new GrpcExchange(inner, {
              ...{ method, metadata, readiness, target },
              isLate: this.#inFlight.isDraining,
              pass: () => pass(metadata),
            });
            this.#byMetadata.set(metadata, call);
            this.#begin(call);
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

  #begin(call: GrpcExchange): void {
    const { receiving, pipeline } = this.#options;
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
