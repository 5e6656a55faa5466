import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { status } from '@grpc/grpc-js';
import type { ProtectedResource } from '../serving/access';
import { bearerKeyOfValues } from '../serving/credentials/api-keys';
import { ServiceError } from '../serving/errors';
import type { RequestHeader } from '../serving/header-names';
import type { Readiness } from '../serving/readiness';
import {
  type Outcome,
  RequestContext,
  type ServiceResponse,
  setTimingHeaders,
} from '../serving/request-context';
import type { GrpcConnection, GrpcConnections, GrpcRequest } from './grpc-connections';
import type { GrpcRoute } from './routes';
import { type GrpcStatus, httpStatusOf, OK, statusOf } from './status';

/** How long the stream of a call that ended before its request was received stays open, in ms. */
const LINGER_MS = 1000;
/** Maximum delay of a timer of Node, in ms. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** Milliseconds per unit of `grpc-timeout`. */
const UNIT_MS: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

export const RESPONSE_HEADERS = {
  [constants.HTTP2_HEADER_STATUS]: constants.HTTP_STATUS_OK,
  [constants.HTTP2_HEADER_CONTENT_TYPE]: 'application/grpc+proto',
  'grpc-encoding': 'identity',
  'grpc-accept-encoding': 'identity,deflate,gzip',
};

export interface CallOptions {
  readonly route: GrpcRoute;
  readonly connection: GrpcConnection;
  readonly connections: GrpcConnections;
  readonly readiness: Readiness;
  /** See `RequestContext`. */
  readonly arrivedWhileDraining: boolean;
  /** Maximum bytes of a message. */
  readonly maxMessageBytes: number;
  /** Called once, when the status has been sent or the stream has closed. */
  readonly onEnd: (call: GrpcRequestContext) => void;
}

/** A gRPC call: one HTTP/2 stream. */
export class GrpcRequestContext extends RequestContext implements GrpcRequest {
  readonly isPipelined = false;
  readonly isPublic: boolean;
  readonly isQueued: boolean;
  readonly resource: ProtectedResource | null;
  override readonly routePath: string;
  readonly hasManyMessages: boolean;
  readonly isStream: boolean;
  readonly carriesRequests: boolean;
  readonly stream: ServerHttp2Stream;
  readonly connection: GrpcConnection;
  readonly maxMessageBytes: number;
  isReceived = false;
  idleTicks = 0;
  chunks = 0;
  readonly #headers: IncomingHttpHeaders;
  readonly #options: CallOptions;
  readonly #deadlineTimer: NodeJS.Timeout | null;
  /** Status that was sent; null: none yet. */
  #code: status | null = null;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, options: CallOptions) {
    const { route, readiness, arrivedWhileDraining } = options;
    super(headers['x-request-id'], readiness, arrivedWhileDraining);
    const { requestStream, responseStream } = route.definition;
    this.stream = stream;
    this.connection = options.connection;
    this.maxMessageBytes = options.maxMessageBytes;
    this.routePath = route.path;
    this.resource = route.isManagement ? 'management' : null;
    this.isPublic = route.isPublic;
    this.isQueued = !route.isPublic;
    this.hasManyMessages = requestStream;
    this.isStream = requestStream || responseStream;
    this.carriesRequests = route.handler?.kind === 'requests';
    this.#headers = headers;
    this.#options = options;
    this.#deadlineTimer = this.#startDeadlineTimer();
    stream.on('close', () => options.onEnd(this));
  }

  header(name: RequestHeader): string | undefined {
    return this.#headers[name]?.toString();
  }

  apiKey(): string | null {
    const { authorization } = this.#headers;
    return bearerKeyOfValues(authorization === undefined ? [] : [authorization]);
  }

  /** @throws ServiceError REQUEST_INVALID: `grpc-timeout` is malformed */
  clientTimeoutMs(): number {
    const timeoutMs = this.#parseTimeout();
    if (!Number.isNaN(timeoutMs)) return timeoutMs;
    throw new ServiceError('REQUEST_INVALID', 'grpc-timeout: expected up to 8 digits and a unit');
  }

  /** Compression of messages with the compressed flag. */
  get messageEncoding(): string {
    return this.#headers['grpc-encoding']?.toString() ?? 'identity';
  }

  onAuthorized(): void {}

  send({ body }: ServiceResponse): void {
    if (this.isEnding) return;
    const bytes = this.#options.route.definition.responseSerialize(body);
    this.sendMessage(bytes);
    this.#options.connections.responded(this, bytes.length);
    this.sendStatus(OK);
  }

  /** @param onSent called when HTTP/2 has passed the message to the client, or with an error */
  sendMessage(message: Buffer, onSent?: (error?: Error | null) => void): void {
    const { stream } = this;
    if (this.isEnding || stream.destroyed || stream.closed) return;
    if (!stream.headersSent) stream.respond(RESPONSE_HEADERS, { waitForTrailers: true });
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(message.length, 1);
    stream.write(Buffer.concat([prefix, message]), onSent);
  }

  /** Ends the call. If a status was sent, closes the stream, since the client does not take the rest of the response. */
  sendStatus({ code, details, trailers }: GrpcStatus): void {
    if (this.#code !== null) {
      if (!this.isOver) this.#closeStream();
      return;
    }
    this.#code = code;
    const { stream } = this;
    if (stream.destroyed || stream.closed) return;
    const all = { 'grpc-status': code, 'grpc-message': encodeURI(details), ...trailers };
    const headers = { ...all, 'x-request-id': this.requestId, ...this.#timingTrailers() };
    if (stream.headersSent) {
      stream.once('wantTrailers', () => {
        this.guard(() => stream.sendTrailers(headers));
        this.#options.onEnd(this);
      });
      stream.end();
    } else {
      stream.respond({ ...RESPONSE_HEADERS, ...headers }, { endStream: true });
      process.nextTick(() => this.#options.onEnd(this));
    }
  }

  protected sendError(error: ServiceError, raised: unknown): void {
    this.sendStatus(statusOf(error, raised));
  }

  protected findRoutePath(): string {
    return this.routePath;
  }

  abort(): void {
    this.#code ??= status.INTERNAL;
    this.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  }

  /**
   * Error boundary of all callbacks of a call: an error ends this call only. Unexpected errors end it with INTERNAL and
   * a fixed message; the log line of the call has their stack.
   *
   * @returns false: `work` failed
   */
  guard(work: () => void): boolean {
    try {
      work();
      return true;
    } catch (error) {
      this.fail(error);
      return false;
    }
  }

  /** True when the status has been sent: nothing can follow. */
  get isEnding(): boolean {
    return this.isOver || this.#code !== null;
  }

  end(): Outcome {
    this.isOver = true;
    if (this.#deadlineTimer) clearTimeout(this.#deadlineTimer);
    this.cancel();
    this.stream.resume(); // discards the rest of the request
    if (!this.isReceived) this.#closeStream();
    return {
      method: 'POST',
      httpVersion: '2.0',
      route: this.routePath,
      status: httpStatusOf(this.#code ?? status.CANCELLED),
      isAnswered: this.#code !== null,
    };
  }

  /** NaN: the header is malformed. Infinity: it is missing. */
  #parseTimeout(): number {
    const value = this.#headers['grpc-timeout'];
    if (value === undefined) return Number.POSITIVE_INFINITY;
    const [, digits, unit = ''] = /^(\d{1,8})\s*([HMSmun])$/.exec(String(value)) ?? [];
    return Number(digits) * (UNIT_MS[unit] ?? Number.NaN);
  }

  #startDeadlineTimer(): NodeJS.Timeout | null {
    const timeoutMs = this.#parseTimeout();
    if (!(timeoutMs <= MAX_TIMER_MS)) return null;
    const exceeded = new ServiceError('DEADLINE_EXCEEDED', 'Deadline exceeded');
    return setTimeout(() => this.fail(exceeded), timeoutMs);
  }

  /** Closes the stream, which would use memory until its client ends it, after a delay, to let the status pass. */
  #closeStream(): void {
    const { stream } = this;
    setTimeout(() => {
      // With NO_ERROR, Node would wait until the client has taken the rest of the response.
      const { NGHTTP2_NO_ERROR, NGHTTP2_CANCEL } = constants;
      stream.close(stream.writableFinished ? NGHTTP2_NO_ERROR : NGHTTP2_CANCEL);
    }, LINGER_MS).unref();
  }

  #timingTrailers(): Record<string, string> {
    const trailers: Record<string, string> = {};
    if (this.timings) {
      setTimingHeaders(this.timings, (name, value) => {
        trailers[name.toLowerCase()] = String(value);
      });
    }
    return trailers;
  }
}
