import {
  type handleBidiStreamingCall,
  type Metadata,
  type Server,
  ServerInterceptingCall,
  type ServerInterceptor,
  type ServerUnaryCall,
  type ServiceDefinition,
  type sendUnaryData,
} from '@grpc/grpc-js';
import type { PackageDefinition } from '@grpc/proto-loader';
import type { Logger } from 'pino';
import type { GrpcService } from '../protocols/grpc-service';
import { RequestsInFlight } from '../serving/in-flight';
import type { Readiness } from '../serving/readiness';
import type { Outcome } from '../serving/request-context';
import type { Pipeline } from '../serving/request-pipeline';
import { roundMs } from '../serving/timings';
import { type GrpcModelRoute, GrpcRequestContext } from './exchange';
import { bytesOf, readCarefully } from './reading';
import type { Receiving } from './receiving';
import { Stream } from './streams/stream';

export interface CallsOptions {
  readonly readiness: Readiness;
  readonly pipeline: Pipeline;
  readonly receiving: Receiving;
  readonly logger: Logger;
  /** What runs the model, by path; null: a method for supervisors and load balancers, who have no key. */
  readonly targets: ReadonlyMap<string, GrpcModelRoute | null>;
}

/** The calls that have come and are not over: each goes the pipeline's way. */
export class Calls {
  readonly #options: CallsOptions;
  readonly #byMetadata = new WeakMap<Metadata, GrpcRequestContext>();
  /** What is to be answered before the service ends: calls, and messages of streams. */
  readonly #inFlight = new RequestsInFlight();
  readonly #streams = new Map<GrpcRequestContext, Stream>();

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#inFlight.size;
  }

  /** Open streams of which each message is a request. */
  get streams(): number {
    return this.#streams.size;
  }

  /** Offers a service: grpc-js reads the messages of its calls, what follows is the pipeline's. */
  serve(service: GrpcService, server: Server, loaded: PackageDefinition): void {
    const { name, methods, streams, refusal } = service;
    const definition = readCarefully(loaded[name] as ServiceDefinition, service);
    const handlers = Object.entries(methods).map(([method, handle]) => [
      method,
      (call: ServerUnaryCall<never, object>, callback: sendUnaryData<object>) => {
        const exchange = this.#byMetadata.get(call.metadata) as GrpcRequestContext;
        exchange.body = call.request;
        exchange.callback = callback;
        exchange.handle = () => handle(call.request, exchange);
        this.#options.pipeline.received(exchange);
      },
    ]);
    const streamHandlers = Object.entries(streams).map(([method, stream]) => [
      method,
      ((duplex) => {
        const { receiving, pipeline } = this.#options;
        const call = this.#byMetadata.get(duplex.metadata) as GrpcRequestContext;
        const options = {
          pipeline,
          receiving,
          inFlight: this.#inFlight,
          method: stream,
          target: { path: call.routePath, refusal },
          serialize: definition[method]?.responseSerialize as (answer: object) => Buffer,
        };
        this.#streams.set(call, new Stream(call, duplex, options));
      }) satisfies handleBidiStreamingCall<object, object>,
    ]);
    server.addService(definition, Object.fromEntries([...handlers, ...streamHandlers]));
  }

  /**
   * Refuses calls from now on; resolves when those that came before are answered.
   *
   * @param patienceMs how long their clients are waited for; see `Receiving.drain`
   */
  drain(patienceMs: number): Promise<void> {
    this.#options.receiving.drain(patienceMs);
    const drained = this.#inFlight.drain();
    for (const stream of this.#streams.values()) stream.drain();
    return drained;
  }

  readonly intercept: ServerInterceptor = (method, inner) => {
    const { receiving, readiness, targets } = this.#options;
    const { path } = method;
    let call: GrpcRequestContext | null = null;
    return new ServerInterceptingCall(inner, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, pass) => {
            const known = targets.get(path);
            const target = known === undefined ? { path, refusal: () => null } : known;
            call = new GrpcRequestContext(inner, {
              method,
              metadata,
              readiness,
              target,
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
        if (call && !call.isStream) receiving.answered(call, bytesOf(message));
      },
      sendStatus: (status, next) => {
        call?.ownStatus();
        next(status);
      },
    });
  };

  #begin(call: GrpcRequestContext): void {
    const { receiving, pipeline } = this.#options;
    if (!call.isStream) this.#inFlight.begun();
    const crowded = receiving.begin(call);
    if (crowded) call.refuse(crowded, call.routePath);
    else pipeline.begin(call);
  }

  /** Called when its stream has closed, whatever came before. */
  #end(call: GrpcRequestContext): void {
    if (call.isOver) return;
    const stream = this.#streams.get(call);
    this.#options.receiving.end(call);
    const outcome = call.end();
    if (stream) this.#endStream(stream, outcome);
    else this.#options.pipeline.ended(call, outcome);
    if (!call.isStream) this.#inFlight.ended();
  }

  /** Its messages are counted and traced as requests, each by itself; of the whole there is one line of the log. */
  #endStream(stream: Stream, { method, route, status }: Outcome): void {
    const { call, count } = stream;
    this.#streams.delete(call);
    stream.end();
    const durationMs = roundMs(performance.now() - call.startedAt);
    const { requestId } = call;
    const line = { requestId, method, route, status, durationMs, messages: count };
    this.#options.logger.info(line, 'stream');
  }
}
