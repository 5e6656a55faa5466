/** Messages of protos/envoy/service/ext_proc/v3 in the form that @grpc/proto-loader produces. */

export type BodySendMode =
  | 'NONE'
  | 'STREAMED'
  | 'BUFFERED'
  | 'BUFFERED_PARTIAL'
  | 'FULL_DUPLEX_STREAMED'
  | 'GRPC';

interface HeaderValue {
  readonly key: string;
  readonly value: string;
  readonly raw_value: Buffer;
}

export interface HttpHeaders {
  readonly headers: { readonly headers: readonly HeaderValue[] } | null;
  readonly end_of_stream: boolean;
}

export interface HttpBody {
  readonly body: Buffer;
  readonly end_of_stream: boolean;
  readonly end_of_stream_without_message: boolean;
}

export interface ProcessingRequest {
  /** Name of the field that is set. */
  readonly request?:
    | 'request_headers'
    | 'response_headers'
    | 'request_body'
    | 'response_body'
    | 'request_trailers'
    | 'response_trailers';
  readonly request_headers?: HttpHeaders;
  readonly response_headers?: HttpHeaders;
  readonly request_body?: HttpBody;
  readonly response_body?: HttpBody;
  readonly observability_mode: boolean;
  /** Set in the first message of a stream. */
  readonly protocol_config: {
    readonly request_body_mode: BodySendMode;
    readonly response_body_mode: BodySendMode;
  } | null;
}

export type ProcessingResponse = object;

/** Changes of headers. */
export interface HeaderChanges {
  /** Headers to set, replacing existing values. */
  readonly set?: Readonly<Record<string, string>>;
  readonly remove?: readonly string[];
}

/** Response with which processing continues. @param name field of `ProcessingResponse`, such as `request_headers` */
export function continueWith(
  name: string,
  headers: HeaderChanges = {},
  body: object | null = null,
): ProcessingResponse {
  const mutation = mutationOf(headers);
  return {
    [name]: {
      response: {
        ...(mutation && { header_mutation: mutation }),
        ...(body && { body_mutation: body }),
      },
    },
  };
}

/** Response that Envoy sends to the client instead of continuing. */
export function immediateResponse(status: number, body: object): ProcessingResponse {
  return {
    immediate_response: {
      status: { code: status },
      headers: mutationOf({ set: { 'content-type': 'application/json' } }),
      body: Buffer.from(JSON.stringify(body)),
      details: 'guard',
    },
  };
}

/** Headers by lower-case name. For duplicate names, the last value. */
export function readHeaders({ headers }: HttpHeaders): ReadonlyMap<string, string> {
  return new Map(
    (headers?.headers ?? []).map(({ key, value, raw_value }) => [
      key.toLowerCase(),
      raw_value.length > 0 ? raw_value.toString('latin1') : value,
    ]),
  );
}

function mutationOf({ set = {}, remove = [] }: HeaderChanges): object | null {
  const entries = Object.entries(set);
  if (entries.length === 0 && remove.length === 0) return null;
  return {
    set_headers: entries.map(([key, value]) => ({
      // Envoy reads raw_value; value is for older versions.
      header: { key, raw_value: Buffer.from(value) },
      append_action: 'OVERWRITE_IF_EXISTS_OR_ADD',
    })),
    remove_headers: remove,
  };
}
