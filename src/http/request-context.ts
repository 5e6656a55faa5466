import type { Response } from 'express';
import type { Cancellation } from '../native/cancellation';
import type { Inference } from '../native/engine';
import type { ErrorShape } from '../protocols/error-shape';
import type { Readiness } from '../serving/readiness';
import type { UnsentAnswers } from './unsent-answers';

/** What the middleware of one request know about it, kept in `res.locals`. */
export interface RequestContext {
  requestId: string;
  /** `performance.now()` at its arrival. */
  startedAt: number;
  /** Requests of its connection that were not answered when it arrived, itself included. */
  pipelined: number;
  /** It arrived while the process was draining, and is refused. */
  refused: boolean;
  /** What it may take until the model runs, from its arrival, in ms; see `openFrontDoor`. */
  timeoutMs: number;
  /** Aborted when the client goes before its answer is out. */
  cancellation: Cancellation | null;
  /** `performance.now()` when what is to be analyzed was handed to the engine. */
  submittedAt: number;
  /** What the engine said of each element that was analyzed; none before the answer. */
  inferences: readonly Inference[];
  /** Of an endpoint whose request never came to the router; null: ask that. */
  route: string | null;
  /** It is answered, or its client has gone. */
  isOver: boolean;
  /** What the answer is about, when it is an error. */
  error: Error | null;
  /** How errors are told on its path. */
  errors: ErrorShape;
  readonly readiness: Readiness;
  readonly unsentAnswers: UnsentAnswers;
}

export function contextOf(response: Response): RequestContext {
  return response.locals as RequestContext;
}
