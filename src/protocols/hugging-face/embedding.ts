import { z } from 'zod';
import { writeVectors } from '../../native/json-vectors';
import type { TextEmbedder } from '../../tasks/abilities';
import { finished } from '../../tasks/embedding/postprocess';
import type { ServedModel } from '../../tasks/served';
import { compare, type Reading, requireVectorsSize, toEmbed } from '../embedding';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import {
  parseBody,
  type Route,
  refusalOf,
  requireListLength,
  requireModel,
  runList,
} from '../route';
import { listed, written } from '../vectors';
import { embeddingBody } from './embedding-body';
import { FAILURES } from './failures';

const numbers = z.array(z.number());
const answer = z.union([numbers, z.array(numbers)]);

const EXAMPLE = { request: { inputs: 'A warm, funny film.' }, answer: [0.6123, -0.3312, 0.7179] };

/**
 * The tasks feature-extraction and sentence-similarity, which the form of the inputs tells apart: the
 * vector of a text, those of a list, or how alike a sentence is to others.
 */
export function embedding(
  served: ServedModel<TextEmbedder>,
  { listLength, responseLimit }: ProtocolOptions,
): Omit<Route, 'path'> {
  const { model } = served;
  return {
    method: 'POST',
    refusal: refusalOf(model),
    handle: async (call) => {
      const body = parseBody(embeddingBody, call);
      const { inputs } = body;
      const reading: Reading = {
        promptName: body.prompt_name ?? null,
        ...(body.truncate === false && { truncation: 'do_not_truncate' }),
        ...(body.truncation_direction && { truncationSide: body.truncation_direction }),
      };
      if ('sentences' in inputs) {
        const { source_sentence: source, sentences } = inputs;
        requireListLength(sentences, 'inputs.sentences', listLength);
        const asked = { source, sentences };
        const compared = await compare(
          requireModel(model),
          asked,
          reading,
          call.inferOptions(served),
        );
        return { body: compared.cosines, inferences: compared.inferences };
      }
      const { texts, isList } = inputs;
      requireListLength(texts, 'inputs', listLength);
      const embedder = requireModel(model);
      requireVectorsSize(texts.length, embedder.metadata.dimensions, responseLimit);
      const field = isList ? 'inputs' : null;
      const embedded = toEmbed(embedder, texts, reading);
      const { answers, inferences } = await runList(
        embedder,
        embedded,
        call.inferOptions(served),
        field,
      );
      const { normalize } = body;
      const vectors = await writeVectors(
        answers.map(({ vector }) => finished(vector, embedder.metadata, { normalize })),
      );
      return { ...written(isList ? listed(vectors) : vectors), inferences };
    },
    describe: () => ({
      id: 'featureExtraction',
      summary: 'Vectors of texts, or how alike they are',
      headers: TRUNCATED_HEADER,
      errors: FAILURES,
      request: { name: 'HuggingFaceTexts', schema: embeddingBody, example: EXAMPLE.request },
      answer: { name: 'HuggingFaceVectors', schema: answer, example: EXAMPLE.answer },
    }),
  };
}
