import { z } from 'zod';
import { eachInTurn } from '../../lib/in-turns';
import { writeVectors } from '../../native/json-vectors';
import { FLOAT_JSON_BYTES, requireResponseSize } from '../../serving/response-size';
import type {
  ModelMetadata,
  Prediction,
  Predictor,
  Prompted,
  SparseEmbedder,
  SparseEmbedding,
  TextToEmbed,
  TokenEmbedder,
} from '../../tasks/abilities';
import type { ServedModel } from '../../tasks/served';
import { toEmbed } from '../embedding';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import {
  parseBody,
  type Route,
  refusalOf,
  requireModel,
  runList,
  type ServiceRequest,
} from '../route';
import { listed, written } from '../vectors';
import { EMBED_ERRORS } from './embed';
import { requireBatchSize, timeHeaders } from './shared';
import { cuttingOf, plainEmbedBody } from './tei-body';

/** `{"index":2143,"value":1.2031},` */
const WORD_JSON_BYTES = 30;

const EXAMPLE = { inputs: ['A warm, funny film.'] };

/** POST /embed_all: of each input a vector of each of its tokens, in a list for one input, too. */
export function embedAll(served: ServedModel<TokenEmbedder>, surroundings: ProtocolOptions): Route {
  // A token has a row of numbers: how many there are is known once texts have been tokenized.
  const maxOutputs = Math.floor(surroundings.responseLimit / FLOAT_JSON_BYTES);
  return {
    method: 'POST',
    path: '/embed_all',
    refusal: refusalOf(served.model),
    handle: async (call) => {
      const { answers, inferences, headers } = await runBody(call, served, {
        ...surroundings,
        maxOutputs,
      });
      const rows = await writeVectors(answers.flatMap(({ vectors }) => vectors));
      let begin = 0;
      const texts = answers.map(({ vectors: { length } }) => {
        const text = written(listed(rows.slice(begin, begin + length))).body as Buffer;
        begin += length;
        return text;
      });
      const answer = written(listed(texts));
      return { ...answer, inferences, headers: { ...answer.headers, ...headers } };
    },
    describe: () => ({
      id: 'teiEmbedAll',
      summary: 'A vector of each token of each text',
      request: { name: 'TeiEmbedAllRequest', schema: plainEmbedBody, example: EXAMPLE },
      answer: { name: 'TeiEmbedAllAnswer', schema: z.array(z.array(z.array(z.number()))) },
      headers: TRUNCATED_HEADER,
      errors: EMBED_ERRORS,
    }),
  };
}

/** POST /embed_sparse: of each input the words that weigh anything, by their ids. */
export function embedSparse(
  served: ServedModel<SparseEmbedder>,
  surroundings: ProtocolOptions,
): Route {
  return {
    method: 'POST',
    path: '/embed_sparse',
    refusal: refusalOf(served.model),
    handle: async (call) => {
      const { answers, inferences, headers } = await runBody(call, served, surroundings);
      const ids = await wordsOf(answers, surroundings.responseLimit);
      const kept = answers.flatMap(({ weights }, row) =>
        (ids[row] as number[]).map((index) => weights.subarray(index, index + 1)),
      );
      const values = await writeVectors(kept); // each `[1.2031]`
      let at = 0;
      const texts = await eachInTurn(ids, (indices) => {
        const words = indices.map((index) => {
          const value = values[at++]?.toString('latin1', 1).slice(0, -1);
          return `{"index":${index},"value":${value}}`;
        });
        return `[${words.join(',')}]`;
      });
      const answer = written(listed(texts));
      return { ...answer, inferences, headers: { ...answer.headers, ...headers } };
    },
    describe: () => ({
      id: 'teiEmbedSparse',
      summary: 'Weights of words of each text',
      request: { name: 'TeiEmbedSparseRequest', schema: plainEmbedBody, example: EXAMPLE },
      answer: {
        name: 'TeiEmbedSparseAnswer',
        schema: z.array(z.array(z.object({ index: z.int(), value: z.number() }))),
        example: [[{ index: 2143, value: 1.2031 }]],
      },
      headers: TRUNCATED_HEADER,
      errors: EMBED_ERRORS,
    }),
  };
}

/**
 * Of each text the ids of the words that weigh anything.
 *
 * @throws ServiceError RESPONSE_TOO_LARGE: the model is hardly sparse, which its files do not say
 */
async function wordsOf(
  answers: readonly SparseEmbedding[],
  limit: number,
): Promise<readonly (readonly number[])[]> {
  let count = 0;
  return eachInTurn(answers, ({ weights }) => {
    const ids: number[] = [];
    for (let id = 0; id < weights.length; id++) if (weights[id] !== 0) ids.push(id);
    count += ids.length;
    requireResponseSize(count * WORD_JSON_BYTES, limit);
    return ids;
  });
}

/** Runs the model on the texts of a body. */
async function runBody<Answer extends Prediction>(
  call: ServiceRequest,
  served: ServedModel<Predictor<TextToEmbed, Answer, ModelMetadata & Prompted>>,
  {
    listLength,
    maxOutputs,
  }: Pick<ProtocolOptions, 'listLength'> & { readonly maxOutputs?: number },
) {
  const body = parseBody(plainEmbedBody, call);
  const { elements, isList } = body.inputs;
  requireBatchSize(elements, listLength);
  const model = requireModel(served.model);
  const inputs = toEmbed(model, elements, {
    promptName: body.prompt_name ?? null,
    ...cuttingOf(body),
  });
  const field = isList ? 'inputs' : null;
  const options = call.inferOptions(served);
  const limited = maxOutputs === undefined ? options : { ...options, maxOutputs };
  const ran = await runList(model, inputs, limited, field);
  return { ...ran, headers: timeHeaders(call.startedAt, ran.inferences) };
}
