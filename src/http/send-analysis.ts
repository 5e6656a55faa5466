import type { Response } from 'express';
import type { Inference } from '../native/engine';
import { roundMs, timingsOf } from '../serving/timings';
import { contextOf } from './request-context';
import { sendJson } from './send-json';

/** The answer of an analysis route, with where its time went. */
export function sendAnalysis(
  response: Response,
  inferences: readonly Inference[],
  body: object,
): void {
  noteInferences(response, inferences);
  sendJson(response, 200, body);
}

/**
 * Puts where the time went into headers: ms, and of a list the longest of its elements. `inferences`:
 * what the engine said of each element; the log line has it, too.
 */
export function noteInferences(response: Response, inferences: readonly Inference[]): void {
  contextOf(response).inferences = inferences;
  const timings = timingsOf(inferences);
  if (timings) {
    response.setHeader('X-Queue-Time', roundMs(timings.queueMs));
    response.setHeader('X-Tokenization-Time', roundMs(timings.tokenizationMs));
    response.setHeader('X-Inference-Time', roundMs(timings.inferenceMs));
    response.setHeader('X-Compute-Tokens', timings.tokens);
    if (timings.truncated) response.setHeader('X-Input-Truncated', 'true');
  }
}
