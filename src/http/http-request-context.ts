import type { Express, Request, Response } from 'express';
import type { ErrorShapes } from '../protocols/protocol';
import { BODY_METHODS, type Route } from '../protocols/route';
import type { ProtectedResource } from '../serving/access';
import type { IsPublic } from '../serving/authentication';
import type { Connections } from '../serving/connections';
import { bearerKeyOf } from '../serving/credentials/api-keys';
import { retryAfterSeconds, ServiceError } from '../serving/errors';
import type { RequestHeader, ResponseHeader } from '../serving/header-names';
import { parseJson } from '../serving/json';
import { isLarge, jsonInTurns } from '../serving/json-in-turns';
import type { Readiness } from '../serving/readiness';
import { type Parameters, RequestContext, type ServiceResponse } from '../serving/request-context';
import { responseTooLarge } from '../serving/response-size';
import { setTimingHeaders } from '../serving/timings';
import { serveEventStream } from './event-stream';
import type { PendingResponses } from './pending-responses';
import { pathOf, queryOf } from './request-target';
import { sendBytes, sendJson, type UnsentResponses } from './send';

const TIMEOUT_HEADER = 'x-request-timeout-ms';
const TIMEOUT_INVALID =
  'X-Request-Timeout-Ms: expected a whole number of milliseconds, at least 1.';

/** The route that stands for a path. */
export interface FoundRoute {
  /** Its own, with `:names`. */
  readonly path: string;
  readonly route: { readonly [Name in (typeof BODY_METHODS)[number]]?: Route };
  readonly parameters: Parameters;
}

/** What an app gives to all of its requests. */
export interface HttpShared {
  readonly app: Express;
  readonly readiness: Readiness;
  readonly due: PendingResponses;
  readonly connections: Connections;
  readonly unsentAnswers: UnsentResponses;
  /** Its body is not held any longer. */
  readonly release: (response: Response) => void;
  /** What a path is asked for; undefined: nothing. */
  readonly routes: { at(path: string): FoundRoute | undefined; isRemoved(route: string): boolean };
  readonly isPublic: IsPublic;
  readonly aboutOf: (path: string) => ProtectedResource | null;
  readonly errorShapes: () => ErrorShapes;
  /** Bytes that a response may have. */
  readonly responseLimit: number;
}

/** A request over HTTP, kept in `res.locals`. */
export class HttpRequestContext extends RequestContext {
  readonly isQueued: boolean;
  /** Requests of its connection that were not answered when it arrived, itself included. */
  pipelined = 0;
  /** The client sends its body when it is told to (`Expect: 100-continue`). */
  isBodyHeld = false;
  readonly unsentAnswers: UnsentResponses;
  readonly #path: string;
  readonly #found: FoundRoute | undefined;
  readonly #method: (typeof BODY_METHODS)[number] | undefined;
  readonly #request: Request;
  readonly #response: Response;
  readonly #shared: HttpShared;
  readonly #errors: ErrorShapes;
  #isWelcome = false;

  constructor(request: Request, response: Response, shared: HttpShared) {
    super(request.headers['x-request-id'], shared.readiness, shared.due.isDraining);
    this.#request = request;
    this.#response = response;
    this.#shared = shared;
    this.unsentAnswers = shared.unsentAnswers;
    this.#path = pathOf(request);
    this.#errors = shared.errorShapes();
    this.#found = shared.routes.at(this.#path);
    this.#method = BODY_METHODS.find((one) => one === request.method);
    this.isQueued = request.method === 'POST' || this.modelRoute !== null;
  }

  /** As the path is now: its model may have been exchanged since the request came. */
  get modelRoute(): Route | null {
    const method = this.#method;
    return (method && this.#shared.routes.at(this.#path)?.route[method]) ?? null;
  }

  get routePath(): string | null {
    return this.#found?.path ?? null;
  }

  override get parameters(): Parameters {
    return this.#found?.parameters ?? {};
  }

  override get query(): URLSearchParams {
    return queryOf(this.#request);
  }

  get resource(): ProtectedResource | null {
    return this.#shared.aboutOf(this.#path);
  }

  get isPublic(): boolean {
    return !this.isQueued && this.#shared.isPublic(this.#path);
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
    const asked = this.#request.headers[TIMEOUT_HEADER];
    if (asked === undefined) return Number.POSITIVE_INFINITY;
    if (typeof asked === 'string' && /^[1-9]\d*$/.test(asked)) return Number(asked);
    throw new ServiceError('REQUEST_INVALID', TIMEOUT_INVALID);
  }

  /**
   * Only a POST has a body that is waited for. To others Node would, where answers before theirs are
   * due, write the 100 behind the head of an answer whose body is a buffer, as those of files are.
   */
  onAuthorized(): void {
    this.#isWelcome = true;
    if (this.isBodyHeld && this.isQueued) this.#response.writeContinue();
  }

  /** By Express: its routes and their middleware. */
  receive(): void {
    this.#shared.app(this.#request, this.#response);
  }

  parse(): void {
    if (!this.modelRoute) return;
    const bytes: unknown = this.#request.body;
    this.#request.body = undefined;
    this.body = this.modelRoute.body === 'bytes' ? bytes : parseJson(bytes);
    this.#shared.release(this.#response);
  }

  override write(answer: ServiceResponse): ServiceResponse | Promise<ServiceResponse> {
    const { body } = answer;
    const most = this.isQueued ? this.#shared.responseLimit : Number.POSITIVE_INFINITY;
    if (Buffer.isBuffer(body)) {
      if (body.length > most) throw responseTooLarge(body.length, most);
      return answer;
    }
    if (answer.openSession || !isLarge(body)) return answer;
    return jsonInTurns(body, most).then((bytes) => ({
      ...answer,
      body: bytes,
      headers: { ...answer.headers, 'Content-Type': 'application/json; charset=utf-8' },
    }));
  }

  send({ body, headers, isCompressible, openSession, status = 200 }: ServiceResponse): void {
    const response = this.#response;
    if (openSession) {
      serveEventStream(response, this.#shared.connections, openSession);
      return;
    }
    if (headers) {
      for (const name in headers)
        response.setHeader(name, headers[name as ResponseHeader] as string);
    }
    if (this.timings)
      setTimingHeaders(this.timings, (name, value) => response.setHeader(name, value));
    response.statusCode = status;
    if (Buffer.isBuffer(body)) sendBytes(response, body, isCompressible);
    else sendJson(response, status, body);
  }

  abort(): void {
    this.#response.destroy();
  }

  /** In the form of the protocol whose path it is, see `ErrorShape`. */
  protected sendError(error: ServiceError, raised: unknown): void {
    const response = this.#response;
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    const seconds = retryAfterSeconds(error, raised);
    if (seconds !== null) response.setHeader('Retry-After', seconds);
    if (error.code === 'UPGRADE_NEEDED') response.setHeader('Upgrade', 'websocket');
    if (error.code === 'KEY_NEEDED') response.setHeader('WWW-Authenticate', 'Bearer');
    // Without "100 Continue" nobody knows whether its body still comes.
    if (!this.#isWelcome && this.#request.headers.expect !== undefined) {
      response.setHeader('Connection', 'close');
    }
    const { on, onRefused } = this.#errors;
    const shape = (this.#isWelcome ? on : onRefused)(this.#path);
    sendJson(response, shape.status(error.code), shape.body(error, this.access));
  }
}

export function requestContextOf(response: Response): HttpRequestContext {
  return response.locals as HttpRequestContext;
}
