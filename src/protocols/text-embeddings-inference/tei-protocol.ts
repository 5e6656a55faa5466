import { z } from 'zod';
import { ModelResolver } from '../../services/model-resolver';
import { ERRORS, type ErrorCode, type ServiceError } from '../../serving/errors';
import { type ServedModel, withCapability } from '../../tasks/served-model';
import type { ErrorFormat, Protocol, ProtocolOptions } from '../protocol';
import type { Route } from '../route';
import { embed, embedAll, embedSparse, similarity } from './embed';
import { teiInfo } from './info';
import { invocations } from './invocations';
import { predict } from './predict';
import { rerank } from './rerank';

/** Error types of text-embeddings-inference. */
const errorType = z.enum(['Validation', 'Empty', 'Overloaded', 'Backend', 'Unhealthy']);

const errorResponse = z.object({ error: z.string(), error_type: errorType });

const OVERLOADED = { type: 'Overloaded', status: 429 } as const;
const BACKEND = { type: 'Backend', status: 424 } as const;
const UNHEALTHY = { type: 'Unhealthy', status: 503 } as const;

/** Types and statuses by error code. Default: `Validation` with the status of the server's own routes. */
const ERROR_TYPES: Readonly<
  Partial<Record<ErrorCode, { readonly type: z.infer<typeof errorType>; readonly status: number }>>
> = {
  INPUT_EMPTY: { type: 'Empty', status: 400 },
  LIST_TOO_LONG: { type: 'Validation', status: 422 },
  QUEUE_FULL: OVERLOADED,
  WAIT_TOO_LONG: OVERLOADED,
  DEADLINE_TOO_CLOSE: OVERLOADED,
  DEADLINE_EXCEEDED: OVERLOADED,
  BODY_MEMORY_FULL: OVERLOADED,
  PIPELINE_FULL: OVERLOADED,
  INFERENCE_FAILED: BACKEND,
  INFERENCE_TIMEOUT: BACKEND,
  INTERNAL: BACKEND,
  MODEL_NOT_LOADED: UNHEALTHY,
  NOT_READY: UNHEALTHY,
  DRAINING: UNHEALTHY,
};

/** Error format of text-embeddings-inference: `{"error", "error_type"}` (router/src/http/server.rs). */
export const errors: ErrorFormat = {
  status: (code) => ERROR_TYPES[code]?.status ?? ERRORS[code].http,
  body: ({ code, message }: ServiceError): z.infer<typeof errorResponse> => ({
    error: code === 'INPUT_TOO_LONG' ? `Input validation error: ${message}` : message,
    error_type: ERROR_TYPES[code]?.type ?? 'Validation',
  }),
};

/** The API of text-embeddings-inference for one model; null: the model has none of its abilities. */
export function textEmbeddingsInference(
  served: ServedModel,
  options: ProtocolOptions,
): Protocol | null {
  const classifier = withCapability(served, 'text-classification');
  const rerankers = ModelResolver.ofOne(served, 'reranking');
  const embedder = withCapability(served, 'embedding');
  const sparseEmbedder = withCapability(served, 'sparse-embedding');
  const tokenEmbedder = withCapability(served, 'token-embedding');
  const routes = [
    ...(embedder ? [embed(embedder, options), similarity(embedder, options)] : []),
    ...(classifier ? [predict(classifier, options)] : []),
    ...(rerankers ? [rerank(rerankers, options)] : []),
    ...(sparseEmbedder ? [embedSparse(sparseEmbedder, options)] : []),
    ...(tokenEmbedder ? [embedAll(tokenEmbedder, options)] : []),
  ];
  const [first, ...others] = routes;
  if (first === undefined) return null;
  return teiProtocol([...routes, invocations([first, ...others])], teiInfo(served, options));
}

/** POST /rerank for all rerankers. */
export function textEmbeddingsInferenceOf(
  rerankers: ModelResolver<'reranking'>,
  options: ProtocolOptions,
): Protocol {
  return { ...teiProtocol([rerank(rerankers, options)], null), routesByBodyModel: true };
}

export function teiProtocol(routes: readonly Route[], info: Protocol['info']): Protocol {
  return {
    routes,
    prefix: null,
    errors,
    probes: [],
    info,
    tag: {
      name: 'text-embeddings-inference',
      description: 'The API of text-embeddings-inference, as far as the model supports it.',
    },
    error: { name: 'TeiError', schema: errorResponse },
  };
}
