import { z } from 'zod';
import { ERRORS, type ErrorCode, type ServiceError } from '../../serving/errors';
import type { ErrorShape } from '../protocol';

export const errorAnswer = z.object({
  error: z.object({
    message: z.string(),
    type: z.string(),
    param: z.string().nullable().describe('The field at fault'),
    code: z.string().nullable(),
  }),
});

/** Statuses that are others than on the service's own routes: its clients repeat 429 and all from 500 on. */
const STATUS: Readonly<Partial<Record<ErrorCode, number>>> = {
  BODY_INVALID: 400,
  INPUT_TOO_LONG: 400,
  LIST_TOO_LONG: 400,
  MODEL_NOT_LOADED: 503,
};

const CODES: Readonly<Partial<Record<ErrorCode, string>>> = {
  NOT_FOUND: 'model_not_found',
  INPUT_TOO_LONG: 'context_length_exceeded',
  KEY_NEEDED: 'invalid_api_key',
};

/** As its clients know them: `{"error": {"message", "type", "param", "code"}}`. */
export const errors: ErrorShape = {
  status: statusOf,
  body: ({ code, message }: ServiceError): z.infer<typeof errorAnswer> => ({
    error: {
      message,
      type: statusOf(code) < 500 ? 'invalid_request_error' : 'server_error',
      param: code === 'NOT_FOUND' ? 'model' : (/^([a-z_]+)[:[]/.exec(message)?.[1] ?? null),
      code: CODES[code] ?? null,
    },
  }),
};

function statusOf(code: ErrorCode): number {
  return STATUS[code] ?? ERRORS[code].http;
}
