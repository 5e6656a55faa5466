import { z } from 'zod';
import { ModelResolver } from '../../services/model-resolver';
import { ERRORS, type ErrorCode, type ServiceError } from '../../serving/errors';
import type { ServedModel } from '../../tasks/served-model';
import type { ErrorFormat, Protocol, ProtocolOptions } from '../protocol';
import { type Route, routeAt } from '../route';
import { embeddings } from './embeddings';

/** OpenAI's API for one model; null: the model does not embed texts. */
export function openAi(served: ServedModel, options: ProtocolOptions): Protocol | null {
  const models = ModelResolver.ofOne(served, 'embedding');
  return models && openAiOf(models, options);
}

/** OpenAI's API for all models. */
export function openAiOf(models: ModelResolver<'embedding'>, options: ProtocolOptions): Protocol {
  const route = embeddings(models, options);
  // Also at the path of text-embeddings-inference.
  return openAiProtocol([route, routeAt('/embeddings', 'teiEmbeddings', route)]);
}

/** @param format error format of the routes; default: NOT_FOUND means that the model does not exist */
export function openAiProtocol(routes: readonly Route[], format: ErrorFormat = errors): Protocol {
  return {
    routes,
    prefix: null,
    errors: format,
    probes: [],
    info: null,
    routesByBodyModel: true,
    tag: { name: 'OpenAI', description: "OpenAI's API, for the `openai` clients." },
    error: { name: 'OpenAIError', schema: errorResponse },
  };
}

export const errorResponse = z.object({
  error: z.object({
    message: z.string(),
    type: z.string(),
    param: z.string().nullable().describe('The invalid field'),
    code: z.string().nullable(),
  }),
});

/** Statuses that differ from the server's own routes. OpenAI's clients retry 429 and 5xx. */
const STATUS: Readonly<Partial<Record<ErrorCode, number>>> = {
  BODY_INVALID: 400,
  INPUT_TOO_LONG: 400,
  LIST_TOO_LONG: 400,
  MODEL_NOT_LOADED: 503,
};

const CODES: Readonly<Partial<Record<ErrorCode, string>>> = {
  INPUT_TOO_LONG: 'context_length_exceeded',
  KEY_NEEDED: 'invalid_api_key',
};

/** Error format of OpenAI's API. */
export const errors: ErrorFormat = {
  status: statusOf,
  body: (error) =>
    error.code === 'NOT_FOUND'
      ? errorBody(error, 'model', 'model_not_found')
      : errorBody(error, fieldOf(error), CODES[error.code] ?? null),
};

/** Error format of OpenAI's API for files and batches. */
export const fileErrors: ErrorFormat = {
  status: statusOf,
  body: (error) => errorBody(error, fieldOf(error), CODES[error.code] ?? null),
};

function errorBody(
  { code: errorCode, message }: ServiceError,
  param: string | null,
  code: string | null,
): z.infer<typeof errorResponse> {
  const type = statusOf(errorCode) < 500 ? 'invalid_request_error' : 'server_error';
  return { error: { message, type, param, code } };
}

/** Field at the start of a message. */
function fieldOf({ message }: ServiceError): string | null {
  return /^([a-z_]+)[:[]/.exec(message)?.[1] ?? null;
}

function statusOf(code: ErrorCode): number {
  return STATUS[code] ?? ERRORS[code].http;
}
