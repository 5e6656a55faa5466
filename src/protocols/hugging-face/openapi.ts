import { z } from 'zod';
import { protocolPath } from '../openapi/protocol-path';
import { type Node, toSchema } from '../openapi/responses';
import type { ProtocolDescription, Surroundings } from '../protocol';
import { classificationBody } from './body';

const TAG = 'Hugging Face Inference API';

const answer = z.array(z.array(z.object({ label: z.string(), score: z.number() })));
const error = z.object({ error: z.string() });

const EXAMPLE = {
  request: { inputs: 'A warm, funny film.', parameters: { top_k: 1 } },
  answer: [[{ label: 'POSITIVE', score: 0.9823 }]],
};

const ERRORS = {
  400: 'The deadline is no number of milliseconds.',
  413: 'The body is over BODY_LIMIT, or the list over MAX_LIST_LENGTH.',
  415: 'The Content-Type is not JSON, or the Content-Encoding is unknown.',
  422: 'The body is not JSON, or a field is missing or of the wrong type.',
  500: 'The model is not loaded, or raised an error, whose message this is.',
  503: 'The queue is full, its wait would be too long, or the service is shutting down.',
  504: 'The deadline passed before the model ran, or the model ran longer than it may.',
};

/** @param paths the address of the service, and that of its model */
export function describe(
  paths: readonly [string, string],
  { listLength }: Surroundings,
): ProtocolDescription {
  const route = (id: string, summary: string): Node =>
    protocolPath({
      id,
      summary,
      tag: TAG,
      request: 'HuggingFaceRequest',
      answer: 'HuggingFaceAnswer',
      error: 'HuggingFaceError',
      example: EXAMPLE,
      errors: ERRORS,
    });
  return {
    tag: {
      name: TAG,
      description:
        'The text-classification task, for `huggingface_hub` and `@huggingface/inference`. Up to ' +
        `${listLength} texts.`,
    },
    paths: {
      [paths[0]]: route('textClassification', 'Labels of a text, by falling score'),
      [paths[1]]: route('textClassificationByName', 'The same by the name of the model'),
    },
    schemas: {
      HuggingFaceRequest: toSchema(classificationBody),
      HuggingFaceAnswer: toSchema(answer),
      HuggingFaceError: toSchema(error),
    },
  };
}
