import type { ServiceError } from '../../../serving/errors';
import { FLOAT_BYTES } from '../../../serving/json';
import type { ServiceResponse } from '../../../serving/request-context';
import type { ServiceRequest } from '../../../serving/service-request';
import type { StreamMethod } from '../../grpc-service';
import type { OpenInferenceModels } from '../open-inference-models';
import { type ModelInferRequest, readInferRequest, writeInferResponse } from './messages';

/** Maximum number of concurrent messages of a stream, enough to fill the batches of a model. */
const MOST_AT_ONCE = 64;

/**
 * Memory and time of a number in typed contents, in equivalent bytes. A raw number takes 4 bytes.
 */
const TYPED_BYTES = 64;

/** Header that requests gRPC status errors, which end the stream, instead of error messages. */
const STATUS_HEADER = 'triton_grpc_error';

/** Handles a ModelInfer request. */
export async function infer(
  models: OpenInferenceModels,
  request: ModelInferRequest,
  call: ServiceRequest,
): Promise<ServiceResponse> {
  const served = models.find(request.model_name, request.model_version, call);
  const inferRequest = readInferRequest(request);
  const isRaw = request.raw_input_contents.length > 0;
  const result = await served.infer(inferRequest, call, () => (isRaw ? FLOAT_BYTES : TYPED_BYTES));
  const { inferences } = result;
  return { body: writeInferResponse(request, served, result), inferences };
}

/**
 * Creates the ModelStreamInfer handler. Each message has one response, in message order. Each
 * response is marked as final, as in Triton; no empty final response follows, even if the request
 * sets triton_enable_empty_final_response.
 */
export function modelStreamInfer(models: OpenInferenceModels): StreamMethod {
  return {
    maxConcurrentMessages: MOST_AT_ONCE,
    isSingleRequest: false,
    open: (stream) => {
      const isWithStatus = stream.header(STATUS_HEADER) === 'true';
      return {
        handle: async (request: ModelInferRequest, call: ServiceRequest) => {
          const { body, inferences = [] } = await infer(models, request, call);
          const parameters = {
            triton_final_response: { bool_param: true },
            // ModelInfer reports truncation in its trailers.
            ...(inferences.some(({ truncated }) => truncated) && {
              input_truncated: { bool_param: true },
            }),
          };
          return { body: [{ infer_response: { ...body, parameters } }], inferences };
        },
        errorMessage: ({ message }: ServiceError, request: ModelInferRequest | null) =>
          isWithStatus
            ? null
            : { error_message: message, infer_response: { id: request?.id ?? '' } },
      };
    },
  };
}
