import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Express, Request, Response } from 'express';
import { EngineError } from '../native/engine';
import type { Endpoint } from '../protocols/endpoint';
import type { ErrorShape } from '../protocols/error-shape';
import { ServiceError } from '../serving/errors';
import type { Turns } from '../serving/turns';
import type { Gate } from './access/gate';
import { exchangeOf, type HttpExchange } from './exchange';
import { answerError, type ErrorLimits } from './middleware/answer-errors';
import { originForm, pathOf } from './request-target';

const TIMEOUT_HEADER = 'x-request-timeout-ms';
const TIMEOUT_INVALID =
  'X-Request-Timeout-Ms: expected a whole number of milliseconds, at least 1.';

export interface FrontDoorOptions {
  readonly app: Express;
  readonly endpoints: readonly Endpoint[];
  readonly track: (request: Request, response: Response) => void;
  /** How errors are told on a path. */
  readonly errorShapeOf: (path: string) => ErrorShape;
  /** Null: everybody may ask. */
  readonly gate: Gate | null;
  readonly turns: Turns;
  readonly limits: AdmissionLimits & ErrorLimits;
}

/** @param isBodyHeld the client sends its body when it is told to (`Expect: 100-continue`) */
export type Listener = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  isBodyHeld?: boolean,
) => void;

export interface AdmissionLimits {
  /** The longest deadline, and that of requests that name none. */
  readonly requestTimeoutMs: number;
  readonly maxQueueWaitMs: number;
}

/**
 * Where every request comes in. Who may not ask is sent away first (`openGate`). Those that ask for
 * work wait for their turn, and then, where the queue would refuse them, are refused before a byte of
 * the body is read and before Express: under overload most requests end here, and must cost next to
 * nothing. What only looks (GET) goes on at once.
 */
export function openFrontDoor(options: FrontDoorOptions): Listener {
  const { app, track, errorShapeOf, gate, turns, limits } = options;
  const endpoints = new Map(options.endpoints.map((endpoint) => [endpoint.path, endpoint]));

  /** Why it is refused; null: it is not. */
  function check(request: Request, exchange: HttpExchange, endpoint: Endpoint): Error | null {
    const timeoutMs = timeoutOf(request.headers[TIMEOUT_HEADER], limits.requestTimeoutMs);
    if (timeoutMs === null) return new ServiceError('REQUEST_INVALID', TIMEOUT_INVALID);
    exchange.timeoutMs = timeoutMs;
    if (exchange.isRefused) return new ServiceError('DRAINING', 'The service is shutting down.');
    return endpoint.refusal(timeoutMs - (performance.now() - exchange.startedAt));
  }

  function letIn(request: Request, response: Response): void {
    const exchange = exchangeOf(response);
    if (exchange.isOver) return; // the client has gone
    const endpoint = endpoints.get(pathOf(request));
    const error = endpoint && check(request, exchange, endpoint);
    if (error) {
      exchange.route = endpoint.path;
      answerError(error, response, limits); // Node throws away the body
    } else {
      app(request, response);
    }
  }

  function refuse(request: Request, response: Response): void {
    const exchange = exchangeOf(response);
    if (exchange.isOver) return;
    exchange.route = endpoints.get(pathOf(request))?.path ?? null;
    answerError(waitTooLong(turns.waitMs, limits.maxQueueWaitMs), response, limits);
  }

  return (incoming: IncomingMessage, outgoing: ServerResponse, isBodyHeld = false) => {
    // They have the prototypes of Express from birth; see HttpServer.
    const [request, response] = [incoming as Request, outgoing as Response];
    request.url = originForm(request.url);
    // Of what follows such a request Node throws away the bytes that it has read already, and takes the
    // next ones, in the middle of a body as it may be, for a request. So nothing may follow.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    track(request, response);
    exchangeOf(response).errors = errorShapeOf(pathOf(request));
    if (gate?.(request, response) === false) return;
    // Only a POST has a body that is waited for. To others Node would, where answers before theirs are
    // due, write the 100 behind the head of an answer whose body is a buffer, as those of files are.
    if (isBodyHeld && request.method === 'POST') response.writeContinue();
    const begin = (): void => letIn(request, response);
    if (request.method !== 'POST') app(request, response);
    else if (turns.waitMs > limits.maxQueueWaitMs) turns.refuse(() => refuse(request, response));
    else if (exchangeOf(response).pipelined > 1) turns.beginPipelined(begin);
    else turns.begin(begin);
  };
}

/** In ms, from the arrival of the request; null: the header is malformed. */
function timeoutOf(header: string | string[] | undefined, longest: number): number | null {
  if (header === undefined) return longest;
  if (typeof header !== 'string' || !/^[1-9]\d*$/.test(header)) return null;
  return Math.min(Number(header), longest);
}

export function waitTooLong(waitMs: number, limitMs: number): EngineError {
  const wait = `The wait for the service would be about ${Math.ceil(waitMs)} ms,`;
  return new EngineError('WAIT_TOO_LONG', `${wait} over the limit of ${limitMs} ms.`, { waitMs });
}
