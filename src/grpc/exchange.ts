import { constants, type ServerHttp2Stream } from 'node:http2';
import {
  Metadata,
  type ServerInterceptingCallInterface,
  type ServerMethodDefinition,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import type { ProtectedResource } from '../serving/access';
import { bearerKeyOfValues } from '../serving/credentials/api-keys';
import type { ServiceError } from '../serving/errors';
import type { RequestHeader } from '../serving/header-names';
import type { Readiness } from '../serving/readiness';
import {
  type ModelRoute,
  type Outcome,
  RequestContext,
  type ServiceResponse,
} from '../serving/request-context';
import { setTimingHeaders } from '../serving/timings';
import { Unreadable } from './reading';
import { httpStatusOf, statusOf } from './status';

/** How long the stream of a call that ended before its request was whole stays open, in ms. */
const LINGER_MS = 1000;

/** What grpc-js (whose version is exact in package.json) has no public names for. */
export interface InnermostCall extends ServerInterceptingCallInterface {
  readonly stream: ServerHttp2Stream;
  handleDataFrame: (data: Buffer) => void;
  handleEndEvent: () => void;
}

export interface GrpcModelRoute extends ModelRoute {
  /** It loads or unloads models. */
  readonly isManagement?: true;
  /** It takes a stream, of which each message is a request. */
  readonly carriesRequests?: true;
}

/** What is known of a call before anything of it is read. */
export interface IncomingCall {
  readonly method: ServerMethodDefinition<unknown, unknown>;
  readonly metadata: Metadata;
  readonly readiness: Readiness;
  /** See `Exchange`. */
  readonly isLate: boolean;
  /** Null: a method for supervisors and load balancers. */
  readonly target: GrpcModelRoute | null;
  /** Lets grpc-js have it. */
  readonly pass: () => void;
}

/** A call of gRPC. */
export class GrpcRequestContext extends RequestContext {
  readonly isPipelined = false;
  readonly isPublic: boolean;
  readonly isQueued: boolean;
  readonly modelRoute: ModelRoute | null;
  readonly resource: ProtectedResource | null;
  readonly routePath: string;
  /** It takes any number of messages, not one. */
  readonly takesMany: boolean;
  /** It goes on until its client ends it: it takes or answers any number of messages. */
  readonly isStream: boolean;
  /** It is a stream of which each message is a request of its own. */
  readonly carriesRequests: boolean;
  /** `address:port` of the client. */
  readonly peer: string;
  readonly innermost: InnermostCall;
  /** All of its request has come; of one that takes many messages this is not said. */
  isWhole = false;
  /** Looks after each other in which nothing of its request came; counted while the service drains. */
  stillLooks = 0;
  /** In which its request came. */
  pieces = 0;
  /** Called with the bytes of its stream before grpc-js reads them; what it says false to is not read. */
  take: (data: Buffer) => boolean = () => true;
  /** Of grpc-js, for its answer; null: no handler has it yet. */
  callback: sendUnaryData<object> | null = null;
  readonly #arrived: IncomingCall;
  readonly #clientTimeoutMs: number;
  /** As it was sent; null: none was. */
  #code: status | null = null;
  #isOwnStatus = false;

  constructor(call: ServerInterceptingCallInterface, arrived: IncomingCall) {
    const { method, metadata, target } = arrived;
    super(metadata.get('x-request-id')[0], arrived.readiness, arrived.isLate);
    this.routePath = method.path;
    this.modelRoute = target;
    this.resource = target?.isManagement ? 'management' : null;
    this.isPublic = target === null;
    this.isQueued = target !== null;
    this.takesMany = method.requestStream;
    this.isStream = method.requestStream || method.responseStream;
    this.carriesRequests = target?.carriesRequests ?? false;
    this.peer = call.getPeer();
    this.innermost = call as InnermostCall;
    this.#arrived = arrived;
    this.#clientTimeoutMs = Number(call.getDeadline()) - Date.now();
    this.#overhear();
    this.#overhearData();
  }

  header(name: RequestHeader): string | undefined {
    return this.#arrived.metadata.get(name)[0]?.toString();
  }

  apiKey(): string | null {
    return bearerKeyOfValues(this.#arrived.metadata.get('authorization'));
  }

  clientTimeoutMs(): number {
    return this.#clientTimeoutMs;
  }

  onAuthorized(): void {}

  receive(): void {
    this.#arrived.pass();
  }

  parse(): void {
    if (this.body instanceof Unreadable) throw this.body.error;
  }

  send({ body }: ServiceResponse): void {
    this.callback?.(null, body);
  }

  /** Whether a handler has it already or not, and whatever that does. */
  protected sendError(error: ServiceError, raised: unknown): void {
    this.#isOwnStatus = true;
    this.innermost.sendStatus(statusOf(error, raised));
  }

  abort(): void {
    this.#code ??= status.INTERNAL;
    this.innermost.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  }

  /** A status that comes from a handler; what comes otherwise is grpc-js's own. */
  ownStatus(): void {
    this.#isOwnStatus = true;
  }

  /** Its status has been sent, and nothing can follow. */
  get isEnding(): boolean {
    return this.isOver || this.#code !== null;
  }

  end(): Outcome {
    this.isOver = true;
    this.cancel(); // what it has begun and nobody waits for any more
    if (!this.isWhole) this.#closeStream();
    return {
      method: 'POST',
      httpVersion: '2.0',
      route: this.routePath,
      status: httpStatusOf(this.#code ?? status.CANCELLED),
      isAnswered: this.#code !== null,
    };
  }

  /**
   * Statuses that grpc-js sends by itself (a deadline that has passed, a message that is too large or
   * none) go past all interceptors: only the innermost call has them all.
   */
  #overhear(): void {
    const call = this.innermost;
    const send = call.sendStatus.bind(call);
    call.sendStatus = (sent) => {
      const isUnreadable = !this.#isOwnStatus && sent.code === status.INTERNAL;
      const code = isUnreadable ? status.INVALID_ARGUMENT : sent.code;
      this.#code ??= code ?? status.UNKNOWN;
      send({ ...sent, code, metadata: this.#withTrailers(sent.metadata) });
    };
    // What a stream still has to say then would be written behind its end.
    const sendMessage = call.sendMessage.bind(call);
    call.sendMessage = (message, callback) => {
      if (this.#code === null) sendMessage(message, callback);
    };
  }

  /** Else it would be open, and take memory, until its client ends it. Not at once: that overtakes the status. */
  #closeStream(): void {
    const { stream } = this.innermost;
    setTimeout(() => {
      // Without an error code Node would wait until answers that nobody takes have been sent.
      const { NGHTTP2_NO_ERROR, NGHTTP2_CANCEL } = constants;
      stream.close(stream.writableFinished ? NGHTTP2_NO_ERROR : NGHTTP2_CANCEL);
    }, LINGER_MS).unref();
  }

  /** Not even interceptors are told what comes before a message is whole and decompressed. */
  #overhearData(): void {
    const call = this.innermost;
    const read = call.handleDataFrame.bind(call);
    call.handleDataFrame = (data) => {
      if (!this.isOver && this.take(data)) read(data);
    };
  }

  #withTrailers(given: Metadata | null | undefined): Metadata {
    const metadata = given ?? new Metadata();
    metadata.set('x-request-id', this.requestId);
    if (this.timings) {
      setTimingHeaders(this.timings, (name, value) => metadata.set(name, String(value)));
    }
    return metadata;
  }
}
