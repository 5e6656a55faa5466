import { z } from 'zod';
import { ERRORS, type ErrorCode, type ServiceError } from '../../serving/errors';
import { type ServedModel, withCapability } from '../../tasks/served';
import { ModelResolver } from '../model-resolver';
import type { ErrorShape, Protocol, ProtocolOptions } from '../protocol';
import type { Route } from '../route';
import { embed, similarity } from './embed';
import { embedAll, embedSparse } from './embed-others';
import { describeInfo } from './info';
import { predict } from './predict';
import { rerank } from './rerank';

/** The error types of text-embeddings-inference that a classifier can have. */
const errorType = z.enum(['Validation', 'Empty', 'Overloaded', 'Backend', 'Unhealthy']);

const errorAnswer = z.object({ error: z.string(), error_type: errorType });

const OVERLOADED = { type: 'Overloaded', status: 429 } as const;
const BACKEND = { type: 'Backend', status: 424 } as const;
const UNHEALTHY = { type: 'Unhealthy', status: 503 } as const;

/** All others are `Validation`, with the status that they have on the service's own routes. */
const KINDS: Readonly<
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

/** As its clients know them: `{"error", "error_type"}` (router/src/http/server.rs). */
export const errors: ErrorShape = {
  status: (code) => KINDS[code]?.status ?? ERRORS[code].http,
  body: ({ code, message }: ServiceError): z.infer<typeof errorAnswer> => ({
    error: code === 'INPUT_TOO_LONG' ? `Input validation error: ${message}` : message,
    error_type: KINDS[code]?.type ?? 'Validation',
  }),
};

/** The routes of text-embeddings-inference that the model can be asked, and what it says of the model. */
export function textEmbeddingsInference(
  served: ServedModel,
  surroundings: ProtocolOptions,
): Protocol | null {
  const classifier = withCapability(served, 'classifies texts');
  const rerankers = ModelResolver.ofOne(served, 'scores pairs');
  const embedder = withCapability(served, 'embeds texts');
  const words = withCapability(served, 'weighs words');
  const tokens = withCapability(served, 'embeds tokens');
  const endpoints = [
    ...(classifier ? [predict(classifier, surroundings)] : []),
    ...(rerankers ? [rerank(rerankers, surroundings)] : []),
    ...(words ? [embedSparse(words, surroundings)] : []),
    ...(tokens ? [embedAll(tokens, surroundings)] : []),
    ...(embedder ? [embed, similarity].map((route) => route(embedder, surroundings)) : []),
  ];
  if (endpoints.length === 0) return null;
  return teiProtocol(endpoints, describeInfo(served, surroundings));
}

/** The route of all rerankers, whose requests name no model: the default one answers. */
export function textEmbeddingsInferenceOf(
  rerankers: ModelResolver<'scores pairs'>,
  surroundings: ProtocolOptions,
): Protocol {
  return { ...teiProtocol([rerank(rerankers, surroundings)], null), routesByBodyModel: true };
}

function teiProtocol(endpoints: readonly Route[], info: Protocol['info']): Protocol {
  return {
    routes: endpoints,
    prefix: null,
    errors,
    probes: [],
    info,
    tag: {
      name: 'text-embeddings-inference',
      description: 'The routes of text-embeddings-inference that the model can be asked.',
    },
    error: { name: 'TeiError', schema: errorAnswer },
  };
}
