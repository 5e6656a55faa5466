import { constants, type ServerHttp2Stream } from 'node:http2';
import {
  Metadata,
  type ServerInterceptingCallInterface,
  type ServerMethodDefinition,
  status,
} from '@grpc/grpc-js';
import type { ServiceError } from '../serving/errors';
import { Exchange, requestIdOf } from '../serving/exchange';
import type { Readiness } from '../serving/readiness';
import { type Reported, refusalOf } from '../serving/report';
import { roundMs } from '../serving/timings';
import { httpStatusOf, type StatusAnswer, statusOf } from './status';

/** How long the stream of a call that ended before its request was whole stays open, in ms. */
const LINGER_MS = 1000;

/** What grpc-js (whose version is exact in package.json) has no public names for. */
interface InnermostCall extends ServerInterceptingCallInterface {
  readonly stream: ServerHttp2Stream;
  handleDataFrame: (data: Buffer) => void;
}

/** A call of gRPC. */
export class TrackedCall extends Exchange {
  /** The message. */
  body: unknown;
  /** All of its request has come; of one that takes many messages this is not said. */
  isWhole = false;
  /** Looks after each other in which nothing of its request came; counted while the service drains. */
  stillLooks = 0;
  /** Called with the bytes of its stream before grpc-js reads them; what it says false to is not read. */
  take: (data: Buffer) => boolean = () => true;
  readonly path: string;
  /** It takes any number of messages, not one. */
  readonly takesMany: boolean;
  /** It goes on until its client ends it: it takes or answers any number of messages. */
  readonly isStream: boolean;
  /** `address:port` of the client. */
  readonly peer: string;
  readonly #call: InnermostCall;
  #metadata: Metadata | null = null;
  /** As it was sent; null: none was. */
  #code: status | null = null;
  #isOwnStatus = false;

  constructor(
    { path, requestStream, responseStream }: ServerMethodDefinition<unknown, unknown>,
    call: ServerInterceptingCallInterface,
    readiness: Readiness,
    longestMs: number,
  ) {
    super(readiness, Math.min(longestMs, Number(call.getDeadline()) - Date.now()));
    this.path = path;
    this.takesMany = requestStream;
    this.isStream = requestStream || responseStream;
    this.peer = call.getPeer();
    this.#call = call as InnermostCall;
    this.#overhear();
    this.#overhearData();
  }

  /** Called when its metadata is there. */
  begin(metadata: Metadata): void {
    this.#metadata = metadata;
    this.requestId = requestIdOf(metadata.get('x-request-id')[0]);
  }

  header(name: string): string | undefined {
    return this.#metadata?.get(name)[0]?.toString();
  }

  /** The status of an error, which it is remembered for. */
  fail(error: ServiceError, raised: unknown): StatusAnswer {
    this.error = raised instanceof Error ? raised : error;
    return statusOf(error, raised);
  }

  /** Ends it with an error, before any handler has it, or whatever its handler does. */
  refuse(error: ServiceError, raised: unknown): void {
    this.#isOwnStatus = true;
    this.#call.sendStatus(this.fail(error, raised));
  }

  /** A status that comes from a handler; what comes otherwise is grpc-js's own. */
  ownStatus(): void {
    this.#isOwnStatus = true;
  }

  end(): Reported {
    this.isOver = true;
    this.cancel(); // what it has begun and nobody waits for any more
    if (!this.isWhole) this.#closeStream();
    const code = this.#code ?? status.CANCELLED;
    return {
      ended: {
        route: this.path,
        status: httpStatusOf(code),
        durationMs: performance.now() - this.startedAt,
        refusal: refusalOf(this.error),
      },
      exchange: this,
      method: 'POST',
      httpVersion: '2.0',
      traceparent: this.header('traceparent'),
      tracestate: this.header('tracestate'),
      answered: this.#code !== null,
    };
  }

  /**
   * Statuses that grpc-js sends by itself (a deadline that has passed, a message that is too large or
   * none) go past all interceptors: only the innermost call has them all.
   */
  #overhear(): void {
    const call = this.#call;
    const send = call.sendStatus.bind(call);
    call.sendStatus = (sent) => {
      const isUnreadable = !this.#isOwnStatus && sent.code === status.INTERNAL;
      const code = isUnreadable ? status.INVALID_ARGUMENT : sent.code;
      this.#code ??= code ?? status.UNKNOWN;
      send({ ...sent, code, metadata: this.#withTrailers(sent.metadata) });
    };
  }

  /** Else it would be open, and take memory, until its client ends it. Not at once: that overtakes the status. */
  #closeStream(): void {
    const { stream } = this.#call;
    setTimeout(() => {
      // Without an error code Node would wait until answers that nobody takes have been sent.
      const { NGHTTP2_NO_ERROR, NGHTTP2_CANCEL } = constants;
      stream.close(stream.writableFinished ? NGHTTP2_NO_ERROR : NGHTTP2_CANCEL);
    }, LINGER_MS).unref();
  }

  /** Not even interceptors are told what comes before a message is whole and decompressed. */
  #overhearData(): void {
    const call = this.#call;
    const read = call.handleDataFrame.bind(call);
    call.handleDataFrame = (data) => {
      if (!this.isOver && this.take(data)) read(data);
    };
  }

  #withTrailers(given: Metadata | null | undefined): Metadata {
    const metadata = given ?? new Metadata();
    metadata.set('x-request-id', this.requestId);
    const { timings } = this;
    if (timings) {
      metadata.set('x-queue-time', String(roundMs(timings.queueMs)));
      metadata.set('x-tokenization-time', String(roundMs(timings.tokenizationMs)));
      metadata.set('x-inference-time', String(roundMs(timings.inferenceMs)));
      metadata.set('x-compute-tokens', String(timings.tokens));
      if (timings.truncated) metadata.set('x-input-truncated', 'true');
    }
    return metadata;
  }
}
