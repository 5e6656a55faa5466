import type { Request, Response } from 'express';
import type { z } from 'zod';
import { ServiceError } from '../../errors';
import type { InferOptions } from '../../native/engine';
import { clientSignal } from '../middleware/track-request';
import { describeFirstIssue } from '../schemas/describe-issue';

/** An analysis endpoint: answers POST on its path. */
export interface Endpoint {
  readonly path: string;
  readonly handle: (request: Request, response: Response) => Promise<void>;
}

/** The body as the schema types it. */
export function parseBody<Schema extends z.ZodType>(
  schema: Schema,
  request: Request,
): z.output<Schema> {
  const result = schema.safeParse(request.body);
  if (!result.success) throw new ServiceError('BODY_INVALID', describeFirstIssue(result.error));
  return result.data;
}

export function requireModel<Model>(model: Model | null): Model {
  if (model === null) throw new ServiceError('MODEL_NOT_LOADED', 'Model is not loaded.');
  return model;
}

/** The engine drops a request whose client has gone or whose deadline has passed. */
export function inferOptions(response: Response, timeoutMs: number): InferOptions {
  return { signal: clientSignal(response), timeoutMs };
}
