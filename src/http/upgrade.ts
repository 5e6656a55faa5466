import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { ProtectedResource } from '../serving/access';
import type { BodyLimits } from '../serving/byte-budget';
import { bearerKeyOf } from '../serving/credentials/api-keys';
import { ERRORS, PathNotFoundError, retryAfterSeconds, ServiceError } from '../serving/errors';
import type { RequestHeader } from '../serving/header-names';
import { type Parameters, RequestContext } from '../serving/request-context';
import type { RequestPipeline } from '../serving/request-pipeline';
import type { HttpShared } from './http-request-context';
import { rawResponse } from './raw-response';
import { headersError, type OriginPolicy, originForm, pathOf, queryOf } from './request-head';
import { keyOfSubprotocols, WebSockets } from './websockets';

/** Time for a client to read the response to a rejected upgrade, in ms. */
const CLOSE_DELAY_MS = 1000;

export interface UpgradeOptions {
  readonly pipeline: RequestPipeline;
  readonly origins: OriginPolicy;
  /** Limits of messages. */
  readonly limits: BodyLimits;
}

/** Requests that open a WebSocket. They pass the same steps as other requests; the response is a session. */
export class Upgrades {
  readonly #shared: HttpShared;
  readonly #options: UpgradeOptions;
  readonly #webSockets: WebSockets;

  constructor(shared: HttpShared, options: UpgradeOptions) {
    this.#shared = shared;
    this.#options = options;
    this.#webSockets = new WebSockets(options.limits, shared.connections);
  }

  /** Whether the path of an upgrade request accepts WebSockets. Other requests are answered without an upgrade. */
  accepts({ method, url = '', headers }: IncomingMessage): boolean {
    if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket') return false;
    return Boolean(this.#shared.routes.findUpgrade(pathOf({ url: originForm(url) })));
  }

  /** Listener of the server's 'upgrade' event. */
  readonly begin = (request: IncomingMessage, _socket: unknown, head: Buffer): void => {
    const { socket } = request;
    request.url = originForm(request.url ?? '');
    socket.on('error', destroy);
    // The handshake must not overtake the response to an earlier request of the connection.
    if (this.#shared.pending.hasCompleteRequest(socket)) {
      socket.destroy();
      return;
    }
    this.#shared.connections.markBusy(socket);
    const context = new UpgradeRequestContext(request, this.#shared, this.#options.pipeline);
    this.#options.pipeline.begin(context, () => {
      this.#options.pipeline.respond(context, () => {
        this.#checkRequest(context, request);
        this.#open(context, request, head);
        return { body: {} };
      });
    });
  };

  #checkRequest(context: RequestContext, request: IncomingMessage): void {
    const error = headersError(request) ?? this.#options.origins.errorFor(request, true);
    if (error) throw error;
    if (context.arrivedWhileDraining) {
      throw new ServiceError('DRAINING', 'The service is shutting down.');
    }
  }

  #open(context: UpgradeRequestContext, request: IncomingMessage, head: Buffer): void {
    const upgrade = this.#shared.routes.findUpgrade(pathOf({ url: request.url ?? '' }));
    if (!upgrade) throw new PathNotFoundError();
    const openSession = upgrade(context);
    this.#webSockets.accept(request, head, {
      openSession: (peer) => {
        context.end(101);
        return openSession(peer);
      },
      reject: (message) => context.fail(new ServiceError('REQUEST_INVALID', `${message}.`)),
    });
  }
}

class UpgradeRequestContext extends RequestContext {
  readonly isQueued = false;
  readonly isPublic = false;
  readonly isPipelined = false;
  readonly #request: IncomingMessage;
  readonly #shared: HttpShared;
  readonly #pipeline: RequestPipeline;
  readonly #path: string;

  constructor(request: IncomingMessage, shared: HttpShared, pipeline: RequestPipeline) {
    super(request.headers['x-request-id'], shared.readiness, shared.pending.isDraining);
    this.#request = request;
    this.#shared = shared;
    this.#pipeline = pipeline;
    this.#path = pathOf({ url: request.url ?? '' });
    this.routePath = this.findRoutePath();
  }

  override get parameters(): Parameters {
    return this.#shared.routes.find(this.#path)?.parameters ?? {};
  }

  override get query(): URLSearchParams {
    return queryOf({ url: this.#request.url ?? '' });
  }

  get resource(): ProtectedResource | null {
    return this.#shared.routes.site.resourceOf(this.#path);
  }

  header(name: RequestHeader): string | undefined {
    return this.#request.headers[name]?.toString();
  }

  apiKey(): string | null {
    const { headers } = this.#request;
    if (headers.authorization !== undefined) return bearerKeyOf(this.#request);
    return keyOfSubprotocols(headers['sec-websocket-protocol']);
  }

  clientTimeoutMs(): number {
    return Number.POSITIVE_INFINITY;
  }

  onAuthorized(): void {}

  /** Nothing: `WebSockets.accept` writes the handshake. */
  send(): void {}

  abort(): void {
    this.#request.socket.destroy();
  }

  /** Reports the end of the request: a session is not part of it. @param status of HTTP; 101: upgraded */
  end(status: number): void {
    this.isOver = true;
    const { httpVersion, method = 'GET' } = this.#request;
    const route = this.routePath;
    const isRouteRemoved = route !== null && this.#shared.routes.isRemoved(route);
    const outcome = { method, httpVersion, route, isRouteRemoved, status, isAnswered: true };
    this.#pipeline.report(this, outcome);
  }

  protected sendError(error: ServiceError, raised: unknown): void {
    const status = ERRORS[error.code].http;
    const seconds = retryAfterSeconds(error, raised);
    const headers = [
      `X-Request-Id: ${this.requestId}\r\n`,
      seconds === null ? '' : `Retry-After: ${seconds}\r\n`,
      status === 401 ? 'WWW-Authenticate: Bearer\r\n' : '',
    ].join('');
    closeWith(this.#request.socket, rawResponse(error.code, error.message, headers));
    this.end(status);
  }

  protected findRoutePath(): string | null {
    return this.#shared.routes.find(this.#path)?.path ?? null;
  }
}

function destroy(this: Socket): void {
  this.destroy();
}

/** Sends a response and closes the socket: at once, a client that is still sending would lose the response. */
function closeWith(socket: Socket, response: string): void {
  socket.end(response);
  const timer = setTimeout(() => socket.destroy(), CLOSE_DELAY_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.resume();
}
