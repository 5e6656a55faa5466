import { z } from 'zod';
import { writeVectors } from '../../native/json-vectors';
import { finished } from '../../tasks/embedding/postprocess';
import { requireDimensions, requireVectorsSize, toEmbed } from '../embedding';
import type { ModelResolver } from '../model-resolver';
import { ANALYSIS_ERRORS } from '../openapi/legacy-operation';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import { parseBody, type Route, requireListLength, runList } from '../route';
import { listed, toBase64, written } from '../vectors';
import { embeddingsBody } from './openai-body';

const answer = z.object({
  object: z.literal('list'),
  data: z.array(
    z.object({
      object: z.literal('embedding'),
      index: z.int(),
      embedding: z.union([z.array(z.number()), z.string()]),
    }),
  ),
  model: z.string(),
  usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
});

const EXAMPLE = {
  request: { model: 'all-MiniLM-L6-v2', input: 'A warm, funny film.', dimensions: 3 },
  answer: {
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [0.6123, -0.3312, 0.7179] }],
    model: 'all-MiniLM-L6-v2',
    usage: { prompt_tokens: 8, total_tokens: 8 },
  },
} as const;

/** POST /v1/embeddings */
export function embeddings(
  models: ModelResolver<'embeds texts'>,
  { listLength, responseLimit }: ProtocolOptions,
): Route {
  return {
    method: 'POST',
    path: '/v1/embeddings',
    refusal: models.refusal,
    handle: async (call) => {
      const body = parseBody(embeddingsBody, call);
      const { elements, isList } = body.input;
      requireListLength(elements, 'input', listLength);
      const served = models.resolve(body.model, call);
      const { name, model } = served;
      const dimensions = requireDimensions(model, body.dimensions);
      requireVectorsSize(elements.length, dimensions, responseLimit);
      const inputs = toEmbed(model, elements, { promptName: null });
      const field = isList ? 'input' : null;
      const { answers, inferences } = await runList(
        model,
        inputs,
        call.inferOptions(served),
        field,
      );
      const vectors = answers.map(({ vector }) => finished(vector, model.metadata, { dimensions }));
      const texts =
        body.encoding_format === 'base64'
          ? vectors.map((vector) => `"${toBase64(vector)}"`)
          : await writeVectors(vectors);
      const tokens = inferences.reduce((sum, inference) => sum + inference.tokens, 0);
      const usage = JSON.stringify({ prompt_tokens: tokens, total_tokens: tokens });
      const rows = texts.map((text, index) =>
        Buffer.concat([
          Buffer.from(`{"object":"embedding","index":${index},"embedding":`),
          Buffer.from(text),
          Buffer.from('}'),
        ]),
      );
      const end = `,"model":${JSON.stringify(name)},"usage":${usage}}`;
      return { ...written(['{"object":"list","data":', ...listed(rows), end]), inferences };
    },
    describe: () => ({
      id: 'openaiEmbeddings',
      summary: 'Vectors of texts',
      request: { name: 'OpenAIEmbeddings', schema: embeddingsBody, example: EXAMPLE.request },
      answer: { name: 'OpenAIEmbeddingsAnswer', schema: answer, example: EXAMPLE.answer },
      headers: TRUNCATED_HEADER,
      errors: {
        400: 'The body is not valid, or the list over MAX_LIST_LENGTH.',
        404: 'There is no such model: the message lists what there is.',
        413: 'The body is over BODY_LIMIT, or the response would be over RESPONSE_LIMIT.',
        415: ANALYSIS_ERRORS[415],
        500: 'The model raised an error, whose message this is.',
        503: ANALYSIS_ERRORS[503],
        504: ANALYSIS_ERRORS[504],
      },
    }),
  };
}
