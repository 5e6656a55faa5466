import { z } from 'zod';
import { ModelResolver } from '../../services/model-resolver';
import { ERRORS, type ErrorCode, type ServiceError } from '../../serving/errors';
import type { ServedModel } from '../../tasks/served-model';
import type { ErrorFormat, Protocol, ProtocolOptions } from '../protocol';
import { systemOne } from './systemone';

/** TypeSafe's API for one model; null: the model does not answer questions. */
export function typeSafe(served: ServedModel, options: ProtocolOptions): Protocol | null {
  const models = ModelResolver.ofOne(served, 'decision');
  return models && typeSafeOf(models, options);
}

/** TypeSafe's API for all models that answer questions. */
export function typeSafeOf(models: ModelResolver<'decision'>, options: ProtocolOptions): Protocol {
  return {
    routes: [systemOne(models, options)],
    prefix: null,
    errors,
    probes: [],
    info: null,
    routesByBodyModel: true,
    tag: { name: 'TypeSafe', description: "TypeSafe's API for decisions, `typesafe-sdk` 0.7." },
    error: { name: 'TypeSafeError', schema: errorResponse },
  };
}

const errorResponse = z.object({
  detail: z.union([
    z.string(),
    z
      .array(z.object({ loc: z.array(z.string()), msg: z.string(), type: z.string() }))
      .describe('With status 422'),
  ]),
});

/** Statuses that differ from the server's own routes. */
const STATUS: Readonly<Partial<Record<ErrorCode, number>>> = {
  LIST_TOO_LONG: 422,
  MODEL_NOT_LOADED: 503,
};

const errors: ErrorFormat = {
  status: statusOf,
  body: (error): z.infer<typeof errorResponse> => ({
    detail: statusOf(error.code) === 422 ? [detailOf(error)] : error.message,
  }),
  requestIdHeader: 'X-TypeSafe-Request-Id',
};

function statusOf(code: ErrorCode): number {
  return STATUS[code] ?? ERRORS[code].http;
}

/** Clients print `loc` without "body", then `msg`. */
function detailOf({ code, message }: ServiceError) {
  const [, path, problem] = /^([^\s:]+): ([\s\S]*)$/.exec(message) ?? [];
  const loc = path === undefined || path === 'body' ? ['body'] : ['body', path];
  return { loc, msg: problem ?? message, type: code.toLowerCase() };
}
