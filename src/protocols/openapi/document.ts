import type { Task } from '../../tasks/task';
import type { Protocol } from '../protocol';
import type { Method } from '../route';
import { describeOperation, schemasOf } from './describe-operation';
import { ERROR_DESCRIPTIONS } from './error-descriptions';
import { jsonContent, type Node, response } from './responses';

const OPERATION_TAG = 'operation';
const PAGES_TAG = 'pages';
const SECURITY_SCHEME = 'key';
const ERROR_SCHEMA = 'Error';

const DESCRIPTION =
  'Errors are JSON, `{"detail": "<message>"}`. Routes of other protocols use the error format of ' +
  'their protocol. A path that is not listed returns 404. A method that is not listed returns 405: ' +
  'the header `Allow` lists the methods of the path. Each GET route also accepts HEAD, and each path ' +
  'accepts OPTIONS, which returns 204. The server rejects some requests before routing: 400 for ' +
  'invalid HTTP, 408 for a request that is not received in time, 431 for more than 100 headers or ' +
  'more than 16 KiB of headers, and 403 for a request from a page of another origin.';
const KEY_DESCRIPTION =
  ' Requests need an API key, `Authorization: Bearer KEY`, except for public endpoints. A request ' +
  'without a valid key returns 401, also on paths that are not listed.';

/** The service that a document describes. */
export interface DocumentedService {
  readonly task: Pick<Task, 'disclaimer' | 'summary'>;
  readonly info: { readonly service: string; readonly version: string };
  /** The protocol of the service's own routes is the first. */
  readonly protocols: readonly Protocol[];
  /** Whether the service has HTML pages. Default: true. */
  readonly hasPages?: boolean;
  /** Path prefix of one model of several; absent for the root, which also has the metrics. */
  readonly at?: string;
}

/**
 * The OpenAPI 3.1 document of a service, derived from its routes.
 *
 * @param isPublic whether a path is accessible without an API key; null: no API keys are configured
 */
export function describeApi(
  { task, info, protocols, hasPages = true, at }: DocumentedService,
  isPublic: ((path: string) => boolean) | null,
): Node {
  const routes = protocols.flatMap(documentRoutes);
  const [analysis, ...tags] = protocols.map(({ tag }) => tag);
  const paths: Record<string, Record<string, Node>> = {};
  for (const { path, method, operation, errorSchema } of [
    ...routes,
    ...(at === undefined ? [METRICS] : []),
    DOCUMENT,
    ...(hasPages ? PAGES : []),
  ]) {
    const isOpen = method === 'get' && isPublic?.(path) === true;
    const secured = isPublic ? withSecurity(operation, isOpen, errorSchema) : operation;
    const template = path.replaceAll(/\/:(\w+)/g, '/{$1}');
    paths[template] = { ...paths[template], [method]: withPathParameters(secured, path) };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: `libtorch-serve: ${info.service}`,
      version: info.version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description: `${task.disclaimer ?? ''}${task.summary} ${DESCRIPTION}${isPublic ? KEY_DESCRIPTION : ''}`,
    },
    ...(at !== undefined && { servers: [{ url: at }] }),
    tags: withoutDuplicates([
      ...(analysis ? [analysis] : []),
      { name: OPERATION_TAG },
      ...(hasPages ? [{ name: PAGES_TAG }] : []),
      ...tags,
    ]),
    paths,
    components: {
      schemas: Object.assign({}, ...routes.map(({ schemas }) => schemas)),
      ...(isPublic && {
        securitySchemes: { [SECURITY_SCHEME]: { type: 'http', scheme: 'bearer' } },
      }),
    },
    ...(isPublic && { security: [{ [SECURITY_SCHEME]: [] }] }),
  };
}

/** Several protocols can have the same tag. */
function withoutDuplicates(tags: readonly Protocol['tag'][]): readonly Protocol['tag'][] {
  return [...new Map(tags.map((tag) => [tag.name, tag])).values()];
}

interface DocumentedRoute {
  readonly path: string;
  readonly method: Lowercase<Method>;
  /** OpenAPI operation. */
  readonly operation: Node;
  /** Name of the schema of the protocol's errors; default: `ERROR_SCHEMA`. */
  readonly errorSchema?: string;
  /** Schemas that the operation references. */
  readonly schemas?: Node;
}

function documentRoutes(protocol: Protocol): readonly DocumentedRoute[] {
  return protocol.routes.flatMap(({ path, method, upgrade, operation }) => {
    if (operation === null) return [];
    const route = { method, operation, ...(upgrade && { upgrade }) };
    return {
      path,
      method: method.toLowerCase() as Lowercase<Method>,
      operation: describeOperation(route, protocol),
      errorSchema: protocol.error.name,
      schemas: schemasOf(route, protocol),
    };
  });
}

/** Routes that belong to no protocol. */
const METRICS = file('/metrics', {
  operationId: 'metrics',
  summary: 'Metrics for Prometheus',
  tags: [OPERATION_TAG],
  responses: { 200: response('Prometheus text format.', textOf('text/plain')) },
});
const DOCUMENT = file('/openapi.json', {
  operationId: 'openapi',
  summary: 'This document',
  tags: [OPERATION_TAG],
  responses: { 200: response('OpenAPI 3.1.', textOf('application/json', 'object')) },
});
const PAGES = [
  page('/', 'page', 'Page to try the model'),
  page('/docs', 'docs', 'API documentation as a page'),
];

function file(path: string, operation: Node): DocumentedRoute {
  return { path, method: 'get', operation };
}

function page(path: string, operationId: string, summary: string): DocumentedRoute {
  return file(path, {
    operationId,
    summary,
    tags: [PAGES_TAG],
    parameters: [{ name: 'If-None-Match', in: 'header', schema: { type: 'string' } }],
    responses: {
      200: response('HTML page.', textOf('text/html')),
      304: response('The page matches If-None-Match.'),
    },
  });
}

function textOf(mediaType: string, type = 'string'): Node {
  return { [mediaType]: { schema: { type } } };
}

/** Adds the path parameters of a route, `/:name`, to its operation. */
function withPathParameters(operation: Node, path: string): Node {
  const parameters = [...path.matchAll(/\/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  if (parameters.length === 0) return operation;
  return { ...operation, parameters: [...((operation.parameters as Node[]) ?? []), ...parameters] };
}

/** Adds the responses of authentication to an operation, or marks it as public. */
function withSecurity(operation: Node, isPublic: boolean, errorSchema = ERROR_SCHEMA): Node {
  if (isPublic) return { ...operation, security: [] };
  const unauthorized = response(ERROR_DESCRIPTIONS.KEY_NEEDED.cause, jsonContent(errorSchema), {
    'WWW-Authenticate': { schema: { const: 'Bearer' } },
  });
  const forbidden = response(ERROR_DESCRIPTIONS.FORBIDDEN.cause, jsonContent(errorSchema));
  return {
    ...operation,
    responses: { 403: forbidden, ...(operation.responses as Node), 401: unauthorized },
  };
}
