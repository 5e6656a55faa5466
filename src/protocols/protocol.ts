import { z } from 'zod';
import type { SchedulingOptions } from '../native/engine';
import type { Access, ProtectedResource } from '../serving/access';
import { ERRORS, type ErrorCode, type ServiceError } from '../serving/errors';
import type { ResponseHeader } from '../serving/header-names';
import type { GrpcService } from './grpc-service';
import type { NamedSchema } from './openapi/operation';
import type { Route } from './route';

/** Settings that protocols need. */
export interface ProtocolOptions {
  /** Version of the package. */
  readonly version: string;
  /** Maximum number of elements of a list. */
  readonly listLength: number;
  /** Maximum size of a request body in bytes. */
  readonly bodyLimit: number;
  /** Maximum size of a response in bytes. */
  readonly responseLimit: number;
  readonly requestTimeoutMs: number;
  readonly scheduling: SchedulingOptions;
}

/**
 * An API of the server: its routes, error format and documentation. Each protocol has a folder next to this file and a
 * line in src/commands/serve/mounts.ts. Its factory returns null for a model without the required abilities.
 */
export interface Protocol {
  readonly routes: readonly Route[];
  /** Paths with this prefix belong to the protocol even if no route matches: `/v2/`. Null: no prefix. */
  readonly prefix: string | null;
  /** Resource of a path for the scope of API keys, also if no route matches; absent: no path names a model. */
  readonly resourceOf?: (path: string) => ProtectedResource | null;
  /** Error format of all paths of the protocol. */
  readonly errors: ErrorFormat;
  /** Paths of readiness and liveness probes, which need no API key. */
  readonly probes: readonly string[];
  /** Fields that the protocol adds to GET /info, and their JSON Schemas. */
  readonly info: { readonly fields: object; readonly schemas: object } | null;
  /** Requests contain the name of the model: a model repository has the protocol once for all models. */
  readonly routesByBodyModel?: true;
  /** Creates the gRPC service of the protocol; absent: HTTP only. */
  readonly grpc?: () => GrpcService;
  /** Tag of its operations in the OpenAPI document. */
  readonly tag: { readonly name: string; readonly description?: string };
  /** Schema of the bodies that `errors` creates. */
  readonly error: NamedSchema;
}

/** Error format of a protocol. */
export interface ErrorFormat {
  /** HTTP status of an error code. */
  readonly status: (code: ErrorCode) => number;
  readonly body: (error: ServiceError, access: Access) => object;
  /** Further header with the request ID; absent: only X-Request-Id. */
  readonly requestIdHeader?: ResponseHeader;
  /** Choice of the format by the parsed request body, for a path of several protocols; absent: always this format. */
  readonly byBody?: {
    readonly formats: readonly ErrorFormat[];
    readonly choose: (body: unknown) => ErrorFormat;
  };
}

/** Error format of the server's own routes: `{"detail": "<message>"}`. */
export const DETAIL_FORMAT: ErrorFormat = {
  status: (code) => ERRORS[code].http,
  body: ({ message }) => ({ detail: message }),
};

/** Schema of `DETAIL_FORMAT`. */
export const DETAIL_SCHEMA = {
  name: 'Error',
  schema: z.object({ detail: z.string().describe('One line: location and problem') }),
} as const;

/** A protocol and the path prefix of its routes. */
export interface Mount {
  readonly protocol: Protocol;
  /** Empty, or the address of a model. */
  readonly at: string;
}

/** The full path of a route of a mounted protocol. */
export function pathAt(at: string, path: string): string {
  return at !== '' && path === '/' ? at : at + path;
}

/** The model in the path segment after `prefix`; null: the path does not start with the prefix. */
export function modelBelow(prefix: string, path: string): ProtectedResource | null {
  if (!path.startsWith(prefix)) return null;
  const [name = ''] = path.slice(prefix.length).split(/[/:]/, 1);
  return { model: decoded(name) };
}

/** Decodes a path segment; a segment with invalid percent-encoding stays as it is. */
export function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Error formats by path. */
export interface ErrorFormats {
  readonly on: (path: string) => ErrorFormat;
  /**
   * Error format before authentication. Below the address of a model it only depends on the path after the address:
   * the response must not reveal whether the model exists.
   */
  readonly beforeAuthentication: (path: string) => ErrorFormat;
}

export function errorFormats(mounts: readonly Mount[]): ErrorFormats {
  const byPath = new Map(
    mounts.flatMap(({ at, protocol: { routes, errors } }) =>
      routes.map(({ path }) => [pathAt(at, path), errors] as const),
    ),
  );
  const byPrefix = mounts.flatMap(({ at, protocol: { prefix, errors } }) =>
    prefix === null ? [] : [{ prefix: at + prefix, errors }],
  );
  const on = (path: string): ErrorFormat =>
    byPath.get(path) ??
    byPrefix.find(({ prefix }) => path.startsWith(prefix))?.errors ??
    DETAIL_FORMAT;

  const modelMounts = mounts.filter(({ at }) => at !== '');
  const modelPrefixes = modelMounts.map(({ at }) => at.slice(0, at.lastIndexOf('/') + 1));
  // By the first segment after the address: further segments can contain the name of the model.
  const bySegment = new Map(
    modelMounts.flatMap(({ protocol: { routes, errors } }) =>
      routes.map(({ path }) => [path.split('/')[1], errors] as const),
    ),
  );
  const beforeAuthentication = (path: string): ErrorFormat => {
    if (!modelPrefixes.some((prefix) => path.startsWith(prefix))) return on(path);
    const [, , , segment = ''] = path.split('/');
    return bySegment.get(segment) ?? DETAIL_FORMAT;
  };
  return { on, beforeAuthentication };
}
