import { z } from 'zod';
import { FULL_ACCESS } from '../../serving/access';
import { ERRORS, type ErrorCode, ServiceError } from '../../serving/errors';
import type { Protocol } from '../protocol';
import type { Route } from '../route';
import { BODY_ERRORS, ERROR_DESCRIPTIONS } from './error-descriptions';
import type { Operation, Schema } from './operation';
import {
  ANALYSIS_HEADERS,
  ERROR_CODE,
  jsonContent,
  type Node,
  propertiesOf,
  RETRY_AFTER,
  response,
  schemaReference,
  TIMEOUT_PARAMETER,
  toSchema,
} from './responses';

type OwnProtocol = Pick<Protocol, 'tag' | 'error' | 'errors'>;
type DocumentedRoute = Pick<Route, 'method' | 'upgrade'> & { readonly operation: Operation };

const BINARY = { schema: { type: 'string', format: 'binary' } };
const UPGRADE = { Upgrade: { schema: { const: 'websocket' } } };

/** The OpenAPI operation of a route. */
export function describeOperation(
  { method, operation, upgrade }: DocumentedRoute,
  protocol: OwnProtocol,
): Node {
  const { operationId, summary, description, tag, request, examples, isBinary } = operation;
  const content = (name: string, example: unknown, mediaType?: string): Node => ({
    ...jsonContent(name, example, mediaType),
    ...(isBinary && { 'application/octet-stream': BINARY }),
  });
  const names = schemaNames(operation);
  return {
    operationId,
    summary,
    ...(description && { description }),
    tags: [tag ?? protocol.tag.name],
    ...(method !== 'GET' && { parameters: [TIMEOUT_PARAMETER] }),
    ...(request && {
      requestBody: {
        required: true,
        content: content(names.request, examples?.request, operation.requestMediaType),
      },
    }),
    responses: {
      ...(operation.response &&
        success(content(names.response, examples?.response, operation.responseMediaType))),
      ...describeErrors(errorCodes(method, operation), protocol),
    },
  };

  function success(body: Node): Node {
    if (upgrade) return { 101: response('The connection is a WebSocket.') };
    if (operation.isEventStream) {
      const events = { schema: schemaReference(names.response) };
      return { 200: response('Server-sent events.', { 'text/event-stream': events }) };
    }
    const headers = { ...(method !== 'GET' && ANALYSIS_HEADERS), ...operation.headers };
    return { 200: response('Success.', body, headers) };
  }
}

/** Schemas of a route by their names in the document. */
export function schemasOf(
  { operation }: DocumentedRoute,
  { error }: OwnProtocol,
): Readonly<Record<string, Node>> {
  const { request, response: result, limits = {} } = operation;
  const names = schemaNames(operation);
  return {
    ...(request && { [names.request]: withLimits(toNode(request), limits) }),
    ...(result && { [names.response]: toNode(result) }),
    [error.name]: toNode(error.schema),
  };
}

function errorCodes(
  method: Route['method'],
  { request, errors = [] }: Operation,
): readonly ErrorCode[] {
  const isValidated = request instanceof z.ZodType;
  return [
    ...(isValidated ? (['BODY_INVALID'] as const) : []),
    ...errors,
    ...(method === 'GET' ? [] : BODY_ERRORS),
  ];
}

/** One response for each status, with the descriptions of its error codes. */
function describeErrors(codes: readonly ErrorCode[], { error, errors }: OwnProtocol): Node {
  const byStatus = new Map<number, Set<ErrorCode>>();
  const formats = errors.byBody?.formats ?? [errors];
  for (const [code, format] of codes.flatMap((one) =>
    formats.map((each) => [one, each] as const),
  )) {
    const status = format.status(code);
    byStatus.set(status, (byStatus.get(status) ?? new Set<ErrorCode>()).add(code));
  }
  const responses = [...byStatus].map(([status, set]) => {
    const [code] = [...set] as [ErrorCode];
    const format = formats.find((each) => each.status(code) === status) ?? errors;
    const example = format.body(
      new ServiceError(code, ERROR_DESCRIPTIONS[code].cause),
      FULL_ACCESS,
    );
    const descriptions = [...set].map((one) => ERROR_DESCRIPTIONS[one].cause);
    const headers = {
      'X-Error-Code': { ...ERROR_CODE, schema: { enum: [...set] } },
      ...([...set].some((one) => ERRORS[one].rejection) && RETRY_AFTER),
      ...(set.has('UPGRADE_NEEDED') && UPGRADE),
    };
    return [status, response(descriptions.join(' '), jsonContent(error.name, example), headers)];
  });
  return Object.fromEntries(responses);
}

function schemaNames({ operationId, schemaName = operationId }: Operation) {
  const name = schemaName.charAt(0).toUpperCase() + schemaName.slice(1);
  return { request: `${name}Request`, response: `${name}Response` };
}

function toNode(schema: Schema): Node {
  if (typeof schema === 'function') return schema();
  return schema instanceof z.ZodType ? toSchema(schema) : (schema as Node);
}

function withLimits(schema: Node, limits: Readonly<Record<string, Node>>): Node {
  const names = Object.keys(limits);
  if (names.length === 0) return schema;
  const properties = propertiesOf(schema);
  const limited = names.map((name) => [name, { ...properties[name], ...limits[name] }]);
  return { ...schema, properties: { ...properties, ...Object.fromEntries(limited) } };
}
