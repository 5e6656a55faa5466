import path from 'node:path';
import { ServiceError } from '../../../../errors';
import type { Call, GrpcService } from '../../../../grpc/service';
import { infer } from '../infer';
import { VERSION } from '../model';
import type { ServedModel } from '../served-model';
import { type ModelInferRequest, readInferRequest, writeInferAnswer } from './messages';

interface OfModel {
  readonly name: string;
  readonly version: string;
}

/** The protocol over gRPC, as tritonclient.grpc speaks it. */
export function grpcService(served: ServedModel): GrpcService {
  return {
    name: 'inference.GRPCInferenceService',
    protos: { folder: path.join(__dirname, 'protos'), file: 'grpc_service.proto' },
    probes: ['ServerLive', 'ServerReady'],
    analyses: ['ModelInfer'],
    refusal: (timeoutMs) => served.modelIfLoaded?.refusal(timeoutMs) ?? null,
    methods: {
      ServerLive: () => ({ live: true }),
      ServerReady: (_: never, { readiness }: Call) => ({ ready: readiness() === null }),
      ServerMetadata: () => served.describeServer(),
      ModelReady: (question: OfModel, { readiness }: Call) => {
        requireModel(served, question);
        return { ready: readiness() === null };
      },
      ModelMetadata: (question: OfModel) => {
        requireModel(served, question);
        return served.describeMetadata();
      },
      ModelConfig: (question: OfModel) => {
        requireModel(served, question);
        return { config: served.describeConfiguration() };
      },
      ModelStatistics: (question: OfModel) => {
        if (question.name !== '') requireModel(served, question); // else all
        return served.describeStatistics();
      },
      ModelInfer: async (request: ModelInferRequest, call: Call) => {
        requireModel(served, { name: request.model_name, version: request.model_version });
        const asked = readInferRequest(request);
        const answered = await infer(served.model, asked, () => call.inferOptions(asked.timeoutMs));
        call.note(answered.inferences);
        return writeInferAnswer(request, served.name, answered);
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
