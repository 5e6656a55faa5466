import { z } from 'zod';
import { ERRORS } from '../../serving/errors';
import type { ErrorFormat, Protocol } from '../protocol';
import type { Route } from '../route';

/** Error format of Cohere's API, which returns 400 for invalid bodies. */
const errors: ErrorFormat = {
  status: (code) => (code === 'BODY_INVALID' ? 400 : ERRORS[code].http),
  body: ({ message }) => ({ message }),
};

export function cohereProtocol(routes: readonly Route[]): Protocol {
  return {
    routes,
    prefix: null,
    errors,
    probes: [],
    info: null,
    routesByBodyModel: true,
    tag: { name: 'Cohere', description: "Embeddings and reranking with Cohere's API." },
    error: { name: 'CohereError', schema: z.object({ message: z.string() }) },
  };
}
