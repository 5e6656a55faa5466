import { z } from 'zod';
import { EngineError, type Inference, type InferOptions } from '../native/engine';
import type { Access } from '../serving/access';
import { ElementError, ServiceError } from '../serving/errors';
import type { RequestHeader } from '../serving/header-names';
import type { Readiness } from '../serving/readiness';
import type { ModelRef, ModelRoute, Parameters, ServiceResponse } from '../serving/request-context';
import type { SessionFactory } from '../serving/session';
import type { Predictor } from '../tasks/abilities';
import type { LegacyOperation } from './openapi/legacy-operation';
import type { Operation } from './openapi/operation';
import type { Node } from './openapi/responses';
import { describeFirstIssue, requireBounded } from './validation/fields';

/** A request as a protocol sees it, whatever transport brings it. */
export interface ServiceRequest {
  /** JSON that has been parsed, a Buffer, or over gRPC a message: what the handler asks for. */
  readonly body: unknown;
  /** `performance.now()` at its arrival. */
  readonly startedAt: number;
  readonly readiness: Readiness;
  /** What the path has in the places of `:names` of the endpoint's path. */
  readonly parameters: Parameters;
  /** Of HTTP, what follows the path; over gRPC empty. */
  readonly query: URLSearchParams;
  /** What whoever asks may do: lists tell of the models that it may see. */
  readonly access: Access;
  /** Known by the same key again; empty: no keys are needed. */
  readonly owner: string;
  readonly requestId: string;
  /** Of HTTP's headers or gRPC's metadata, by its name in lower case. */
  header(name: RequestHeader): string | undefined;
  /**
   * To be taken right before submitting: the engine drops a request whose client has gone or whose
   * deadline has passed, which is the nearest of the client's, this one and the service's.
   *
   * @param asked the model that is to run, as keys and the log have it
   * @param timeoutMs from the arrival of the call; null: the body names none
   * @throws EngineError DEADLINE_EXCEEDED; ServiceError FORBIDDEN: the key is not for this model
   */
  inferOptions(asked: ModelRef, timeoutMs?: number | null): InferOptions;
}

/** @throws ServiceError, ElementError, EngineError: the transport tells the client as its protocol does */
export type Handler = (call: ServiceRequest) => ServiceResponse | Promise<ServiceResponse>;

/** Methods whose requests have a body. */
export const BODY_METHODS = ['POST', 'PUT', 'DELETE'] as const;
export type Method = 'GET' | (typeof BODY_METHODS)[number];

/** A method of a path and its handler. */
export interface Route extends ModelRoute {
  readonly method: Method;
  /** Type of `ServiceRequest.body`: parsed JSON (the default), or a Buffer of any content type. */
  readonly body?: 'json' | 'bytes';
  readonly handle: Handler;
  /** Opens the session of a WebSocket; absent if the path does not accept WebSockets. @throws as `handle` */
  readonly upgrade?: (call: ServiceRequest) => SessionFactory;
  /** Documentation of a route that `route` created. */
  readonly operation?: Operation;
  /** Documentation of other routes. */
  readonly describe?: () => LegacyOperation;
}

/** A route as its file declares it. The OpenAPI document is derived from these fields. */
export interface RouteDeclaration<Body>
  extends Operation,
    Omit<Route, 'handle' | 'describe' | 'operation'> {
  /** Validates the body for the handler. A JSON Schema only documents the body: the handler validates it. */
  readonly request?: z.ZodType<Body> | Node;
  /** Reads the value that `request` validates; default: the parsed JSON. */
  readonly read?: (request: ServiceRequest) => unknown;
  /** @throws ServiceError, ElementError, EngineError */
  readonly handler: (
    request: ServiceRequest,
    body: Body,
  ) => ServiceResponse | Promise<ServiceResponse>;
}

/** A route whose handler receives the validated body. */
export function route<Body = undefined>(declaration: RouteDeclaration<Body>): Route {
  const { method, path, body, refusal, upgrade, handler, read, ...operation } = declaration;
  const { request: schema } = operation;
  return {
    method,
    path,
    ...(body && { body }),
    ...(refusal && { refusal }),
    ...(upgrade && { upgrade }),
    operation,
    handle:
      schema instanceof z.ZodType
        ? (call) => handler(call, parseBody(schema, read ? { body: read(call) } : call) as Body)
        : (call) => handler(call, call.body as Body),
  };
}

/** The body as the schema types it. */
export function parseBody<Schema extends z.ZodType>(
  schema: Schema,
  { body }: Pick<ServiceRequest, 'body'>,
): z.output<Schema> {
  requireBounded(schema);
  const result = schema.safeParse(body);
  if (!result.success) throw new ServiceError('BODY_INVALID', describeFirstIssue(result.error));
  return result.data;
}

/** `Target.refusal` of a model; null: it is not loaded, which is said once the request has been read. */
export function refusalOf(
  model: Pick<Predictor<never, unknown>, 'refusal'> | null,
): NonNullable<Route['refusal']> {
  return (timeoutMs) => model?.refusal(timeoutMs) ?? null;
}

export function requireModel<Model>(model: Model | null): Model {
  if (model === null) throw new ServiceError('MODEL_NOT_LOADED', 'Model is not loaded.');
  return model;
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

/**
 * Runs the model on a list.
 *
 * @param field that holds it, for what the engine says of one element; null: none
 * @throws EngineError, ElementError
 */
export async function runList<Input, Answer extends { readonly inference: Inference }>(
  model: Pick<Predictor<Input, Answer>, 'runAll'>,
  inputs: readonly Input[],
  options: InferOptions,
  field: string | null,
): Promise<{ readonly answers: readonly Answer[]; readonly inferences: readonly Inference[] }> {
  try {
    const answers = await model.runAll(inputs, options);
    return { answers, inferences: answers.map(({ inference }) => inference) };
  } catch (error) {
    const index = error instanceof EngineError && field !== null ? error.index : null;
    throw index === null ? error : new ElementError(`${field}[${index}]`, error as Error);
  }
}
