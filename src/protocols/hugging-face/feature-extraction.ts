import { z } from 'zod';
import { embeddingsToJson } from '../../native/addon';
import { type Encoding, embed, similarity } from '../../services/embed';
import { admissionErrorOf, requireListLength } from '../../services/inference';
import type { TextEmbedder } from '../../tasks/capabilities';
import type { ServedModel } from '../../tasks/served-model';
import { jsonArray, jsonResponse } from '../json-response';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import { adapterTask } from '../validation/embedding-fields';
import {
  boolean,
  checked,
  type ElementProblem,
  expected,
  findListProblem,
  findStringProblem,
  object,
  sentencesToCompare,
  string,
} from '../validation/fields';

const INPUTS = 'a string, a list of strings, or an object with "source_sentence" and "sentences"';

/** Texts to embed, or a sentence and the sentences with which it is compared. */
type Inputs =
  | { readonly texts: readonly string[]; readonly isList: boolean }
  | z.output<typeof sentencesToCompare>;

const inputs = checked(findInputsProblem, (value): Inputs => {
  if (typeof value === 'string') return { texts: [value], isList: false };
  if (Array.isArray(value)) return { texts: value, isList: true };
  return value as z.output<typeof sentencesToCompare>;
}).meta({
  description: 'A text, a list of texts, or a sentence and the sentences with which it is compared',
  anyOf: [
    { type: 'string' },
    { type: 'array', items: { type: 'string' } },
    {
      type: 'object',
      properties: {
        source_sentence: { type: 'string' },
        sentences: { type: 'array', items: { type: 'string' } },
      },
      required: ['source_sentence', 'sentences'],
    },
  ],
});

/** Clients send the parameters of feature-extraction next to the inputs. */
const request = object({
  inputs,
  normalize: boolean().nullish().describe('Whether embeddings are L2-normalized'),
  prompt_name: string().nullish().describe('Name of a prompt of the model. Default: its default'),
  task: adapterTask(),
  truncate: boolean()
    .nullish()
    .describe('false: reject texts longer than the model allows. Default: truncate them'),
  truncation_direction: z
    .preprocess(
      (value) => (typeof value === 'string' ? value.toLowerCase() : value),
      z.enum(['left', 'right'], { error: expected('"left" or "right"') }),
    )
    .nullish()
    .describe('The end that is truncated. Default: as the tokenizer specifies'),
});

const numbers = z.array(z.number());

/**
 * The tasks feature-extraction and sentence-similarity; the type of `inputs` selects the task. The response is an
 * embedding, a list of embeddings, or a list of cosine similarities.
 *
 * @param suffix of the operation ID
 */
export function featureExtraction(
  [path, suffix]: readonly [path: string, suffix: string],
  served: ServedModel<TextEmbedder>,
  { listLength, responseLimit }: ProtocolOptions,
): Route {
  return route({
    method: 'POST',
    path,
    operationId: `featureExtraction${suffix}`,
    schemaName: 'huggingFaceEmbedding',
    summary: 'Embed texts, or compare sentences',
    request,
    response: z.union([numbers, z.array(numbers)]),
    examples: {
      request: { inputs: 'A warm, funny film.' },
      response: [0.6123, -0.3312, 0.7179],
    },
    errors: [...MODEL_ERRORS, 'LIST_TOO_LONG', 'INPUT_TOO_LONG'],
    headers: TRUNCATED_HEADER,
    admissionError: admissionErrorOf(served.model),
    handler: async (call, body) => {
      const { inputs, normalize } = body;
      const encoding: Encoding = {
        promptName: body.prompt_name,
        task: body.task,
        ...(body.truncate === false && { truncation: 'do_not_truncate' }),
        ...(body.truncation_direction && { truncationSide: body.truncation_direction }),
      };
      if ('sentences' in inputs) {
        const { source_sentence: source, sentences } = inputs;
        requireListLength(sentences, 'inputs.sentences', listLength);
        const compared = await similarity(call, served, { source, sentences, encoding });
        return { body: compared.cosines, inferences: compared.inferences };
      }
      const { texts, isList } = inputs;
      requireListLength(texts, 'inputs', listLength);
      const { vectors, inferences } = await embed(call, served, {
        elements: texts,
        encoding,
        field: isList ? 'inputs' : null,
        normalize,
        responseLimit,
      });
      const values = await embeddingsToJson(vectors);
      return { ...jsonResponse(isList ? jsonArray(values) : values), inferences };
    },
  });
}

function findInputsProblem(value: unknown): ElementProblem | null {
  if (typeof value === 'string') return null;
  if (Array.isArray(value)) return findListProblem(value, INPUTS, findStringProblem);
  if (typeof value !== 'object' || value === null) {
    return { message: expected(INPUTS)({ input: value }), path: [] };
  }
  const [issue] = sentencesToCompare.safeParse(value).error?.issues ?? [];
  return issue ? { message: issue.message, path: issue.path } : null;
}
