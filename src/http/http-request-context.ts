import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { Express, Request, RequestHandler, Response } from 'express';
import type { ErrorFormats } from '../protocols/protocol';
import type { Method, Route } from '../protocols/route';
import type { IsPublic, ProtectedResource } from '../serving/access';
import { ByteBudget } from '../serving/byte-budget';
import type { Connections, PendingResponses } from '../serving/connections';
import { bearerKeyOf } from '../serving/credentials/api-keys';
import { retryAfterSeconds, ServiceError } from '../serving/errors';
import type { RequestHeader, ResponseHeader } from '../serving/header-names';
import { isLarge, jsonInTurns, responseTooLarge } from '../serving/json';
import type { Readiness } from '../serving/readiness';
import {
  type Parameters,
  RequestContext,
  type ServiceResponse,
  setTimingHeaders,
} from '../serving/request-context';
import { CLIENT_TIMEOUT_MS } from '../serving/timeouts';
import { serveEventStream } from './event-stream';
import { pathOf, queryOf } from './request-head';
import { sendContent } from './response-content';

const TIMEOUT_HEADER = 'x-request-timeout-ms';
const TIMEOUT_INVALID =
  'X-Request-Timeout-Ms: expected a whole number of milliseconds, at least 1.';

/** The routes of a path. */
export interface FoundRoutes {
  /** Path of the routes, with its `:names`. */
  readonly path: string;
  readonly routes: ReadonlyMap<Method, Route | RequestHandler>;
  /** Values of the `:names`, decoded. */
  readonly parameters: Parameters;
}

/** Rules of a site that apply before routing. */
export interface SiteRules {
  readonly isPublic: IsPublic;
  /** What the API key of a request must permit, by path. */
  readonly resourceOf: (path: string) => ProtectedResource | null;
  readonly errorFormats: ErrorFormats;
}

/** Routes by path, outside of Express: see `SiteRoutes`. */
export interface RouteLookup {
  readonly site: SiteRules;
  find(path: string): FoundRoutes | undefined;
  findUpgrade(path: string): Route['upgrade'] | null;
  isRemoved(path: string): boolean;
}

/** What all requests of a port share. */
export interface HttpShared {
  readonly app: Express;
  readonly readiness: Readiness;
  readonly pending: PendingResponses<Response>;
  readonly connections: Connections;
  readonly unsentResponses: UnsentResponses;
  readonly routes: RouteLookup;
  /** RESPONSE_LIMIT, in bytes. */
  readonly responseLimit: number;
}

/** An HTTP request and its response; stored in `response.locals`. */
export class HttpRequestContext extends RequestContext {
  readonly isQueued: boolean;
  /** Unanswered requests of the connection at arrival, including this one. */
  pipelined = 0;
  /** The body counts in a memory budget, see `BodyReader`. */
  hasReservedMemory = false;
  readonly unsentResponses: UnsentResponses;
  readonly #path: string;
  readonly #request: Request;
  readonly #response: Response;
  readonly #shared: HttpShared;
  readonly #errors: ErrorFormats;
  readonly #expectsContinue: boolean;
  #isAuthorized = false;

  /** @param expectsContinue the client sends its body after `100 Continue` */
  constructor(request: Request, response: Response, shared: HttpShared, expectsContinue: boolean) {
    super(request.headers['x-request-id'], shared.readiness, shared.pending.isDraining);
    this.#request = request;
    this.#response = response;
    this.#shared = shared;
    this.#expectsContinue = expectsContinue;
    this.unsentResponses = shared.unsentResponses;
    this.#path = pathOf(request);
    this.#errors = shared.routes.site.errorFormats;
    this.isQueued = request.method === 'POST' || this.#hasBodyRoute(request.method);
  }

  override get parameters(): Parameters {
    return this.#shared.routes.find(this.#path)?.parameters ?? {};
  }

  override get query(): URLSearchParams {
    return queryOf(this.#request);
  }

  get resource(): ProtectedResource | null {
    return this.#shared.routes.site.resourceOf(this.#path);
  }

  get isPublic(): boolean {
    return !this.isQueued && this.#shared.routes.site.isPublic(this.#path);
  }

  get isPipelined(): boolean {
    return this.pipelined > 1;
  }

  header(name: RequestHeader): string | undefined {
    return this.#request.headers[name]?.toString();
  }

  apiKey(): string | null {
    return bearerKeyOf(this.#request);
  }

  clientTimeoutMs(): number {
    const timeout = this.#request.headers[TIMEOUT_HEADER];
    if (timeout === undefined) return Number.POSITIVE_INFINITY;
    if (typeof timeout === 'string' && /^[1-9]\d*$/.test(timeout)) return Number(timeout);
    throw new ServiceError('REQUEST_INVALID', TIMEOUT_INVALID);
  }

  /**
   * Sends `100 Continue` for methods with a body. For others, Node could write it in the middle of a pipelined
   * response whose body is a Buffer.
   */
  onAuthorized(): void {
    this.#isAuthorized = true;
    if (this.#expectsContinue && this.isQueued) this.#response.writeContinue();
  }

  override serialize(response: ServiceResponse): ServiceResponse | Promise<ServiceResponse> {
    const { body } = response;
    const maxBytes = this.isQueued ? this.#shared.responseLimit : Number.POSITIVE_INFINITY;
    if (Buffer.isBuffer(body)) {
      if (body.length > maxBytes) throw responseTooLarge(body.length, maxBytes);
      return response;
    }
    if (response.openSession || !isLarge(body)) return response;
    return jsonInTurns(body, maxBytes).then((bytes) => ({
      ...response,
      body: bytes,
      headers: { ...response.headers, 'Content-Type': 'application/json; charset=utf-8' },
    }));
  }

  send(sent: ServiceResponse): void {
    const { body, content, headers, isCompressible, openSession, status = 200 } = sent;
    const response = this.#response;
    if (openSession) {
      serveEventStream(response, this.#shared.connections, openSession);
      return;
    }
    if (headers) {
      for (const name in headers) {
        response.setHeader(name, headers[name as ResponseHeader] as string);
      }
    }
    if (this.timings) {
      setTimingHeaders(this.timings, (name, value) => response.setHeader(name, value));
    }
    response.statusCode = status;
    if (content) sendContent(response, content);
    else if (Buffer.isBuffer(body)) sendBytes(response, body, isCompressible);
    else sendJson(response, status, body);
  }

  abort(): void {
    this.#response.destroy();
  }

  /** Sends the error in the format of the protocol that owns the path, see `ErrorFormat`. */
  protected sendError(error: ServiceError, raised: unknown): void {
    const response = this.#response;
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    response.setHeader('X-Error-Code', error.code);
    const seconds = retryAfterSeconds(error, raised);
    if (seconds !== null) response.setHeader('Retry-After', seconds);
    if (error.code === 'UPGRADE_NEEDED') response.setHeader('Upgrade', 'websocket');
    if (error.code === 'KEY_NEEDED') response.setHeader('WWW-Authenticate', 'Bearer');
    // Without `100 Continue` the client may or may not send the body: the next request cannot be found.
    if (!this.#isAuthorized && this.#request.headers.expect !== undefined) {
      response.setHeader('Connection', 'close');
    }
    const { on, beforeAuthentication } = this.#errors;
    const ofPath = (this.#isAuthorized ? on : beforeAuthentication)(this.routePath ?? this.#path);
    const format = ofPath.byBody?.choose(this.body) ?? ofPath;
    if (format.requestIdHeader) response.setHeader(format.requestIdHeader, this.requestId);
    sendJson(response, format.status(error.code), format.body(error, this.access));
  }

  /** Whether the path has a route for PUT or DELETE. */
  #hasBodyRoute(method: string): boolean {
    if (method !== 'PUT' && method !== 'DELETE') return false;
    return this.#shared.routes.find(this.#path)?.routes.has(method) ?? false;
  }

  protected findRoutePath(): string | null {
    return this.#shared.routes.find(this.#path)?.path ?? null;
  }
}

export function requestContextOf(response: Response): HttpRequestContext {
  return response.locals as HttpRequestContext;
}

/** Smaller responses fit into one packet, and are not compressed. */
const MIN_COMPRESSED_BYTES = 1400;

const COMPRESSIONS = { gzip: promisify(zlib.gzip), deflate: promisify(zlib.deflate) } as const;

/**
 * Sends a JSON body. `response.json` of Express also negotiates content and computes ETags, which takes about 5 % of the
 * time of a request.
 */
export function sendJson(response: Response, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  endResponse(response, text);
}

/** Sends bytes, compressed on libuv's threads if `isCompressible` and the client accepts it. */
export function sendBytes(response: Response, bytes: Buffer, isCompressible = false): void {
  const encoding =
    isCompressible && bytes.length >= MIN_COMPRESSED_BYTES && encodingFor(response.req);
  if (encoding) {
    response.setHeader('Content-Encoding', encoding);
    response.vary('Accept-Encoding');
    COMPRESSIONS[encoding](bytes)
      .then((compressed) => sendBytes(response, compressed))
      .catch((error: Error) => response.destroy(error)); // the headers may have been sent
    return;
  }
  if (stateOf(response).isOver) return;
  response.setHeader('Content-Length', bytes.length);
  endResponse(response, bytes);
}

/**
 * Ends a response. The bytes that the client has not taken are limited in number and time. Responses of closed
 * connections are skipped: their 'close' event has passed, and they would be counted forever.
 */
export function endResponse(response: Response, body: string | Buffer | undefined): void {
  const { isOver, unsentResponses } = stateOf(response);
  if (isOver) return;
  response.end(body);
  unsentResponses.written(response);
}

/** The request context, without importing its module. */
function stateOf({ locals }: Response) {
  return locals as { readonly isOver: boolean; readonly unsentResponses: UnsentResponses };
}

function encodingFor(request: Request): keyof typeof COMPRESSIONS | null {
  if (request.headers['accept-encoding'] === undefined) return null;
  const encoding = request.acceptsEncodings(['gzip', 'deflate', 'identity']);
  return encoding === 'gzip' || encoding === 'deflate' ? encoding : null;
}

/** Limits the memory of responses that slow clients have not taken. */
export class UnsentResponses {
  readonly #budget: ByteBudget<Response>;
  readonly #abort: (response: Response) => boolean;

  /** @param memory maximum bytes of all unsent responses; above it, the oldest ones are aborted */
  constructor(memory: number, connections: Connections) {
    this.#abort = ({ req }) => connections.abort(req.socket, 'response_stalled');
    this.#budget = new ByteBudget({ limit: memory, holdTimeoutMs: 0, abort: this.#abort });
  }

  /** Called for every response that was written. */
  written(response: Response): void {
    const bytes = response.writableLength;
    if (bytes === 0) return; // taken by the kernel, as usual
    if (!this.#budget.hasRoomFor(bytes)) {
      this.#abort(response);
      return;
    }
    this.#budget.begin(response, bytes);
    const timer = setTimeout(this.#abort, CLIENT_TIMEOUT_MS, response).unref();
    response.on('close', () => {
      clearTimeout(timer);
      this.#budget.end(response);
    });
  }
}
