import { refusalOf } from '../../../services/inference';
import type { Access, ProtectedResource } from '../../../serving/access';
import { ERRORS, type ServiceError } from '../../../serving/errors';
import type { ServiceRequest } from '../../../serving/service-request';
import { singleModelCatalogue } from '../../../tasks/catalogue';
import type { ServedModel } from '../../../tasks/served';
import { ANALYSIS_ERRORS, type LegacyOperation } from '../../openapi/legacy-operation';
import { TRUNCATED_HEADER } from '../../openapi/responses';
import { type ErrorShape, modelBelow, type Protocol, type ProtocolOptions } from '../../protocol';
import type { Route } from '../../route';
import { grpcService } from '../grpc/service';
import { readInferRequest } from '../request-body';
import type { OpenInferenceModel } from '../served-model';
import { OpenInferenceModels } from '../served-models';
import { describeInference, numberBytes } from './answer';
import { CHANGES, repositoryEndpoints } from './repository';
import { ANSWERS, errorAnswer, exampleOf, inferAnswer, inferRequest } from './schemas';

const LIVE = '/v2/health/live';
const READY = '/v2/health/ready';
const MODELS = '/v2/models/';
const STATISTICS = `${MODELS}stats`;

/** What asking for a model, or for readiness, may answer. */
const UNREADY = { 503: 'The model is not loaded, or cannot be asked for now.' };

const INFER_ERRORS = {
  400: 'The body is not as it has to be, or the model cannot be asked this.',
  413: 'The body is over BODY_LIMIT, a tensor has more elements than MAX_LIST_LENGTH, or the response would be over RESPONSE_LIMIT.',
  415: 'The Content-Encoding is unknown.',
  503: 'The model is not loaded, the queue is full, or the service is shutting down.',
  504: ANALYSIS_ERRORS[504],
};

const INFER_HEADERS = {
  ...TRUNCATED_HEADER,
  'Inference-Header-Content-Length': {
    description: 'Bytes of the JSON, where data of tensors follows it',
    schema: { type: 'integer', minimum: 0 },
  },
};

/** The protocol over HTTP, as tritonclient.http speaks it, of a service of one model. */
export function openInference(served: ServedModel, surroundings: ProtocolOptions): Protocol {
  const catalogue = singleModelCatalogue(served);
  return openInferenceOf(new OpenInferenceModels(() => catalogue, surroundings), surroundings);
}

/** The same of all models that can be named. Its paths are those of this moment. */
export function openInferenceOf(
  models: OpenInferenceModels,
  surroundings: ProtocolOptions,
): Protocol {
  const server = get('V2Server', 'What this server is', 'Server');
  const live = get('V2Live', 'Whether the process responds', 'Live');
  const ready = get('V2Ready', 'Whether requests should be sent here', 'Ready', UNREADY);
  const stats = get('V2Stats', 'What the models have done', 'Statistics');
  const byPath = models.byPath().map(([path, model]) => ({
    path: `${MODELS}${path}`,
    model,
    id: path.includes('/') ? 'V2Version' : 'V2Model',
  }));
  // Of several models the document names each operation after its model.
  const isAlone = models.repository === null;
  const named = byPath.map(({ id, ...one }) => ({
    ...one,
    id: isAlone ? id : `V2${one.path.slice('/v2/models'.length).replaceAll(/[^A-Za-z0-9]+/g, '_')}`,
  }));
  return {
    routes: [
      ...named.map(({ path, id, model }) =>
        inferEndpoint(path, { id, responseLimit: surroundings.responseLimit }, model),
      ),
      ...(models.repository ? repositoryEndpoints(models.repository) : []),
      server('/v2', () => models.describeServer()),
      live(LIVE, () => ({ live: true })),
      ready(READY, (call) => requireReadiness(call, { ready: true })),
      // The metadata of a model with the name "stats" is only available below its versions.
      stats(STATISTICS, (call) => models.describeStatistics(models.allFor(call))),
      ...named
        .flatMap(({ path, id, model }) => modelGets(path, id, { model, models }))
        .filter(({ path }) => path !== STATISTICS),
    ],
    prefix: '/v2/',
    resourceOf: aboutOf,
    errors: errorsOf(models),
    probes: [LIVE, READY],
    info: null,
    routesByBodyModel: true,
    grpc: () => grpcService(models, surroundings.listLength),
    tag: {
      name: 'Open Inference Protocol',
      description: 'Version 2, as tritonclient and KServe speak it',
    },
    error: { name: 'V2Error', schema: errorAnswer },
  };
}

function aboutOf(path: string): ProtectedResource | null {
  if (path.startsWith(CHANGES)) return 'management';
  return path === STATISTICS ? null : modelBelow(MODELS, path);
}

/** @param id of its operations, with what follows */
function modelGets(
  path: string,
  id: string,
  { model, models }: { readonly model: OpenInferenceModel; readonly models: OpenInferenceModels },
): readonly Route[] {
  const metadata = get(`${id}Metadata`, 'Tensors of the model', 'ModelMetadata', UNREADY);
  const ready = get(`${id}Ready`, 'Whether it can be asked', 'ModelReady', UNREADY);
  const config = get(`${id}Config`, 'As Triton configures models', 'ModelConfig', UNREADY);
  const stats = get(`${id}Stats`, 'What it has done', 'Statistics');
  const body = { name: model.name, ready: true };
  return [
    metadata(path, () => model.describeMetadata(models.versionsOf(model))),
    ready(`${path}/ready`, (call) =>
      models.repository ? model.model && body : requireReadiness(call, body),
    ),
    config(`${path}/config`, () => model.describeConfiguration()),
    stats(`${path}/stats`, () => models.describeStatistics([model])),
  ];
}

type Describe = (call: ServiceRequest) => object | Promise<object>;

function get(
  id: string,
  summary: string,
  answer: keyof typeof ANSWERS,
  errors: LegacyOperation['errors'] = {},
): (path: string, describe: Describe) => Route {
  const schema = ANSWERS[answer];
  const operation = { id, summary, answer: { name: `V2${answer}`, schema }, errors };
  return (path, describe) => ({
    method: 'GET',
    path,
    handle: async (call) => ({ body: await describe(call) }),
    describe: () => operation,
  });
}

function requireReadiness({ readiness }: ServiceRequest, body: object): object {
  const problem = readiness();
  if (problem) throw problem;
  return body;
}

function inferEndpoint(
  path: string,
  { id, responseLimit }: { readonly id: string; readonly responseLimit: number },
  served: OpenInferenceModel,
): Route {
  return {
    method: 'POST',
    path: `${path}/infer`,
    body: 'bytes',
    refusal: refusalOf(served.modelIfLoaded),
    handle: async (call) => {
      const jsonBytes = call.header('inference-header-content-length');
      const asked = readInferRequest(call.body as Buffer, jsonBytes);
      const answered = await served.infer(asked, call, numberBytes(asked));
      return describeInference(served, asked, answered, responseLimit);
    },
    describe: () => {
      const { modelIfLoaded: model } = served;
      return {
        id: `${id}Infer`,
        summary: 'Run the model on tensors',
        description:
          'Data of tensors is JSON, flat or nested, or follows the JSON: then the header ' +
          'Inference-Header-Content-Length says how long that is, and `binary_data_size` how long the data.',
        request: {
          name: 'V2InferRequest',
          schema: inferRequest(model),
          ...(model && { example: exampleOf(model) }),
        },
        answer: { name: 'V2InferAnswer', schema: inferAnswer },
        headers: INFER_HEADERS,
        isBinary: true,
        errors: INFER_ERRORS,
      };
    },
  };
}

/** As Triton's server does, but 504 for deadlines, which it has under 503 with all that may be tried again. */
function errorsOf(models: OpenInferenceModels): ErrorShape {
  const [only] = models.all;
  const known = (access: Access) =>
    models.repository === null && only
      ? `the model is "${only.name}", its one version "${only.version}"`
      : `models are ${models.namesFor(access)}`;
  return {
    status: (code) => (code === 'BODY_INVALID' ? 400 : ERRORS[code].http),
    body: (error: ServiceError, access: Access) => ({
      error:
        error.code === 'NOT_FOUND'
          ? `There is no such path here: ${known(access)}.`
          : error.message,
    }),
  };
}
