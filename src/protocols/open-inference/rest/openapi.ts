import {
  ANALYSIS_HEADERS,
  jsonResponse,
  type Node,
  schemaReference,
  TIMEOUT_PARAMETER,
  TRUNCATED_HEADER,
} from '../../openapi/responses';
import { VERSION } from '../model';
import type { ServedModel } from '../served-model';
import * as schemas from './openapi-schemas';

export const TAG = {
  name: 'Open Inference Protocol',
  description: 'Version 2, as tritonclient and KServe speak it',
};

const ERRORS: Readonly<Record<number, string>> = {
  400: 'The body is not as it has to be, or the model cannot be asked this.',
  413: 'The body is over BODY_LIMIT, or a tensor has more elements than MAX_LIST_LENGTH.',
  415: 'The Content-Encoding is unknown.',
  503: 'The model is not loaded, the queue is full, or the service is shutting down.',
  504: 'The deadline passed before the model ran, or the model ran longer than it may.',
};

/** The paths of the protocol, in the OpenAPI document of the service. */
export function describePaths(served: ServedModel): Node {
  const get = (id: string, summary: string, schema: string, canFail = true): Node => ({
    get: {
      operationId: id,
      summary,
      tags: [TAG.name],
      responses: {
        200: jsonResponse({ description: 'As it is.', schema }),
        ...(canFail && { 503: error('The model is not loaded, or cannot be asked for now.') }),
      },
    },
  });
  const ofModel = served.paths.map((path) => {
    const id = path.endsWith(`/versions/${VERSION}`) ? 'V2Version' : 'V2Model';
    return {
      [path]: get(`${id}Metadata`, 'Tensors of the model', 'V2ModelMetadata'),
      [`${path}/ready`]: get(`${id}Ready`, 'Whether it can be asked', 'V2ModelReady'),
      [`${path}/config`]: get(`${id}Config`, 'As Triton configures models', 'V2ModelConfig'),
      [`${path}/stats`]: get(`${id}Stats`, 'What it has done', 'V2Statistics', false),
      [`${path}/infer`]: { post: inferOperation(`${id}Infer`, served) },
    };
  });
  return {
    '/v2': get('V2Server', 'What this server is', 'V2Server', false),
    '/v2/health/live': get('V2Live', 'Whether the process responds', 'V2Live', false),
    '/v2/health/ready': get('V2Ready', 'Whether requests should be sent here', 'V2Ready'),
    '/v2/models/stats': get('V2Stats', 'What the models have done', 'V2Statistics', false),
    ...Object.assign({}, ...ofModel),
  };
}

export function describeSchemas(served: ServedModel): Node {
  return {
    ...schemas.ANSWERS,
    V2InferRequest: schemas.inferRequest(served.modelIfLoaded),
    V2InferAnswer: schemas.INFER_ANSWER,
    V2Error: schemas.ERROR,
  };
}

function inferOperation(id: string, { modelIfLoaded }: ServedModel): Node {
  const binary = { schema: { type: 'string', format: 'binary' } };
  const example = modelIfLoaded && schemas.exampleOf(modelIfLoaded);
  return {
    operationId: id,
    summary: 'Run the model on tensors',
    description:
      'Data of tensors is JSON, flat or nested, or follows the JSON: then the header ' +
      'Inference-Header-Content-Length says how long that is, and `binary_data_size` how long the data.',
    tags: [TAG.name],
    parameters: [TIMEOUT_PARAMETER],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: schemaReference('V2InferRequest'),
          ...(example && { example }),
        },
        'application/octet-stream': binary,
      },
    },
    responses: {
      200: {
        ...jsonResponse({
          description: 'The answer of the model.',
          schema: 'V2InferAnswer',
          headers: {
            ...ANALYSIS_HEADERS,
            ...TRUNCATED_HEADER,
            'Inference-Header-Content-Length': JSON_LENGTH_HEADER,
          },
        }),
        content: {
          'application/json': { schema: schemaReference('V2InferAnswer') },
          'application/octet-stream': binary,
        },
      },
      ...Object.fromEntries(
        Object.entries(ERRORS).map(([status, description]) => [status, error(description)]),
      ),
    },
  };
}

const JSON_LENGTH_HEADER = {
  description: 'Bytes of the JSON, where data of tensors follows it',
  schema: { type: 'integer', minimum: 0 },
};

function error(description: string): Node {
  return jsonResponse({ description, schema: 'V2Error' });
}
