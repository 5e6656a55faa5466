import path from 'node:path';
import { ServiceError } from '../../../serving/errors';
import { type Call, refusalOf } from '../../endpoint';
import type { Counted, GrpcService } from '../../grpc-service';
import { VERSION } from '../model';
import type { ServedModel } from '../served-model';
import { type ModelInferRequest, readInferRequest, writeInferAnswer } from './messages';

/** Far more than a request has beside the elements of lists. */
const OTHER_FIELDS = 1000;

/** Of ModelInferRequest, in which all lists are bounded; messages of other methods have none. */
const PARAMETERS: Counted = { 2: {} };
const COUNTED: Counted = {
  4: PARAMETERS,
  5: {
    3: 'packed', // shape
    4: PARAMETERS,
    // Contents: all but FP32 and FP64, which are cheap to read.
    5: { 1: 'packed', 2: 'packed', 3: 'packed', 4: 'packed', 5: 'packed' },
  },
  6: { 2: PARAMETERS },
};

interface OfModel {
  readonly name: string;
  readonly version: string;
}

/**
 * The protocol over gRPC, as tritonclient.grpc speaks it.
 *
 * @param mostElements of a list
 */
export function grpcService(served: ServedModel, mostElements: number): GrpcService {
  const ofModel = (describe: (call: Call) => object) => (question: OfModel, call: Call) => {
    requireModel(served, question);
    return { body: describe(call) };
  };
  return {
    name: 'inference.GRPCInferenceService',
    protos: { folder: path.join(__dirname, 'protos'), file: 'grpc_service.proto' },
    probes: ['ServerLive', 'ServerReady'],
    analyses: ['ModelInfer'],
    // Each element of a list may be a field, in two inputs.
    fields: { counted: COUNTED, most: OTHER_FIELDS + 2 * mostElements },
    refusal: refusalOf(served.modelIfLoaded),
    methods: {
      ServerLive: () => ({ body: { live: true } }),
      ServerReady: (_: never, { readiness }: Call) => ({ body: { ready: readiness() === null } }),
      ServerMetadata: () => ({ body: served.describeServer() }),
      ModelReady: ofModel(({ readiness }) => ({ ready: readiness() === null })),
      ModelMetadata: ofModel(() => served.describeMetadata()),
      ModelConfig: ofModel(() => ({ config: served.describeConfiguration() })),
      ModelStatistics: async (question: OfModel) => {
        if (question.name !== '') requireModel(served, question); // else all
        return { body: await served.describeStatistics() };
      },
      ModelInfer: async (request: ModelInferRequest, call: Call) => {
        requireModel(served, { name: request.model_name, version: request.model_version });
        const asked = readInferRequest(request);
        const answered = await served.model.infer(asked, () => call.inferOptions(asked.timeoutMs));
        const { inferences } = answered;
        return { body: writeInferAnswer(request, served.name, answered), inferences };
      },
    },
  };
}

/** @throws ServiceError NOT_FOUND */
function requireModel(served: ServedModel, { name, version }: OfModel): void {
  if (name !== served.name) {
    throw new ServiceError('NOT_FOUND', `There is no such model here: expected "${served.name}".`);
  }
  if (version !== '' && version !== VERSION) {
    throw new ServiceError('NOT_FOUND', `There is no such version: expected "${VERSION}" or none.`);
  }
}
