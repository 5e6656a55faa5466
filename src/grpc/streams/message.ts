import type { ServiceError } from '../../serving/errors';
import type { RequestHeader } from '../../serving/header-names';
import {
  type ModelRoute,
  type Outcome,
  RequestContext,
  type ServiceResponse,
} from '../../serving/request-context';
import type { GrpcRequestContext } from '../exchange';
import { Unreadable } from '../reading';
import { httpStatusOf, statusOf } from '../status';

/** How a message of a stream is answered: its stream says so. */
export interface MessageEnds {
  /** It may be read: it has been. */
  readonly receive: (message: MessageExchange) => void;
  readonly send: (message: MessageExchange, answer: ServiceResponse) => void;
  readonly sendError: (message: MessageExchange, error: ServiceError) => void;
}

/** One message of a stream: a request of its own, with the key, the model's deadline and the headers of its call. */
export class MessageExchange extends RequestContext {
  readonly call: GrpcRequestContext;
  /** A message before it is not answered yet. */
  readonly isPipelined: boolean;
  readonly isPublic = false;
  readonly isQueued = true;
  readonly resource = null;
  readonly modelRoute: ModelRoute;
  readonly routePath: string;
  readonly takesMany = false;
  readonly isStream = false;
  readonly carriesRequests = false;
  /** All of it has come. */
  isWhole = false;
  /** grpc-js has read it. */
  isRead = false;
  /** See `GrpcExchange`. */
  stillLooks = 0;
  pieces = 0;
  readonly #ends: MessageEnds;
  /** As it is told; null: none. */
  #told: ServiceError | null = null;

  /** @param number of the messages of its stream, from 1 on */
  constructor(
    call: GrpcRequestContext,
    target: ModelRoute,
    ends: MessageEnds,
    { number, isPipelined }: { readonly number: number; readonly isPipelined: boolean },
  ) {
    super(`${call.requestId}.${number}`, call.readiness, call.arrivedWhileDraining);
    this.call = call;
    this.modelRoute = target;
    this.routePath = call.routePath;
    this.isPipelined = isPipelined;
    this.#ends = ends;
  }

  header(name: RequestHeader): string | undefined {
    return this.call.header(name);
  }

  apiKey(): string | null {
    return this.call.apiKey();
  }

  /** What its stream has left. */
  clientTimeoutMs(): number {
    return this.call.clientTimeoutMs() - (this.startedAt - this.call.startedAt);
  }

  onAuthorized(): void {}

  receive(): void {
    this.#ends.receive(this);
  }

  parse(): void {
    if (this.body instanceof Unreadable) throw this.body.error;
  }

  send(answer: ServiceResponse): void {
    this.#ends.send(this, answer);
  }

  abort(): void {
    this.call.abort();
  }

  /** It begins once more, with the time that it has left. */
  again(): void {
    [this.error, this.route, this.#told] = [null, null, null];
    this.stage = 0;
  }

  protected sendError(error: ServiceError): void {
    this.#told ??= error;
    this.#ends.sendError(this, error);
  }

  /** @param answered false: its client has gone */
  end(answered: boolean): Outcome {
    this.isOver = true;
    this.cancel();
    const status = this.#told ? httpStatusOf(statusOf(this.#told, this.#told).code) : 200;
    return {
      method: 'POST',
      httpVersion: '2.0',
      route: this.routePath,
      status: answered ? status : 499,
      isAnswered: answered,
    };
  }
}
