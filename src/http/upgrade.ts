import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { ProtectedResource } from '../serving/access';
import type { BodyLimits } from '../serving/byte-budget';
import type { Connections } from '../serving/connections';
import { bearerKeyOf } from '../serving/credentials/api-keys';
import { ERRORS, retryAfterSeconds, ServiceError } from '../serving/errors';
import type { RequestHeader } from '../serving/header-names';
import type { Readiness } from '../serving/readiness';
import { type Parameters, RequestContext } from '../serving/request-context';
import type { Pipeline } from '../serving/request-pipeline';
import type { FoundRoute } from './http-request-context';
import type { OriginPolicy } from './origins';
import type { PendingResponses } from './pending-responses';
import { rawResponse } from './raw-response';
import { headersProblem } from './request-listener';
import { originForm, pathOf, queryOf } from './request-target';
import type { RouteTable } from './route-table';
import { keyOfSubprotocols, WebSockets } from './websockets';

/** Time in which a client can read the response to a rejected upgrade, in ms. */
const REJECTION_MS = 1000;

export interface UpgradeOptions {
  readonly readiness: Readiness;
  readonly due: PendingResponses;
  readonly connections: Connections;
  readonly routes: RouteTable;
  readonly pipeline: Pipeline;
  readonly aboutOf: (path: string) => ProtectedResource | null;
  readonly origins: OriginPolicy;
  /** Limits of messages. */
  readonly limits: BodyLimits;
}

/** Upgrades requests to WebSockets. They pass the request pipeline; a session replaces the response. */
export class Upgrades {
  readonly #options: UpgradeOptions;
  readonly #webSockets: WebSockets;

  constructor(options: UpgradeOptions) {
    this.#options = options;
    this.#webSockets = new WebSockets(options.limits, options.connections);
  }

  /** Whether a request is upgraded. Other requests are handled as if they had no `Upgrade` header. */
  accepts({ method, url = '', headers }: IncomingMessage): boolean {
    if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket') return false;
    return Boolean(this.#options.routes.upgradeAt(pathOf({ url: originForm(url) })));
  }

  /** Listener of the server's 'upgrade' event. */
  readonly begin = (request: IncomingMessage, _socket: unknown, head: Buffer): void => {
    const { socket } = request;
    const { due, connections, pipeline } = this.#options;
    request.url = originForm(request.url ?? '');
    socket.on('error', destroy);
    // The handshake must not overtake the response to a pipelined request.
    if (due.isAnswerDueOn(socket)) {
      socket.destroy();
      return;
    }
    connections.markBusy(socket);
    pipeline.begin(new UpgradeRequestContext(request, head, this.#options, this.#webSockets));
  };
}

class UpgradeRequestContext extends RequestContext {
  readonly isQueued = false;
  readonly isPublic = false;
  readonly isPipelined = false;
  readonly modelRoute = null;
  readonly #request: IncomingMessage;
  readonly #head: Buffer;
  readonly #options: UpgradeOptions;
  readonly #webSockets: WebSockets;
  readonly #path: string;
  readonly #found: FoundRoute | undefined;

  constructor(
    request: IncomingMessage,
    head: Buffer,
    options: UpgradeOptions,
    webSockets: WebSockets,
  ) {
    super(request.headers['x-request-id'], options.readiness, options.due.isDraining);
    this.#request = request;
    this.#head = head;
    this.#options = options;
    this.#webSockets = webSockets;
    this.#path = pathOf({ url: request.url ?? '' });
    this.#found = options.routes.at(this.#path);
  }

  get routePath(): string | null {
    return this.#found?.path ?? null;
  }

  override get parameters(): Parameters {
    return this.#found?.parameters ?? {};
  }

  override get query(): URLSearchParams {
    return queryOf({ url: this.#request.url ?? '' });
  }

  get resource(): ProtectedResource | null {
    return this.#options.aboutOf(this.#path);
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

  receive(): void {
    this.handle = () => ({ body: {} });
    this.#options.pipeline.received(this);
  }

  parse(): void {
    const problem =
      headersProblem(this.#request) ?? this.#options.origins.problemOf(this.#request, true);
    if (problem) throw problem;
    if (this.arrivedWhileDraining)
      throw new ServiceError('DRAINING', 'The service is shutting down.');
  }

  send(): void {
    const upgrade = this.#options.routes.upgradeAt(this.#path);
    if (!upgrade) throw new ServiceError('NOT_FOUND', 'The path does not exist.');
    const openSession = upgrade(this);
    this.#webSockets.accept(this.#request, this.#head, {
      openSession: (peer) => {
        this.#end(101);
        return openSession(peer);
      },
      reject: (message) => this.fail(new ServiceError('REQUEST_INVALID', `${message}.`)),
    });
  }

  abort(): void {
    this.#request.socket.destroy();
  }

  protected sendError(error: ServiceError, raised: unknown): void {
    const status = ERRORS[error.code].http;
    const seconds = retryAfterSeconds(error, raised);
    const headers = [
      `X-Request-Id: ${this.requestId}\r\n`,
      seconds === null ? '' : `Retry-After: ${seconds}\r\n`,
      status === 401 ? 'WWW-Authenticate: Bearer\r\n' : '',
    ].join('');
    endWith(this.#request.socket, rawResponse(status, error.message, headers));
    this.#end(status);
  }

  #end(status: number): void {
    this.isOver = true;
    const { httpVersion, method = 'GET' } = this.#request;
    const route = this.routePath;
    const isRouteRemoved = route !== null && this.#options.routes.isRemoved(route);
    const outcome = { method, httpVersion, route, isRouteRemoved, status, isAnswered: true };
    this.#options.pipeline.ended(this, outcome);
  }
}

/** Listener of a socket's 'error' event. */
function destroy(this: Socket): void {
  this.destroy();
}

function endWith(socket: Socket, response: string): void {
  socket.end(response);
  // Closing at once could discard the response if the client is still sending.
  const timer = setTimeout(() => socket.destroy(), REJECTION_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.resume();
}
