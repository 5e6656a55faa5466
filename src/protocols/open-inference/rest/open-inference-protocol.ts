import { admissionErrorOf } from '../../../services/inference';
import type { Access, ProtectedResource } from '../../../serving/access';
import { ERRORS, type ServiceError } from '../../../serving/errors';
import type { ServiceRequest } from '../../../serving/service-request';
import type { ServedModel } from '../../../tasks/served-model';
import { singleModelCatalogue } from '../../../tasks/served-model';
import { TRUNCATED_HEADER } from '../../openapi/responses';
import { type ErrorFormat, modelBelow, type Protocol, type ProtocolOptions } from '../../protocol';
import { type Route, route } from '../../route';
import { grpcService } from '../grpc/open-inference-service';
import type { OpenInferenceModel } from '../open-inference-model';
import { OpenInferenceModels } from '../open-inference-models';
import { readInferRequest } from '../request-body';
import { inferResponse, numberBytes } from './infer-response';
import { REPOSITORY_MODELS, repositoryRoutes } from './repository-routes';
import {
  errorResponse,
  exampleOf,
  inferRequestSchema,
  inferResponseSchema,
  RESPONSES,
} from './schemas';

const LIVE = '/v2/health/live';
const READY = '/v2/health/ready';
const MODELS = '/v2/models/';
const STATISTICS = `${MODELS}stats`;

const INFER_HEADERS = {
  ...TRUNCATED_HEADER,
  'Inference-Header-Content-Length': {
    description: 'Length of the JSON in bytes, if binary tensor data follow',
    schema: { type: 'integer', minimum: 0 },
  },
};

/** The Open Inference Protocol over HTTP for one model, as for tritonclient.http. */
export function openInference(served: ServedModel, options: ProtocolOptions): Protocol {
  const catalogue = singleModelCatalogue(served);
  return openInferenceModels(new OpenInferenceModels(() => catalogue, options), options);
}

/** The Open Inference Protocol over HTTP for all current models. */
export function openInferenceModels(
  models: OpenInferenceModels,
  options: ProtocolOptions,
): Protocol {
  const modelRoutes = models.byPath().flatMap(([path, model]) => {
    const route = { path: `${MODELS}${path}`, id: operationPrefix(path, models) };
    return [
      infer(route, model, options),
      ...describeRoutes(route, model, models).filter((one) => one.path !== STATISTICS),
    ];
  });
  return {
    routes: [
      ...modelRoutes,
      ...(models.repository ? repositoryRoutes(models.repository) : []),
      get('/v2', 'V2Server', 'Describe the server', 'Server', () => models.describeServer()),
      get(LIVE, 'V2Live', 'Liveness probe', 'Live', () => ({ live: true })),
      get(READY, 'V2Ready', 'Readiness probe', 'Ready', (call) =>
        requireReadiness(call, { ready: true }),
      ),
      // The metadata of a model with the name "stats" is only available below its versions.
      get(STATISTICS, 'V2Stats', 'Statistics of all models', 'Statistics', (call) =>
        models.describeStatistics(models.visible(call)),
      ),
    ],
    prefix: '/v2/',
    resourceOf,
    errors: errorsOf(models),
    probes: [LIVE, READY],
    info: null,
    routesByBodyModel: true,
    grpc: () => grpcService(models, options.listLength),
    tag: {
      name: 'Open Inference Protocol',
      description: 'Version 2, for clients of Triton and KServe',
    },
    error: { name: 'V2Error', schema: errorResponse },
  };
}

/** Prefix of operation IDs: of several models each has its own operations. */
function operationPrefix(path: string, { repository }: OpenInferenceModels): string {
  if (repository !== null) return `V2_${path.replaceAll(/[^A-Za-z0-9]+/g, '_')}`;
  return path.includes('/') ? 'V2Version' : 'V2Model';
}

/** Resource of a path for the scope of API keys. */
function resourceOf(path: string): ProtectedResource | null {
  if (path.startsWith(REPOSITORY_MODELS)) return 'management';
  return path === STATISTICS ? null : modelBelow(MODELS, path);
}

/** Path of a model or version, and the prefix of its operation IDs. */
interface ModelPath {
  readonly path: string;
  readonly id: string;
}

/** The GET routes of a model or version. */
function describeRoutes(
  { path, id }: ModelPath,
  model: OpenInferenceModel,
  models: OpenInferenceModels,
): readonly Route[] {
  const body = { name: model.name, ready: true };
  return [
    get(path, `${id}Metadata`, 'Tensors of the model', 'ModelMetadata', () =>
      model.describeMetadata(models.versionsOf(model)),
    ),
    get(`${path}/ready`, `${id}Ready`, 'Readiness of the model', 'ModelReady', (call) =>
      models.repository ? model.model && body : requireReadiness(call, body),
    ),
    get(`${path}/config`, `${id}Config`, 'Configuration as in Triton', 'ModelConfig', () =>
      model.describeConfiguration(),
    ),
    get(`${path}/stats`, `${id}Stats`, 'Statistics of the model', 'Statistics', () =>
      models.describeStatistics([model]),
    ),
  ];
}

/** A GET route. @param response key of the schema of its response in `RESPONSES` */
function get(
  path: string,
  operationId: string,
  summary: string,
  response: keyof typeof RESPONSES,
  describe: (call: ServiceRequest) => object | Promise<object>,
): Route {
  const canFail = response !== 'Server' && response !== 'Live' && response !== 'Statistics';
  return route({
    method: 'GET',
    path,
    operationId,
    schemaName: `V2${response}`,
    summary,
    response: RESPONSES[response],
    errors: canFail ? ['NOT_READY'] : [],
    handler: async (call) => ({ body: await describe(call) }),
  });
}

/** @throws ServiceError NOT_READY, DRAINING */
function requireReadiness({ readiness }: ServiceRequest, body: object): object {
  const problem = readiness();
  if (problem) throw problem;
  return body;
}

/** POST /v2/models/NAME/infer: runs the model on tensors. */
function infer(
  { path, id }: ModelPath,
  served: OpenInferenceModel,
  { responseLimit }: ProtocolOptions,
): Route {
  const { modelIfLoaded: model } = served;
  return route({
    method: 'POST',
    path: `${path}/infer`,
    body: 'bytes',
    operationId: `${id}Infer`,
    schemaName: 'V2Infer',
    summary: 'Run the model on tensors',
    description:
      'Tensor data is JSON, flat or nested, or binary data after the JSON: then the header ' +
      'Inference-Header-Content-Length specifies the length of the JSON, and `binary_data_size` the length of the data.',
    request: () => inferRequestSchema(model),
    response: inferResponseSchema,
    examples: model && { request: exampleOf(model) },
    headers: INFER_HEADERS,
    isBinary: true,
    errors: [
      'BODY_INVALID',
      'INPUT_LENGTH',
      'LIST_TOO_LONG',
      'RESPONSE_TOO_LARGE',
      'NOT_READY',
      'QUEUE_FULL',
      'WAIT_TOO_LONG',
      'DEADLINE_TOO_CLOSE',
      'DEADLINE_EXCEEDED',
      'INFERENCE_TIMEOUT',
    ],
    admissionError: admissionErrorOf(model),
    handler: async (call) => {
      const jsonBytes = call.header('inference-header-content-length');
      const request = readInferRequest(call.body as Buffer, jsonBytes);
      const result = await served.infer(request, call, numberBytes(request));
      return inferResponse(served, request, result, responseLimit);
    },
  });
}

/** Error format of Triton's server, except for deadlines: 504 instead of 503. */
function errorsOf(models: OpenInferenceModels): ErrorFormat {
  const [only] = models.all;
  const hint = (access: Access) =>
    models.repository === null && only
      ? `the model is "${only.name}", its one version "${only.version}"`
      : `models are ${models.namesFor(access)}`;
  return {
    status: (code) => (code === 'BODY_INVALID' ? 400 : ERRORS[code].http),
    body: (error: ServiceError, access: Access) => ({
      error: error.code === 'NOT_FOUND' ? `Path not found: ${hint(access)}.` : error.message,
    }),
  };
}
