import path from 'node:path';
import { ServiceError } from '../../../serving/errors';
import type { ServiceRequest } from '../../../serving/service-request';
import { listVisible, type Repository } from '../../../tasks/model-repository';
import type { CountedFields, GrpcService } from '../../grpc-service';
import type { OpenInferenceModel } from '../open-inference-model';
import type { OpenInferenceModels } from '../open-inference-models';
import { infer, modelStreamInfer } from './infer';
import type { ModelInferRequest } from './messages';

/** Maximum number of fields besides list elements, far more than valid requests contain. */
const OTHER_FIELDS = 1000;

/**
 * Counted fields of ModelInferRequest, by field number. Other messages contain no repeated fields.
 */
const PARAMETERS: CountedFields = { 2: {} };
const COUNTED: CountedFields = {
  4: PARAMETERS,
  5: {
    3: 'packed', // shape
    4: PARAMETERS,
    // Contents without FP32 and FP64, which are cheap to decode.
    5: { 1: 'packed', 2: 'packed', 3: 'packed', 4: 'packed', 5: 'packed' },
  },
  6: { 2: PARAMETERS },
};

interface OfModel {
  readonly name: string;
  readonly version: string;
}

/**
 * Creates the gRPC service of the Open Inference Protocol.
 *
 * @param mostElements maximum number of elements of a list
 */
export function grpcService(models: OpenInferenceModels, mostElements: number): GrpcService {
  const ofModel =
    (describe: (model: OpenInferenceModel, call: ServiceRequest) => object) =>
    (question: OfModel, call: ServiceRequest) => ({
      body: describe(models.find(question.name, question.version, call), call),
    });
  const changing = async (change: (repository: Repository) => Promise<unknown>) => {
    if (!models.repository)
      throw new ServiceError(
        'NOT_FOUND',
        'This server does not load or unload models through this API.',
      );
    return { body: (await change(models.repository)) as object };
  };
  return {
    name: 'inference.GRPCInferenceService',
    protos: { folder: path.join(__dirname, 'protos'), file: 'grpc_service.proto' },
    probes: ['ServerLive', 'ServerReady'],
    inferenceMethods: ['ModelInfer'],
    streams: { ModelStreamInfer: modelStreamInfer(models) },
    managementMethods: ['RepositoryModelLoad', 'RepositoryModelUnload'],
    // Each list element may be a field, in up to two inputs.
    fields: { counted: COUNTED, max: OTHER_FIELDS + 2 * mostElements },
    // With several models, the message selects the model, so the request is rejected after it has
    // been read.
    admissionError: (timeoutMs) => {
      const [only, ...rest] = models.all;
      return rest.length === 0 ? (only?.modelIfLoaded?.admissionError(timeoutMs) ?? null) : null;
    },
    methods: {
      ServerLive: () => ({ body: { live: true } }),
      ServerReady: (_: never, { readiness }: ServiceRequest) => ({
        body: { ready: readiness() === null },
      }),
      ServerMetadata: () => ({ body: models.describeServer() }),
      ModelReady: ofModel((model, call) => ({ ready: isReady(models, model, call) })),
      ModelMetadata: ofModel((model) => model.describeMetadata(models.versionsOf(model))),
      ModelConfig: ofModel((model) => ({ config: model.describeConfiguration() })),
      ModelStatistics: async ({ name, version }: OfModel, call: ServiceRequest) => {
        const selected = name === '' ? models.visible(call) : [models.find(name, version, call)];
        return { body: await models.describeStatistics(selected) };
      },
      ModelInfer: (request: ModelInferRequest, call: ServiceRequest) =>
        infer(models, request, call),
      RepositoryIndex: ({ ready }: { readonly ready: boolean }, { access }: ServiceRequest) =>
        changing(async (repository) => ({ models: await listVisible(repository, ready, access) })),
      RepositoryModelLoad: ({ model_name }: { readonly model_name: string }) =>
        changing(async (repository) => (await repository.load(model_name)) ?? {}),
      RepositoryModelUnload: ({ model_name }: { readonly model_name: string }) =>
        changing(async (repository) => (await repository.unload(model_name)) ?? {}),
    },
  };
}

/** Whether a model is ready. A single model is ready when the process is ready. */
function isReady(
  models: OpenInferenceModels,
  { modelIfLoaded }: OpenInferenceModel,
  { readiness }: ServiceRequest,
): boolean {
  return models.repository ? modelIfLoaded !== null : readiness() === null;
}
