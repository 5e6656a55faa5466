import type { Request, Response } from 'express';
import { type ApiKeys, keyOf } from '../../serving/credentials/keys';
import { ServiceError } from '../../serving/errors';
import type { Turns } from '../../serving/turns';
import { exchangeOf } from '../exchange';
import { answerError, type ErrorLimits } from '../middleware/answer-errors';
import { pathOf } from '../request-target';
import { Cors } from './cors';

/** Whether anybody may look (GET, HEAD, OPTIONS) there, since the answer is nobody's secret. */
export type IsPublic = (path: string) => boolean;

export interface GateOptions {
  /** Null: none is needed. */
  readonly keys: ApiKeys | null;
  /** See `Cors`; none: no page of another origin may ask. */
  readonly corsOrigins: readonly string[];
  readonly isPublic: IsPublic;
  /** All paths there are, for log and metrics. */
  readonly paths: ReadonlySet<string>;
  readonly turns: Turns;
  readonly limits: ErrorLimits;
}

/** Who asks, before anything else is looked at. False: answered here, and nothing is left to do. */
export type Gate = (request: Request, response: Response) => boolean;

/**
 * Refuses those who have no key before it is known whether there is such a path, such a method, room
 * in the queue or a body: a stranger learns nothing and costs a hash. These refusals wait for turns of
 * their own, behind all work. Null: everybody may ask.
 */
export function openGate(options: GateOptions): Gate | null {
  const { keys, corsOrigins, isPublic, paths, turns, limits } = options;
  const cors = corsOrigins.length > 0 ? new Cors(corsOrigins) : null;
  if (!keys && !cors) return null;

  function refuse(request: Request, response: Response, detail: string): void {
    const exchange = exchangeOf(response);
    if (exchange.isOver) return; // the client has gone
    const path = pathOf(request);
    exchange.route = paths.has(path) ? path : null;
    response.setHeader('WWW-Authenticate', 'Bearer');
    // Without "100 Continue" nobody knows whether its body still comes.
    if (request.headers.expect !== undefined) response.setHeader('Connection', 'close');
    answerError(new ServiceError('KEY_NEEDED', detail), response, limits);
  }

  return (request, response) => {
    if (cors?.answers(request, response)) return false;
    if (!keys || (request.method !== 'POST' && isPublic(pathOf(request)))) return true;
    const key = keyOf(request);
    if (key !== null && keys.has(key)) return true;
    const detail = key === null ? NEEDED : UNKNOWN;
    turns.refuse(() => refuse(request, response, detail));
    return false;
  };
}

const NEEDED = 'An API key is needed, in one header: "Authorization: Bearer KEY".';
const UNKNOWN = 'The API key is not known.';
