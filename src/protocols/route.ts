import { z } from 'zod';
import { ServiceError } from '../serving/errors';
import type { ModelRoute, ServiceResponse } from '../serving/request-context';
import type { ServiceRequest } from '../serving/service-request';
import type { SessionFactory } from '../serving/session';
import type { Capability } from '../tasks/capabilities';
import type { Operation, Schema } from './openapi/operation';
import { describeFirstIssue, requireBounded } from './validation/fields';

/** Handles a request. @throws ServiceError, ElementError, EngineError: sent in the error format of the protocol */
export type Handler = (call: ServiceRequest) => ServiceResponse | Promise<ServiceResponse>;

/** Methods whose requests have a body. */
export const BODY_METHODS = ['POST', 'PUT', 'DELETE'] as const;
export type Method = 'GET' | (typeof BODY_METHODS)[number];

/** A method of a path and its handler. */
export interface Route extends ModelRoute {
  readonly method: Method;
  /**
   * Type of `ServiceRequest.body`: parsed JSON (the default), a Buffer of any content type, or a Readable, for which
   * BODY_LIMIT and BODY_MEMORY do not apply.
   */
  readonly body?: 'json' | 'bytes' | 'stream';
  readonly handle: Handler;
  /** Opens the session of a WebSocket; absent if the path does not accept WebSockets. @throws as `handle` */
  readonly upgrade?: (call: ServiceRequest) => SessionFactory;
  /** A model needs one of these abilities; absent: the route depends on no ability. */
  readonly abilities?: readonly Capability[];
  /** Reads the fields of the body; absent: `ServiceRequest.body` is the parsed JSON. @throws ServiceError */
  readonly read?: (call: ServiceRequest) => unknown;
  /** Documentation; null: openapi/document.ts contains the operation. */
  readonly operation: Operation | null;
}

/** A route as its file declares it. The OpenAPI document is derived from these fields. */
export interface RouteDeclaration<Body> extends Operation, Omit<Route, 'handle' | 'operation'> {
  /** Validates the body for the handler. Other schemas only document the body: the handler validates it. */
  readonly request?: z.ZodType<Body> | Exclude<Schema, z.ZodType>;
  /** @throws ServiceError, ElementError, EngineError */
  readonly handler: (
    request: ServiceRequest,
    body: Body,
  ) => ServiceResponse | Promise<ServiceResponse>;
}

/** A route whose handler receives the validated body. */
export function route<Body = undefined>(declaration: RouteDeclaration<Body>): Route {
  const { method, path, body, abilities, admissionError, upgrade, handler, read, ...operation } =
    declaration;
  const { request: schema } = operation;
  if (schema instanceof z.ZodType) requireBounded(schema);
  return {
    method,
    path,
    ...(body && { body }),
    ...(abilities && { abilities }),
    ...(read && { read }),
    ...(admissionError && { admissionError }),
    ...(upgrade && { upgrade }),
    operation,
    handle:
      schema instanceof z.ZodType
        ? (call) => handler(call, validate(schema, read ? read(call) : call.body) as Body)
        : (call) => handler(call, call.body as Body),
  };
}

/** The same route at another path. @param operationId unique in the OpenAPI document; also names the schemas */
export function routeAt(path: string, operationId: string, declared: Route): Route {
  const { operation } = declared;
  return { ...declared, path, operation: operation && { ...operation, operationId } };
}

/** The body, validated by a schema. @throws ServiceError BODY_INVALID: the message names the first invalid field */
export function parseBody<Schema extends z.ZodType>(
  schema: Schema,
  { body }: Pick<ServiceRequest, 'body'>,
): z.output<Schema> {
  requireBounded(schema);
  return validate(schema, body);
}

function validate<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const result = schema.safeParse(body);
  if (!result.success) throw new ServiceError('BODY_INVALID', describeFirstIssue(result.error));
  return result.data;
}
