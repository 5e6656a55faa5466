import { z } from 'zod';
import { requireListLength } from '../../services/inference';
import { ERRORS } from '../../serving/errors';
import { parseJson } from '../../serving/json';
import { TRUNCATED_HEADER } from '../openapi/responses';
import { modelBelow, type Protocol, type ProtocolOptions } from '../protocol';
import { type Method, parseBody, type Route } from '../route';
import { listOf, object } from '../validation/fields';
import { readInput } from './input';
import type { NamedModels } from './models';
import { errorAnswer, errors } from './torchserve-errors';
import { V1_MODELS, v1ModelRoutes } from './v1-models';

const PREDICTIONS = '/predictions/';
const PING = '/ping';

const scores = z.record(z.string(), z.number()).describe('Labels and their probabilities');
const status = z.object({ status: z.string() });
const EXAMPLE = { POSITIVE: 0.9823, NEGATIVE: 0.0177 };

const RUN_ERRORS = {
  400: 'The body is not what the model takes.',
  404: 'There is no such model, or no such version: the message lists what there is.',
  413: 'The body is over BODY_LIMIT, the list over MAX_LIST_LENGTH, or the response would be over RESPONSE_LIMIT.',
  503: 'The model is not loaded or raised an error, the queue is full, or the service is ending.',
  504: 'The deadline passed before the model ran, or it ran longer than it may.',
};

const ERROR = { name: 'TorchServeError', schema: errorAnswer };

/** The inference API of TorchServe. */
export function torchServeInference(models: NamedModels): Protocol {
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
    error: ERROR,
  };
}

/** The first version of KServe's protocol, as TorchServe speaks it. */
export function kserveV1(models: NamedModels, { listLength }: ProtocolOptions): Protocol {
  return {
    routes: [predict(models, listLength), ...v1ModelRoutes(models)],
    prefix: `${V1_MODELS}/`,
    resourceOf: (path) => modelBelow(`${V1_MODELS}/`, path),
    errors,
    probes: [],
    info: null,
    tag: { name: 'KServe v1', description: 'Version 1 of the protocol of KServe.' },
    error: ERROR,
  };
}

/** One input in the body, and what its labels are given. PUT is what `curl -T file` sends. */
function predictions(models: NamedModels, path: string, method: Method): Route {
  const ofVersion = path.endsWith('/:version') ? 'Version' : '';
  return {
    method,
    path,
    body: 'bytes',
    refusal: (timeoutMs, parameters) => models.refusal(timeoutMs, parameters),
    handle: async (call) => {
      const value = readInput(call);
      const answered = await models.classify(call, [value], null);
      return { body: answered.scores[0] as object, inferences: answered.inferences };
    },
    describe: () => ({
      id: `torchServePredictions${ofVersion}${method === 'PUT' ? 'Put' : ''}`,
      summary: `What a model${ofVersion && ' of a version'} gives the labels of an input`,
      description:
        'The body is the input itself, JSON with or without a field `data` or `body` around it, or a form ' +
        'with such a field.',
      request: { name: 'TorchServeInput', schema: z.unknown(), example: 'A warm, funny film.' },
      answer: { name: 'TorchServeScores', schema: scores, example: EXAMPLE },
      headers: TRUNCATED_HEADER,
      isBinary: true,
      errors: RUN_ERRORS,
    }),
  };
}

const ping: Route = {
  method: 'GET',
  path: PING,
  handle: ({ readiness }) =>
    readiness()
      ? { status: ERRORS.INTERNAL.http, body: { status: 'Unhealthy' } }
      : { body: { status: 'Healthy' } },
  describe: () => ({
    id: 'torchServePing',
    summary: 'Whether requests should be sent here',
    answer: { name: 'TorchServeStatus', schema: status, example: { status: 'Healthy' } },
    errors: { 500: 'They should not: `{"status": "Unhealthy"}`.' },
  }),
};

const instances = object({
  instances: listOf<unknown>('an array', () => null).meta({
    type: 'array',
    description: 'Inputs, each as in the body of /predictions',
  }),
});
const predictionsAnswer = z.object({ predictions: z.array(scores) });

function predict(models: NamedModels, listLength: number): Route {
  return {
    method: 'POST',
    path: `${V1_MODELS}/:model:predict`,
    body: 'bytes',
    refusal: (timeoutMs, parameters) => models.refusal(timeoutMs, parameters),
    handle: async (call) => {
      // Clients send it as what they like.
      const { instances: values } = parseBody(instances, {
        body: parseJson(call.body),
      });
      requireListLength(values, 'instances', listLength);
      const answered = await models.classify(call, values, 'instances');
      return { body: { predictions: answered.scores }, inferences: answered.inferences };
    },
    describe: () => ({
      id: 'kserveV1Predict',
      summary: 'What a model gives the labels of each input',
      request: {
        name: 'KServeV1Request',
        schema: instances,
        example: { instances: ['A warm, funny film.'] },
      },
      answer: {
        name: 'KServeV1Answer',
        schema: predictionsAnswer,
        example: { predictions: [EXAMPLE] },
      },
      headers: TRUNCATED_HEADER,
      errors: RUN_ERRORS,
    }),
  };
}
