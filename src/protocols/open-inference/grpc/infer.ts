import type { ServiceError } from '../../../serving/errors';
import { FLOAT_BYTES } from '../../../serving/json';
import type { ServiceResponse } from '../../../serving/request-context';
import type { ServiceRequest } from '../../../serving/service-request';
import type { StreamMethod } from '../../grpc-service';
import type { OpenInferenceModels } from '../open-inference-models';
import { type ModelInferRequest, readInferRequest, writeInferResponse } from './messages';

/** Messages of one stream that are in memory at once: enough for the batches of one model. */
const MOST_AT_ONCE = 64;

/** Of a number in a message's typed contents: its memory and time beside those of 4 bytes of raw ones. */
const TYPED_BYTES = 64;

/** With which a client chooses that errors end the stream, with a status, as they end a call. */
const STATUS_HEADER = 'triton_grpc_error';

/** ModelInfer. */
export async function infer(
  models: OpenInferenceModels,
  request: ModelInferRequest,
  call: ServiceRequest,
): Promise<ServiceResponse> {
  const served = models.find(request.model_name, request.model_version, call);
  const asked = readInferRequest(request);
  const isRaw = request.raw_input_contents.length > 0;
  const answered = await served.infer(asked, call, () => (isRaw ? FLOAT_BYTES : TYPED_BYTES));
  const { inferences } = answered;
  return { body: writeInferResponse(request, served, answered), inferences };
}

/**
 * ModelStreamInfer: each message has one answer, in the order of the messages. So that answer is the last
 * of its request, and says so as Triton's do: there is no empty one behind it, whether the request asks for
 * that (triton_enable_empty_final_response) or not.
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
            // What ModelInfer says in its trailers.
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
