import type { Failure } from '../openapi/operation';
import { RETRY_AFTER } from '../openapi/responses';
import type { Surroundings } from '../protocol';

/**
 * What an analysis route may answer but 200, with examples.
 *
 * @param refused an input that the model cannot be asked
 * @param field of its body
 */
export function errorsOf(
  refused: string,
  field: string,
  { bodyLimit, requestTimeoutMs }: Surroundings,
): Readonly<Record<number, Failure>> {
  const failure = (description: string, detail: string): Failure => ({
    description,
    example: { detail },
  });
  return {
    400: failure('The model cannot be asked this.', refused),
    413: failure(
      'The body is over BODY_LIMIT, or the list over MAX_LIST_LENGTH.',
      `The body is over the limit of ${bodyLimit} bytes.`,
    ),
    415: failure(
      'The Content-Type is not JSON, or the Content-Encoding is unknown.',
      'The Content-Type must be application/json.',
    ),
    422: failure(
      'The body is not JSON, or a field is missing or of the wrong type.',
      `${field}: is required`,
    ),
    500: failure(
      'The model is not loaded, or raised an error, whose message this is.',
      'Model is not loaded.',
    ),
    503: {
      ...failure(
        'The queue is full, its wait would be too long, or the service is shutting down.',
        'The wait in the queue would be about 1240 ms, over the limit of 1000 ms.',
      ),
      headers: RETRY_AFTER,
    },
    504: failure(
      'The deadline passed before the model ran, or the model ran longer than it may.',
      `The deadline of ${requestTimeoutMs} ms passed before the model ran.`,
    ),
  };
}
