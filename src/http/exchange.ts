import type { Request, Response } from 'express';
import { DETAIL, type ErrorShape } from '../protocols/error-shape';
import { Exchange, requestIdOf } from '../serving/exchange';
import type { Readiness } from '../serving/readiness';
import type { UnsentAnswers } from './unsent-answers';

/** What an app gives to all of its requests. */
export interface Shared {
  readonly readiness: Readiness;
  readonly unsentAnswers: UnsentAnswers;
}

/** A request over HTTP, kept in `res.locals`. */
export class HttpExchange extends Exchange {
  /** Requests of its connection that were not answered when it arrived, itself included. */
  pipelined = 0;
  /** It arrived while the process was draining, and is refused. */
  readonly isRefused: boolean;
  /** How errors are told on its path. */
  errors: ErrorShape = DETAIL;
  readonly unsentAnswers: UnsentAnswers;
  readonly #request: Request;

  constructor(request: Request, { readiness, unsentAnswers }: Shared, isRefused: boolean) {
    super(readiness, 0);
    this.#request = request;
    this.requestId = requestIdOf(request.headers['x-request-id']);
    this.unsentAnswers = unsentAnswers;
    this.isRefused = isRefused;
  }

  /** As `readJson` or `readBytes` leave it. */
  get body(): unknown {
    return this.#request.body;
  }

  header(name: string): string | undefined {
    return this.#request.headers[name]?.toString();
  }
}

export function exchangeOf(response: Response): HttpExchange {
  return response.locals as HttpExchange;
}
