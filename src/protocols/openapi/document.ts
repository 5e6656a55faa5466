import { isPublicPath } from '../../http/access/public-paths';
import type { Task } from '../../tasks/task';
import { analyzeBatchBody, analyzeBody } from '../own/schemas/analyze';
import {
  analyzeAnswer,
  analyzeBatchAnswer,
  type EegInfo,
  errorAnswer,
  healthAnswer,
  infoAnswer,
  predictAnswer,
  predictBatchAnswer,
  readyAnswer,
  type ServiceInfo,
} from '../own/schemas/answers';
import { predictBatchBody, predictBody } from '../own/schemas/predict';
import type { Protocol } from '../protocol';
import { EEG_EXAMPLES, SENTIMENT_EXAMPLES } from './examples';
import { withKeys } from './keys';
import {
  ANALYSIS_HEADERS,
  analysisErrors,
  emptyResponse,
  errorResponse,
  jsonResponse,
  NOT_READY,
  type Node,
  schemaReference,
  TIMEOUT_PARAMETER,
  TRUNCATED_HEADER,
  textResponse,
  toSchema,
} from './responses';

/** What a text must hold: anything but white space as Python's `str.strip()` understands it. */
const NOT_BLANK =
  '[^\\u0009-\\u000d\\u001c-\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';

const DISCLAIMER = '**Demonstration, not a medical device.** ';

/**
 * The OpenAPI 3.1 document of one service, from the schemas that check its requests.
 *
 * @param access null: no key is needed
 */
export function describeApi(service: Described, access: Access | null): Node {
  const document = describeOpenApi(service);
  if (!access) return document;
  const { protocols } = service;
  const probes = protocols.flatMap((protocol) => protocol.probes);
  return withKeys(document, isPublicPath(Object.keys(PAGES), probes, access));
}

/** What is described of a service. */
interface Described {
  readonly task: Task;
  readonly info: ServiceInfo;
  readonly protocols: readonly Protocol[];
}

/** Of a service that wants keys. */
interface Access {
  readonly metricsNeedKey: boolean;
}

function describeOpenApi({ task, info, protocols }: Described): Node {
  const parts = protocols.map((protocol) => protocol.describe());
  const analysis = task.takes === 'texts' ? describeTexts(info) : describeSignals(info);
  return {
    openapi: '3.1.1',
    info: {
      title: `libtorch-serve: ${info.service}`,
      version: info.version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description:
        `${analysis.description} Every error is JSON, \`{"detail": "<message>"}\`, but on the paths of ` +
        'protocols of other systems, which have forms of their own. A path that is ' +
        'not listed is 404; a method that a path does not list is 405, but for HEAD, which every GET ' +
        'has, and OPTIONS, which is 204: `Allow` lists them. Before any route, a request that is no ' +
        'valid HTTP is 400, one that is not sent in time 408, one with more headers than 100, or over ' +
        '16 KiB of them, 431.',
    },
    tags: [
      { name: 'analysis' },
      { name: 'operation' },
      { name: 'pages' },
      ...parts.map(({ tag }) => tag),
    ],
    paths: mergePaths(
      analysis.paths,
      operationPaths(info),
      PAGES,
      ...parts.map(({ paths }) => paths as Node),
    ),
    components: {
      schemas: {
        ...analysis.schemas,
        ...Object.assign({}, ...parts.map(({ schemas }) => schemas)),
        Info: infoSchema(info, task, protocols),
        Health: toSchema(healthAnswer),
        Ready: toSchema(readyAnswer),
        Error: toSchema(errorAnswer),
      },
    },
  };
}

interface Analysis {
  readonly description: string;
  readonly paths: Node;
  readonly schemas: Node;
}

function describeTexts(info: ServiceInfo): Analysis {
  const text = { type: 'string', pattern: NOT_BLANK };
  const headers = { ...ANALYSIS_HEADERS, ...TRUNCATED_HEADER };
  return {
    description: 'Texts to labels, as the `text-classification` pipeline of transformers.',
    paths: {
      '/analyze': analysisPath(info, {
        id: 'analyze',
        summary: 'Label a text',
        field: 'text',
        refused: 'Text payload cannot be empty.',
        headers,
        examples: SENTIMENT_EXAMPLES.single,
      }),
      '/analyze/batch': analysisPath(info, {
        id: 'analyzeBatch',
        summary: 'Label several texts, with the scores of all labels',
        field: 'texts',
        refused: 'texts[1]: Text payload cannot be empty.',
        headers,
        examples: SENTIMENT_EXAMPLES.batch,
      }),
    },
    schemas: {
      AnalyzeRequest: withProperties(toSchema(analyzeBody), { text }),
      AnalyzeAnswer: toSchema(analyzeAnswer),
      AnalyzeBatchRequest: withProperties(toSchema(analyzeBatchBody), {
        texts: {
          maxItems: info.limits.list_length,
          items: { anyOf: [text, schemaReference('AnalyzeRequest')] },
        },
      }),
      AnalyzeBatchAnswer: toSchema(analyzeBatchAnswer),
    },
  };
}

function describeSignals(info: ServiceInfo): Analysis {
  const { window_length: length = 256 } = info.model as EegInfo['model'];
  const signal = { minItems: length, maxItems: length };
  const request = toSchema(predictBatchBody);
  const signals = propertiesOf(request).signals as { readonly items: Node };
  // The shipped model's examples fit its window length alone.
  const examples = length === 256 ? EEG_EXAMPLES : null;
  const notice = `${DISCLAIMER}No answer may be used to diagnose.`;
  const refused = `Signal must contain exactly ${length} data points.`;
  return {
    description: `${DISCLAIMER}Windows of an EEG channel to classes.`,
    paths: {
      '/predict': analysisPath(info, {
        id: 'predict',
        summary: 'Classify a window',
        field: 'signal',
        refused,
        headers: ANALYSIS_HEADERS,
        examples: examples?.single,
        notice,
      }),
      '/predict/batch': analysisPath(info, {
        id: 'predictBatch',
        summary: 'Classify several windows of a patient, with the probabilities of all classes',
        field: 'signals',
        refused: `signals[1]: ${refused}`,
        headers: ANALYSIS_HEADERS,
        examples: examples?.batch,
        notice,
      }),
    },
    schemas: {
      PredictRequest: withProperties(toSchema(predictBody), { signal }),
      PredictAnswer: toSchema(predictAnswer),
      PredictBatchRequest: withProperties(request, {
        signals: { maxItems: info.limits.list_length, items: { ...signals.items, ...signal } },
      }),
      PredictBatchAnswer: toSchema(predictBatchAnswer),
    },
  };
}

interface AnalysisRoute {
  /** Its schemas are called as it is: AnalyzeBatchRequest, AnalyzeBatchAnswer. */
  readonly id: string;
  readonly summary: string;
  readonly field: string;
  readonly refused: string;
  readonly headers: Node;
  readonly examples: { readonly request: unknown; readonly answer: unknown } | undefined;
  /** What must not be done with its answers. */
  readonly notice?: string;
}

function analysisPath({ limits }: ServiceInfo, route: AnalysisRoute): Node {
  const { id, summary, field, refused, headers, examples, notice } = route;
  const name = `${id.charAt(0).toUpperCase()}${id.slice(1)}`;
  return {
    post: {
      operationId: id,
      summary,
      tags: ['analysis'],
      ...(notice && { description: notice }),
      parameters: [TIMEOUT_PARAMETER],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: schemaReference(`${name}Request`),
            ...(examples && { example: examples.request }),
          },
        },
      },
      responses: {
        200: jsonResponse({
          description: 'The answer of the model.',
          schema: `${name}Answer`,
          example: examples?.answer,
          headers,
        }),
        400: errorResponse('The model cannot be asked this.', refused),
        ...analysisErrors(field, { body: limits.body_bytes, timeout: limits.request_timeout_ms }),
      },
    },
  };
}

function operationPaths(info: ServiceInfo): Node {
  const get = (id: string, summary: string, responses: Node): Node => ({
    get: { operationId: id, summary, tags: ['operation'], responses },
  });
  const json = (description: string, schema: string, example: unknown): Node =>
    jsonResponse({ description, schema, example });
  const { loaded } = info.model;
  return {
    '/health': get('health', 'Whether the process responds', {
      200: json('It does.', 'Health', { status: 'healthy', model_loaded: loaded }),
    }),
    '/ready': get('ready', 'Whether requests should be sent here', {
      200: json('The model is loaded and warm.', 'Ready', { ready: true }),
      503: NOT_READY,
    }),
    '/info': get('info', 'Model and limits', {
      200: json('What is served, and within which limits.', 'Info', info),
    }),
    '/metrics': get('metrics', 'For Prometheus', {
      200: textResponse('In the text format of Prometheus.', 'text/plain'),
    }),
    '/openapi.json': get('openapi', 'This document', {
      200: {
        ...emptyResponse('OpenAPI 3.1.'),
        content: { 'application/json': { schema: { type: 'object' } } },
      },
    }),
  };
}

const PAGES: Node = Object.fromEntries(
  Object.entries({ '/': 'Try the model', '/docs': 'This document, for people' }).map(
    ([path, summary]) => [
      path,
      {
        get: {
          operationId: path === '/' ? 'page' : 'docs',
          summary,
          tags: ['pages'],
          parameters: [{ name: 'If-None-Match', in: 'header', schema: { type: 'string' } }],
          responses: {
            200: textResponse('A page.', 'text/html'),
            304: emptyResponse('If-None-Match names the page as it is.'),
          },
        },
      },
    ],
  ),
);

/** A path may be the page's by GET and a protocol's by POST. */
function mergePaths(...parts: readonly Node[]): Node {
  const merged: Record<string, Node> = {};
  for (const [path, operations] of parts.flatMap((part) => Object.entries(part))) {
    merged[path] = { ...merged[path], ...(operations as Node) };
  }
  return merged;
}

function infoSchema({ service }: ServiceInfo, task: Task, protocols: readonly Protocol[]): Node {
  const own = toSchema(infoAnswer(service, task.info.schemas));
  const more = Object.assign({}, ...protocols.map((protocol) => protocol.info?.schemas));
  return { ...own, properties: { ...propertiesOf(own), ...more } };
}

function propertiesOf(schema: Node): Readonly<Record<string, Node>> {
  return schema.properties as Readonly<Record<string, Node>>;
}

/** Adds what depends on the model and the settings. */
function withProperties(schema: Node, more: Readonly<Record<string, Node>>): Node {
  const properties = { ...propertiesOf(schema) };
  for (const [name, constraints] of Object.entries(more)) {
    properties[name] = { ...properties[name], ...constraints };
  }
  return { ...schema, properties };
}
