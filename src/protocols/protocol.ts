import { z } from 'zod';
import type { SchedulingOptions } from '../native/engine';
import type { Access, ProtectedResource } from '../serving/access';
import { ERRORS, type ErrorCode, type ServiceError } from '../serving/errors';
import type { GrpcService } from './grpc-service';
import type { Named } from './openapi/legacy-operation';
import type { Route } from './route';

/** What a protocol is made with, beside the model. */
export interface ProtocolOptions {
  /** Of the package. */
  readonly version: string;
  /** Elements that a list may have. */
  readonly listLength: number;
  /** Bytes. */
  readonly bodyLimit: number;
  /** Bytes of a response. */
  readonly responseLimit: number;
  readonly requestTimeoutMs: number;
  readonly scheduling: SchedulingOptions;
}

/**
 * What another system's clients speak, over the same models and the same queue: a folder of its own
 * beside this file, and a line in src/commands/serve/service.ts. It is null for a model that it cannot ask.
 */
export interface Protocol {
  readonly routes: readonly Route[];
  /** What is below it is this protocol's, whether there is such a path or not: `/v2/`. */
  readonly prefix: string | null;
  /** By which keys are limited, of its paths, whether there is such a path or not; left out: of none. */
  readonly resourceOf?: (path: string) => ProtectedResource | null;
  /** Of all that is told on its paths. */
  readonly errors: ErrorShape;
  /** Paths that supervisors and load balancers ask, who have no key. */
  readonly probes: readonly string[];
  /** Its fields of GET /info, beside the service's own, and their schemas. */
  readonly info: { readonly fields: object; readonly schemas: object } | null;
  /** Its requests name the model: of several models it is spoken once, for all of them. */
  readonly routesByBodyModel?: true;
  /** The same over gRPC, where there is such a thing; made when a port is open for it. */
  readonly grpc?: () => GrpcService;
  /** Under which its operations are listed in the OpenAPI document. */
  readonly tag: { readonly name: string; readonly description?: string };
  /** What `errors` gives as a body. Names of schemas are the protocol's own. */
  readonly error: Named;
}

/** How an error is told to a client: each protocol has a form of its own. */
export interface ErrorShape {
  readonly status: (code: ErrorCode) => number;
  readonly body: (error: ServiceError, access: Access) => object;
}

/** Error format of the server's own routes: `{"detail": "<message>"}`. */
export const DETAIL: ErrorShape = {
  status: (code) => ERRORS[code].http,
  body: ({ message }) => ({ detail: message }),
};

/** Schema of `DETAIL`. */
export const DETAIL_SCHEMA = {
  name: 'Error',
  schema: z.object({ detail: z.string().describe('One line: location and problem') }),
} as const;

/** A protocol at a place of the service. */
export interface Mount {
  readonly protocol: Protocol;
  /** What its paths begin with: nothing, or the address of a model. */
  readonly at: string;
}

/** @param path of a protocol */
export function pathAt(at: string, path: string): string {
  return at !== '' && path === '/' ? at : at + path;
}

/** The model that a path names behind a prefix; null: it does not begin so. */
export function modelBelow(prefix: string, path: string): ProtectedResource | null {
  if (!path.startsWith(prefix)) return null;
  const [name = ''] = path.slice(prefix.length).split(/[/:]/, 1);
  return { model: decoded(name) };
}

/** A part of a path. What is encoded as nothing that can be read stays as it is, and names nothing. */
export function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** How errors are told on paths. */
export interface ErrorShapes {
  readonly on: (path: string) => ErrorShape;
  /** The same of a path that is refused: below the address of a model as below that of any other. */
  readonly onRefused: (path: string) => ErrorShape;
}

export function errorShapes(mounts: readonly Mount[]): ErrorShapes {
  const shapeOn = shapesOn(mounts);
  const ofModels = mounts.filter(({ at }) => at !== '');
  // By the first part of what follows the address: the rest may name the model once more.
  const ofParts = new Map(
    ofModels.flatMap(({ protocol }) =>
      pathsOf(protocol).map((path) => [path.split('/')[1], protocol.errors] as const),
    ),
  );
  const isOfModel = (path: string): boolean =>
    ofModels.some(({ at }) => path.startsWith(at.slice(0, at.lastIndexOf('/') + 1)));
  return {
    on: (path) => shapeOn(path) ?? DETAIL,
    onRefused: (path) => {
      if (!isOfModel(path)) return shapeOn(path) ?? DETAIL;
      const [, , , part = ''] = path.split('/');
      return ofParts.get(part) ?? DETAIL;
    },
  };
}

function pathsOf({ routes }: Protocol): readonly string[] {
  return routes.map(({ path }) => path);
}

function shapesOn(mounts: readonly Mount[]): (path: string) => ErrorShape | undefined {
  const byPath = new Map<string, ErrorShape>();
  for (const { at, protocol } of mounts) {
    for (const path of pathsOf(protocol)) byPath.set(pathAt(at, path), protocol.errors);
  }
  const byPrefix = mounts.flatMap(({ at, protocol: { prefix, errors } }) =>
    prefix === null ? [] : [{ prefix: at + prefix, errors }],
  );
  return (path) =>
    byPath.get(path) ?? byPrefix.find(({ prefix }) => path.startsWith(prefix))?.errors;
}
