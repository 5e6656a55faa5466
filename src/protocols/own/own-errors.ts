import { ANALYSIS_ERRORS, type Failure } from '../openapi/legacy-operation';
import { RETRY_AFTER } from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';

/**
 * What an analysis route may answer but 200, with examples.
 *
 * @param refused an input that the model cannot be asked
 * @param field of its body
 */
export function errorsOf(
  refused: string,
  field: string,
  { bodyLimit, requestTimeoutMs }: ProtocolOptions,
): Readonly<Record<number, Failure>> {
  const told = {
    400: refused,
    413: `The body is over the limit of ${bodyLimit} bytes.`,
    415: 'The Content-Type must be application/json.',
    422: `${field}: is required`,
    500: 'Model is not loaded.',
    503: 'The wait in the queue would be about 1240 ms, over the limit of 1000 ms.',
    504: `The deadline of ${requestTimeoutMs} ms passed before the model ran.`,
  };
  const failures = Object.entries(told).map(([status, detail]) => {
    const description = ANALYSIS_ERRORS[status as unknown as keyof typeof ANALYSIS_ERRORS];
    const headers = status === '503' ? RETRY_AFTER : {};
    return [status, { description, example: { detail }, headers }];
  });
  return Object.fromEntries(failures);
}
