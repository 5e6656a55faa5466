import type { Task } from '../../tasks/task';
import type { Protocol } from '../protocol';
import { withKeys } from './keys';
import { describeOperation, type Operation, type Speaker, schemasOf } from './operation';
import { type Node, response } from './responses';

const OPERATION = 'operation';

/** What is described of a service. Its own protocol is the first. */
interface Described {
  readonly task: Task;
  readonly info: { readonly service: string; readonly version: string };
  readonly protocols: readonly Protocol[];
}

/**
 * The OpenAPI 3.1 document of one service, from what its routes say of themselves.
 *
 * @param isPublic paths for which nobody needs a key; null: nobody needs one at all
 */
export function describeApi(
  service: Described,
  isPublic: ((path: string) => boolean) | null,
): Node {
  const document = describeOpenApi(service);
  return isPublic ? withKeys(document, isPublic) : document;
}

function describeOpenApi({ task, info, protocols }: Described): Node {
  const routes = protocols.flatMap(routesOf);
  const [analysis, ...others] = protocols.map(({ tag }) => tag);
  return {
    openapi: '3.1.1',
    info: {
      title: `libtorch-serve: ${info.service}`,
      version: info.version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description:
        `${task.notice ?? ''}${task.summary} Every error is JSON, \`{"detail": "<message>"}\`, but on the paths of ` +
        'protocols of other systems, which have forms of their own. A path that is ' +
        'not listed is 404; a method that a path does not list is 405, but for HEAD, which every GET ' +
        'has, and OPTIONS, which is 204: `Allow` lists them. Before any route, a request that is no ' +
        'valid HTTP is 400, one that is not sent in time 408, one with more headers than 100, or over ' +
        '16 KiB of them, 431.',
    },
    tags: [analysis, { name: OPERATION }, { name: 'pages' }, ...others],
    paths: mergePaths([
      ...routes.map(
        ({ path, method, operation, speaker }): PathItem => [
          path,
          { [method]: describeOperation(operation, speaker) },
        ],
      ),
      ...Object.entries({ ...TEXTS, ...PAGES }),
    ]),
    components: {
      schemas: Object.assign(
        {},
        ...routes.map(({ operation, speaker }) => schemasOf(operation, speaker)),
      ),
    },
  };
}

interface Route {
  readonly path: string;
  readonly method: 'get' | 'post';
  readonly operation: Operation;
  readonly speaker: Speaker;
}

function routesOf(speaker: Protocol): readonly Route[] {
  const { endpoints, gets } = speaker;
  return [
    ...endpoints.map(({ path, describe }) => ({ path, method: 'post', operation: describe() })),
    ...Object.entries(gets).map(([path, { describe }]) => ({
      ...{ path, method: 'get', operation: describe() },
    })),
  ].map((route) => ({ ...route, speaker }) as Route);
}

/** Routes for tools, whose answers are not described further. */
const TEXTS: Node = {
  '/metrics': {
    get: {
      operationId: 'metrics',
      summary: 'For Prometheus',
      tags: [OPERATION],
      responses: { 200: response('In the text format of Prometheus.', textOf('text/plain')) },
    },
  },
  '/openapi.json': {
    get: {
      operationId: 'openapi',
      summary: 'This document',
      tags: [OPERATION],
      responses: { 200: response('OpenAPI 3.1.', textOf('application/json', 'object')) },
    },
  },
};

const PAGES: Node = {
  '/': page('page', 'Try the model'),
  '/docs': page('docs', 'This document, for people'),
};

function page(operationId: string, summary: string): Node {
  return {
    get: {
      operationId,
      summary,
      tags: ['pages'],
      parameters: [{ name: 'If-None-Match', in: 'header', schema: { type: 'string' } }],
      responses: {
        200: response('A page.', textOf('text/html')),
        304: response('If-None-Match names the page as it is.'),
      },
    },
  };
}

function textOf(mediaType: string, type = 'string'): Node {
  return { [mediaType]: { schema: { type } } };
}

type PathItem = readonly [path: string, operations: unknown];

/** A path may be the page's by GET and a protocol's by POST. */
function mergePaths(items: readonly PathItem[]): Node {
  const merged: Record<string, Node> = {};
  for (const [path, operations] of items)
    merged[path] = { ...merged[path], ...(operations as Node) };
  return merged;
}
