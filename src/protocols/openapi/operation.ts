import type { z } from 'zod';
import type { ErrorCode } from '../../serving/errors';
import type { Node } from './responses';

/** A zod schema, a JSON Schema, or a function that creates a JSON Schema when the document is requested. */
export type Schema = z.ZodType | Node | (() => Node);

/** Documentation of a route, from which its OpenAPI operation is derived. */
export interface Operation {
  /** Unique in the document. */
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string | undefined;
  /** Tag of the operation; default: the tag of the protocol. */
  readonly tag?: string;
  /** Schema of the request body. A zod schema validates it: BODY_INVALID is one of the errors. */
  readonly request?: Schema;
  /** Keywords of properties of `request` that depend on the model or the settings, such as `maxItems`. */
  readonly limits?: Readonly<Record<string, Node>>;
  /** Schema of the response body, or of the first event or WebSocket message; null: the route always fails. */
  readonly response: Schema | null;
  /** Prefix of the names of both schemas; default: `operationId`. */
  readonly schemaName?: string;
  readonly examples?: { readonly request?: unknown; readonly response?: unknown } | null;
  /** Error codes in addition to `BODY_ERRORS` and BODY_INVALID. */
  readonly errors?: readonly ErrorCode[];
  /** Response headers in addition to the headers of all responses. */
  readonly headers?: Node;
  /** The response is a stream of server-sent events. */
  readonly isEventStream?: boolean;
  /** Media types of the bodies; default: application/json. */
  readonly requestMediaType?: string;
  readonly responseMediaType?: string;
  /** Request and response bodies may be binary. */
  readonly isBinary?: boolean;
}

/** A schema and its name in the document. */
export interface NamedSchema {
  readonly name: string;
  readonly schema: z.ZodType | Node;
}
