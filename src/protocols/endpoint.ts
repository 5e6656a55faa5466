import type { Request, Response } from 'express';
import type { z } from 'zod';
import { clientSignal } from '../http/middleware/track-request';
import { contextOf } from '../http/request-context';
import { EngineError, type InferOptions } from '../native/engine';
import { ElementError, ServiceError } from '../serving/errors';
import { describeFirstIssue } from './validation/describe-issue';

/** An analysis endpoint: answers POST on its path. */
export interface Endpoint {
  readonly path: string;
  /** As what `request.body` comes: JSON that has been parsed (the default), or a Buffer of any type. */
  readonly body?: 'json' | 'bytes';
  /** Why its engine would refuse what came now, with so much time left; null: it would not. */
  readonly refusal: (timeoutMs: number) => EngineError | null;
  readonly handle: (request: Request, response: Response) => Promise<void>;
}

/** What all analysis endpoints of a service keep to. */
export interface EndpointLimits {
  /** Elements of a list. */
  readonly listLength: number;
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

/** To be taken right before submitting. The engine drops a request whose client has gone or whose deadline has passed. */
export function inferOptions(response: Response): InferOptions {
  const context = contextOf(response);
  context.submittedAt = performance.now();
  const timeoutMs = context.timeoutMs - (context.submittedAt - context.startedAt);
  if (timeoutMs <= 0) {
    throw new EngineError('DEADLINE_EXCEEDED', 'The deadline passed before the model ran.');
  }
  return { signal: clientSignal(response), timeoutMs };
}

/** @param field the list's name in the body, for the message */
export function requireListLength(list: readonly unknown[], field: string, limit: number): void {
  if (list.length <= limit) return;
  throw new ServiceError(
    'LIST_TOO_LONG',
    `${field}: ${list.length} elements are over the limit of ${limit}.`,
  );
}

/** Runs `check` on each element; what it throws gets the element's place put before it. */
export function checkElements<Element>(
  list: readonly Element[],
  field: string,
  check: (element: Element) => void,
): void {
  for (const [index, element] of list.entries()) {
    try {
      check(element);
    } catch (error) {
      throw new ElementError(`${field}[${index}]`, error as Error);
    }
  }
}

/** Says which element of the list an engine's error is about. */
export async function namingElement<Answer>(
  field: string,
  running: Promise<Answer>,
): Promise<Answer> {
  try {
    return await running;
  } catch (error) {
    const index = error instanceof EngineError ? error.index : null;
    throw index === null ? error : new ElementError(`${field}[${index}]`, error as Error);
  }
}
