import { z } from 'zod';
import { protocolPath } from '../openapi/protocol-path';
import { toSchema } from '../openapi/responses';
import type { ProtocolDescription, Surroundings } from '../protocol';
import { predictBody } from './body';

const TAG = 'text-embeddings-inference';

const predictions = z.array(z.object({ score: z.number(), label: z.string() }));
const error = z.object({
  error: z.string(),
  error_type: z.enum(['Validation', 'Empty', 'Overloaded', 'Backend', 'Unhealthy']),
});

const EXAMPLE = {
  request: { inputs: 'A warm, funny film.' },
  answer: [
    { score: 0.9823, label: 'POSITIVE' },
    { score: 0.0177, label: 'NEGATIVE' },
  ],
};

export function describe({ listLength }: Surroundings): ProtocolDescription {
  return {
    tag: {
      name: TAG,
      description: 'The routes of text-embeddings-inference that a sequence classifier has.',
    },
    paths: {
      '/predict': protocolPath({
        id: 'teiPredict',
        summary: 'Labels of a text, a pair of texts or a batch, by falling score',
        tag: TAG,
        request: 'TeiPredictRequest',
        answer: 'TeiPredictAnswer',
        error: 'TeiError',
        example: EXAMPLE,
        errors: {
          400: 'A text is empty, or the deadline no number of milliseconds.',
          413: 'The body is over BODY_LIMIT.',
          415: 'The Content-Type is not JSON, or the Content-Encoding is unknown.',
          422: `The body is not what it should be, the batch is larger than ${listLength}, or a text is too long and not to be cut.`,
          424: 'The model raised an error, whose message this is, or ran longer than it may.',
          429: 'The queue is full, or its wait would be, or was, too long.',
          503: 'The model is not loaded, or the service is shutting down.',
        },
      }),
    },
    schemas: {
      TeiPredictRequest: toSchema(predictBody),
      TeiPredictAnswer: toSchema(z.union([predictions, z.array(predictions)])),
      TeiError: toSchema(error),
    },
  };
}
