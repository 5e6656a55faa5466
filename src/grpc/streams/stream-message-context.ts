import type { ServiceError } from '../../serving/errors';
import type { RequestHeader } from '../../serving/header-names';
import { type Outcome, RequestContext, type ServiceResponse } from '../../serving/request-context';
import type { GrpcConnection, GrpcRequest } from '../grpc-connections';
import type { GrpcRequestContext } from '../grpc-request-context';
import { httpStatusOf, statusOf } from '../status';

/** How a message passes its result to its stream. */
export interface MessageTransport {
  readonly send: (message: StreamMessageContext, response: ServiceResponse) => void;
  readonly sendError: (message: StreamMessageContext, error: ServiceError) => void;
}

export interface StreamMessageOptions {
  readonly transport: MessageTransport;
  /** Number of the message in its stream, from 1. */
  readonly number: number;
  /** True if an earlier message has no response yet. */
  readonly isPipelined: boolean;
}

/** A message of a stream as a request of its own, with the API key, the headers and the deadline of its call. */
export class StreamMessageContext extends RequestContext implements GrpcRequest {
  readonly call: GrpcRequestContext;
  readonly connection: GrpcConnection;
  readonly isPipelined: boolean;
  readonly isPublic = false;
  readonly isQueued = true;
  readonly resource = null;
  override readonly routePath: string;
  readonly hasManyMessages = false;
  readonly isStream = false;
  readonly carriesRequests = false;
  isReceived = false;
  idleTicks = 0;
  chunks = 0;
  readonly #transport: MessageTransport;
  /** Error that was sent; null: none. */
  #sentError: ServiceError | null = null;

  constructor(call: GrpcRequestContext, options: StreamMessageOptions) {
    const { transport, number, isPipelined } = options;
    super(`${call.requestId}.${number}`, call.readiness, call.arrivedWhileDraining);
    this.call = call;
    this.connection = call.connection;
    this.routePath = call.routePath;
    this.isPipelined = isPipelined;
    this.#transport = transport;
  }

  header(name: RequestHeader): string | undefined {
    return this.call.header(name);
  }

  apiKey(): string | null {
    return this.call.apiKey();
  }

  /** Time that is left of the deadline of the call. */
  clientTimeoutMs(): number {
    return this.call.clientTimeoutMs() - (this.startedAt - this.call.startedAt);
  }

  onAuthorized(): void {}

  send(response: ServiceResponse): void {
    this.#transport.send(this, response);
  }

  protected findRoutePath(): string {
    return this.routePath;
  }

  abort(): void {
    this.call.abort();
  }

  /** Prepares the message for another pass through the pipeline, with the time that is left. */
  restart(): void {
    this.error = null;
    this.isUnread = false;
    this.#sentError = null;
  }

  protected sendError(error: ServiceError): void {
    this.#sentError ??= error;
    this.#transport.sendError(this, error);
  }

  /** @param isAnswered false: the client has gone */
  end(isAnswered: boolean): Outcome {
    this.isOver = true;
    this.cancel();
    const error = this.#sentError;
    const status = error ? httpStatusOf(statusOf(error, error).code) : 200;
    return {
      method: 'POST',
      httpVersion: '2.0',
      route: this.routePath,
      status: isAnswered ? status : 499,
      isAnswered,
    };
  }
}
