import type { Task } from '../../tasks/task';
import type { Protocol } from '../protocol';
import type { Method } from '../route';
import { describeOperation, type Operation, schemasOf } from './operation';
import { jsonContent, type Node, response } from './responses';

const OPERATION = 'operation';
const SCHEME = 'key';
const OWN = 'Error';

const NO_KEY = 'There is no key in one Authorization header, or it is not known.';
const NOT_FOR_THIS =
  'The key is not for this: it is limited to some models, to their management, or to the guard.';
const NO_KEY_HEADERS = { 'WWW-Authenticate': { schema: { const: 'Bearer' } } };

/** What is added to the description where keys are set. */
const KEY_NEEDED =
  ' Who asks needs a key, `Authorization: Bearer KEY`, but on paths that say otherwise. Without one ' +
  'everything is 401, paths that are not listed too.';

/** Of the document where keys are set. */
const KEY_SECURITY: Node = { security: [{ [SCHEME]: [] }] };
const KEY_SCHEMES: Node = {
  securitySchemes: { [SCHEME]: { type: 'http', scheme: 'bearer' } },
};

/** What is described of a service. Its own protocol is the first. */
export interface Described {
  readonly task: Pick<Task, 'disclaimer' | 'summary'>;
  readonly info: { readonly service: string; readonly version: string };
  readonly protocols: readonly Protocol[];
  /** Whether pages stand beside them; left out: they do. */
  readonly hasPages?: boolean;
  /** Below which all of it is, of one model of several; left out: the root, where the metrics are, too. */
  readonly at?: string;
}

/**
 * The OpenAPI 3.1 document of one service, from what its routes say of themselves.
 *
 * @param isPublic paths for which nobody needs a key; null: nobody needs one at all
 */
export function describeApi(
  { task, info, protocols, hasPages = true, at }: Described,
  isPublic: ((path: string) => boolean) | null,
): Node {
  const routes = protocols.flatMap(routesOf);
  const [analysis, ...others] = protocols.map(({ tag }) => tag);
  // A path may be the page's by GET and a protocol's by POST.
  const paths: Record<string, Record<string, Node>> = {};
  for (const { path, method, described, error } of [
    ...routes,
    ...(at === undefined ? [METRICS] : []),
    DOCUMENT,
    ...(hasPages ? PAGES : []),
  ]) {
    const isOpen = method === 'get' && isPublic?.(path) === true;
    const operation = isPublic ? withKey(described, isOpen, error) : described;
    const names = [...path.matchAll(/\/:(\w+)/g)].map(([, name]) => name as string);
    const template = path.replaceAll(/\/:(\w+)/g, '/{$1}');
    paths[template] = { ...paths[template], [method]: withParameters(operation, names) };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: `libtorch-serve: ${info.service}`,
      version: info.version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description:
        `${task.disclaimer ?? ''}${task.summary} Every error is JSON, \`{"detail": "<message>"}\`, but on the paths of ` +
        'protocols of other systems, which have forms of their own. A path that is ' +
        'not listed is 404; a method that a path does not list is 405, but for HEAD, which every GET ' +
        'has, and OPTIONS, which is 204: `Allow` lists them. Before any route, a request that is no ' +
        'valid HTTP is 400, one that is not sent in time 408, one with more headers than 100, or over ' +
        `16 KiB of them, 431; one that a browser sends for a page of another origin is 403.${isPublic ? KEY_NEEDED : ''}`,
    },
    ...(at !== undefined && { servers: [{ url: at }] }),
    tags: [analysis, { name: OPERATION }, ...(hasPages ? [{ name: 'pages' }] : []), ...others],
    paths,
    components: {
      schemas: Object.assign({}, ...routes.map(({ schemas }) => schemas)),
      ...(isPublic && KEY_SCHEMES),
    },
    ...(isPublic && KEY_SECURITY),
  };
}

/** @param names of what stands in the path for anything */
function withParameters(operation: Node, names: readonly string[]): Node {
  if (names.length === 0) return operation;
  const described = names.map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  return { ...operation, parameters: [...((operation.parameters as Node[]) ?? []), ...described] };
}

interface DocumentedRoute {
  readonly path: string;
  readonly method: Lowercase<Method>;
  readonly described: Node;
  /** The schema of its errors, where it tells any. */
  readonly error?: string | undefined;
  /** That it names. */
  readonly schemas?: Node;
}

function routesOf(speaker: Protocol): readonly DocumentedRoute[] {
  const route = (
    path: string,
    method: DocumentedRoute['method'],
    operation: Operation,
  ): DocumentedRoute => ({
    path,
    method,
    described: describeOperation(operation, speaker),
    error: Object.keys(operation.errors).length > 0 ? speaker.error.name : undefined,
    schemas: schemasOf(operation, speaker),
  });
  return speaker.routes.map(({ path, method, describe }) =>
    route(path, method.toLowerCase() as Lowercase<Method>, describe()),
  );
}

/** Routes for tools and for people, whose answers are not described further. */
const METRICS = file('/metrics', {
  operationId: 'metrics',
  summary: 'For Prometheus',
  tags: [OPERATION],
  responses: { 200: response('In the text format of Prometheus.', textOf('text/plain')) },
});
const DOCUMENT = file('/openapi.json', {
  operationId: 'openapi',
  summary: 'This document',
  tags: [OPERATION],
  responses: { 200: response('OpenAPI 3.1.', textOf('application/json', 'object')) },
});

const PAGES: readonly DocumentedRoute[] = [
  page('/', 'page', 'Try the model'),
  page('/docs', 'docs', 'This document, for people'),
];

function file(path: string, described: Node): DocumentedRoute {
  return { path, method: 'get', described };
}

function page(path: string, operationId: string, summary: string): DocumentedRoute {
  return file(path, {
    operationId,
    summary,
    tags: ['pages'],
    parameters: [{ name: 'If-None-Match', in: 'header', schema: { type: 'string' } }],
    responses: {
      200: response('A page.', textOf('text/html')),
      304: response('If-None-Match names the page as it is.'),
    },
  });
}

function textOf(mediaType: string, type = 'string'): Node {
  return { [mediaType]: { schema: { type } } };
}

/**
 * An operation where keys are set.
 *
 * @param error the schema in which its other errors are told: those of protocols have one of their own
 */
function withKey(operation: Node, isPublic: boolean, error = OWN): Node {
  if (isPublic) return { ...operation, security: [] };
  const example = error === OWN ? { detail: 'The API key is not known.' } : undefined;
  const refused = response(NO_KEY, jsonContent(error, example), NO_KEY_HEADERS);
  const forbidden = response(NOT_FOR_THIS, jsonContent(error));
  return {
    ...operation,
    responses: { 403: forbidden, ...(operation.responses as Node), 401: refused },
  };
}
