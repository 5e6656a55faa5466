import { z } from 'zod';
import { requireListLength } from '../../services/inference';
import { ERRORS } from '../../serving/errors';
import { parseJson } from '../../serving/json';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import { TRUNCATED_HEADER } from '../openapi/responses';
import { modelBelow, type Protocol, type ProtocolOptions } from '../protocol';
import { type Method, type Route, route } from '../route';
import { listOf, object } from '../validation/fields';
import { readInput } from './input';
import { ERROR_SCHEMA, errors } from './torchserve-errors';
import type { TorchServeModels } from './torchserve-models';

const PREDICTIONS = '/predictions/';
const V1_MODELS = '/v1/models/';
const PING = '/ping';

const scores = z.record(z.string(), z.number()).describe('Scores by label');
const EXAMPLE = { POSITIVE: 0.9823, NEGATIVE: 0.0177 };

const INFERENCE_ERRORS = [...MODEL_ERRORS, 'BODY_INVALID', 'NOT_FOUND', 'NOT_READY'] as const;

/** The inference API of TorchServe. */
export function torchServeInference(models: TorchServeModels): Protocol {
  const paths = [`${PREDICTIONS}:model`, `${PREDICTIONS}:model/:version`];
  return {
    routes: paths
      .flatMap((path) => [predictions(models, path, 'POST'), predictions(models, path, 'PUT')])
      .concat(ping),
    prefix: PREDICTIONS,
    resourceOf: (path) => modelBelow(PREDICTIONS, path),
    errors,
    probes: [PING],
    info: null,
    tag: { name: 'TorchServe', description: "TorchServe's inference API." },
    error: ERROR_SCHEMA,
  };
}

/** Version 1 of KServe's protocol, which TorchServe supports as well. */
export function kserveV1(models: TorchServeModels, { listLength }: ProtocolOptions): Protocol {
  return {
    routes: [predict(models, listLength)],
    prefix: null,
    resourceOf: (path) => modelBelow(V1_MODELS, path),
    errors,
    probes: [],
    info: null,
    tag: { name: 'KServe v1', description: 'KServe protocol, version 1.' },
    error: ERROR_SCHEMA,
  };
}

/** Classification of one input. PUT is the method of `curl -T file`. */
function predictions(models: TorchServeModels, path: string, method: Method): Route {
  const ofVersion = path.endsWith('/:version') ? 'Version' : '';
  return route({
    method,
    path,
    operationId: `torchServePredictions${ofVersion}${method === 'PUT' ? 'Put' : ''}`,
    summary: `Scores of an input${ofVersion && ' by a version of a model'}`,
    description:
      'The body is the input itself, JSON with or without a field `data` or `body` around it, or a form ' +
      'with such a field.',
    schemaName: 'torchServePredictions',
    request: z.unknown(),
    response: scores,
    examples: { request: 'A warm, funny film.', response: EXAMPLE },
    errors: INFERENCE_ERRORS,
    headers: TRUNCATED_HEADER,
    isBinary: true,
    body: 'bytes',
    read: readInput,
    admissionError: models.admissionError,
    handler: async (call, value) => {
      const { scores, inferences } = await models.classify(call, [value], null);
      return { body: scores[0] as object, inferences };
    },
  });
}

const ping = route({
  method: 'GET',
  path: PING,
  operationId: 'torchServePing',
  summary: 'Readiness of the service',
  response: z.object({ status: z.string() }),
  examples: { response: { status: 'Healthy' } },
  errors: ['INTERNAL'],
  handler: ({ readiness }) =>
    readiness()
      ? { status: ERRORS.INTERNAL.http, body: { status: 'Unhealthy' } }
      : { body: { status: 'Healthy' } },
});

const instances = object({
  instances: listOf<unknown>('an array', () => null).meta({
    type: 'array',
    description: 'Inputs, each in the form of a body of /predictions',
  }),
});

function predict(models: TorchServeModels, listLength: number): Route {
  return route({
    method: 'POST',
    path: `${V1_MODELS}:model:predict`,
    operationId: 'kserveV1Predict',
    summary: 'Scores of each input',
    request: instances,
    response: z.object({ predictions: z.array(scores) }),
    examples: {
      request: { instances: ['A warm, funny film.'] },
      response: { predictions: [EXAMPLE] },
    },
    errors: [...INFERENCE_ERRORS, 'LIST_TOO_LONG'],
    headers: TRUNCATED_HEADER,
    body: 'bytes', // clients send JSON with any content type
    read: ({ body }) => parseJson(body),
    admissionError: models.admissionError,
    handler: async (call, { instances: values }) => {
      requireListLength(values, 'instances', listLength);
      const { scores, inferences } = await models.classify(call, values, 'instances');
      return { body: { predictions: scores }, inferences };
    },
  });
}
