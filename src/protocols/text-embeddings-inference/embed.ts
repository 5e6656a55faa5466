import { z } from 'zod';
import { writeVectors } from '../../native/json-vectors';
import type { TextEmbedder } from '../../tasks/abilities';
import { finished } from '../../tasks/embedding/postprocess';
import type { ServedModel } from '../../tasks/served';
import { compare, requireDimensions, requireVectorsSize, toEmbed } from '../embedding';
import { ANALYSIS_ERRORS } from '../openapi/legacy-operation';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import { parseBody, type Route, refusalOf, requireModel, runList } from '../route';
import { listed, written } from '../vectors';
import { requireBatchSize, timeHeaders } from './shared';
import { cuttingOf, embedBody, similarityBody } from './tei-body';

const vectors = z.array(z.array(z.number()));
const similarities = z.array(z.number());

/** What routes of vectors may answer but 200. */
export const EMBED_ERRORS = {
  400: 'The deadline is no number of milliseconds.',
  413: 'The body is over BODY_LIMIT, or the response would be over RESPONSE_LIMIT.',
  415: ANALYSIS_ERRORS[415],
  422: 'The body is not valid, the batch is over MAX_LIST_LENGTH, or a text is too long and not to be cut.',
  424: 'The model raised an error, whose message this is, or ran longer than it may.',
  429: 'The queue is full, or its wait would be, or was, too long.',
  503: 'The model is not loaded, or the service is shutting down.',
};

/** POST /embed: a list of vectors, of one input, too. */
export function embed(
  served: ServedModel<TextEmbedder>,
  { listLength, responseLimit }: ProtocolOptions,
): Route {
  const { model } = served;
  return {
    method: 'POST',
    path: '/embed',
    refusal: refusalOf(model),
    handle: async (call) => {
      const body = parseBody(embedBody, call);
      const { elements, isList } = body.inputs;
      requireBatchSize(elements, listLength);
      const embedder = requireModel(model);
      const dimensions = requireDimensions(embedder, body.dimensions);
      requireVectorsSize(elements.length, dimensions, responseLimit);
      const promptName = body.prompt_name ?? null;
      const inputs = toEmbed(embedder, elements, { promptName, ...cuttingOf(body) });
      const field = isList ? 'inputs' : null;
      const { answers, inferences } = await runList(
        embedder,
        inputs,
        call.inferOptions(served),
        field,
      );
      const finish = { dimensions, normalize: body.normalize };
      const told = answers.map(({ vector }) => finished(vector, embedder.metadata, finish));
      const answer = written(listed(await writeVectors(told)));
      const headers = { ...answer.headers, ...timeHeaders(call.startedAt, inferences) };
      return { ...answer, headers, inferences };
    },
    describe: () => ({
      id: 'teiEmbed',
      summary: 'A vector of each text',
      request: {
        name: 'TeiEmbedRequest',
        schema: embedBody,
        example: { inputs: ['A warm, funny film.'] },
      },
      answer: { name: 'TeiEmbedAnswer', schema: vectors, example: [[0.6123, -0.3312, 0.7179]] },
      headers: TRUNCATED_HEADER,
      errors: EMBED_ERRORS,
    }),
  };
}

/** POST /similarity: the cosine of a sentence with each of others. */
export function similarity(
  served: ServedModel<TextEmbedder>,
  { listLength }: ProtocolOptions,
): Route {
  const { model } = served;
  return {
    method: 'POST',
    path: '/similarity',
    refusal: refusalOf(model),
    handle: async (call) => {
      const { inputs, parameters } = parseBody(similarityBody, call);
      const { source_sentence: source, sentences } = inputs;
      requireBatchSize(sentences, listLength);
      const reading = {
        promptName: parameters?.prompt_name ?? null,
        ...cuttingOf(parameters ?? {}),
      };
      const compared = { source, sentences };
      const embedder = requireModel(model);
      const { cosines, inferences } = await compare(
        embedder,
        compared,
        reading,
        call.inferOptions(served),
      );
      return { body: cosines, inferences, headers: timeHeaders(call.startedAt, inferences) };
    },
    describe: () => ({
      id: 'teiSimilarity',
      summary: 'How alike a sentence is to each of others',
      request: {
        name: 'TeiSimilarityRequest',
        schema: similarityBody,
        example: {
          inputs: { source_sentence: 'A warm film.', sentences: ['A kind film.', 'It rains.'] },
        },
      },
      answer: { name: 'TeiSimilarityAnswer', schema: similarities, example: [0.82, 0.11] },
      headers: TRUNCATED_HEADER,
      errors: EMBED_ERRORS,
    }),
  };
}
