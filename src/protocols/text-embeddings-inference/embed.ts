import { z } from 'zod';
import { mapInTimeSlices } from '../../lib/time-slice';
import { embeddingsToJson } from '../../native/addon';
import {
  type EmbedInput,
  embedSparse as embedSparseTexts,
  embed as embedTexts,
  embedTokens,
  requirePrompt,
  similarity as similarityOf,
} from '../../services/embed';
import { admissionErrorOf, requireModel } from '../../services/inference';
import type { ServiceRequest } from '../../serving/service-request';
import type {
  Prompted,
  SparseEmbedder,
  TextEmbedder,
  TokenEmbedder,
} from '../../tasks/capabilities';
import type { ServedModel } from '../../tasks/served-model';
import { jsonArray, jsonResponse } from '../json-response';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import {
  adapterTask,
  encodeVectors,
  requireVectorDtypes,
  vectorDtype,
  vectorsToJson,
} from '../validation/embedding-fields';
import { boolean, expected, object, sentencesToCompare } from '../validation/fields';
import { withTokenCount } from './input-too-long';
import {
  computeHeaders,
  countCharacters,
  inputs,
  prompt_name,
  requireBatchSize,
  requireNotEmpty,
  TRUNCATION_FIELDS,
  truncationOf,
} from './tei-fields';

/** Body of /embed_all and /embed_sparse. */
const textsRequest = object({ inputs, ...TRUNCATION_FIELDS, prompt_name });

const embedRequest = textsRequest.extend({
  task: adapterTask(),
  encoding: vectorDtype().nullish().describe('Number format. Default: float'),
  normalize: boolean().default(true).describe('Whether embeddings are L2-normalized'),
  dimensions: z
    .int({ error: expected('a whole number') })
    .positive({ error: 'expected at least 1' })
    .nullish()
    .describe('Truncate embeddings to this number of dimensions'),
});

const similarityRequest = object({
  inputs: sentencesToCompare,
  parameters: object({ ...TRUNCATION_FIELDS, prompt_name, task: adapterTask() }).nullish(),
});

const COMMON = {
  method: 'POST',
  errors: [...MODEL_ERRORS, 'INPUT_EMPTY', 'LIST_TOO_LONG', 'INPUT_TOO_LONG'],
  headers: TRUNCATED_HEADER,
} as const;

const TEXTS_EXAMPLE = { inputs: ['A warm, funny film.'] };

/** POST /embed: embeds texts. The response is a list also for a single text. */
export function embed(served: ServedModel<TextEmbedder>, options: ProtocolOptions): Route {
  const { listLength, responseLimit } = options;
  return route({
    ...COMMON,
    path: '/embed',
    abilities: ['embedding'],
    operationId: 'teiEmbed',
    summary: 'Embed texts',
    request: embedRequest,
    response: z.array(z.array(z.number())),
    examples: { request: TEXTS_EXAMPLE, response: [[0.6123, -0.3312, 0.7179]] },
    admissionError: admissionErrorOf(served.model),
    handler: async (call, body) => {
      const { encoding, ...texts } = inputOf(body, listLength);
      const input = { ...texts, encoding: { ...encoding, task: body.task } };
      const { dimensions, normalize } = body;
      const dtype = body.encoding ?? 'float';
      requireVectorDtypes([dtype], normalize, 'encoding', 'normalize');
      const { vectors, inferences } = await withCount(call, served, input, () =>
        embedTexts(call, served, { ...input, dimensions, normalize, responseLimit }),
      );
      const response = jsonResponse(jsonArray(await vectorsToJson(encodeVectors(vectors, dtype))));
      const headers = {
        ...response.headers,
        ...computeHeaders(call.startedAt, inferences, countCharacters(input.elements)),
      };
      return { ...response, headers, inferences };
    },
  });
}

/** POST /similarity: cosine similarity of a text with each of several texts. */
export function similarity(served: ServedModel<TextEmbedder>, options: ProtocolOptions): Route {
  return route({
    ...COMMON,
    path: '/similarity',
    abilities: ['embedding'],
    operationId: 'teiSimilarity',
    summary: 'Cosine similarity of a text with several texts',
    request: similarityRequest,
    response: z.array(z.number()),
    examples: {
      request: {
        inputs: { source_sentence: 'A warm film.', sentences: ['A kind film.', 'It rains.'] },
      },
      response: [0.82, 0.11],
    },
    admissionError: admissionErrorOf(served.model),
    handler: async (call, { inputs, parameters }) => {
      const { source_sentence: source, sentences } = inputs;
      requireBatchSize(sentences, options.listLength);
      const encoding = {
        promptName: parameters?.prompt_name,
        task: parameters?.task,
        ...truncationOf(parameters ?? {}),
      };
      const { cosines, inferences } = await similarityOf(call, served, {
        source,
        sentences,
        encoding,
      });
      const characters = countCharacters([source, ...sentences]);
      const headers = computeHeaders(call.startedAt, inferences, characters);
      return { body: cosines, inferences, headers };
    },
  });
}

/** POST /embed_all: embeds each token of texts. The response is a list also for a single text. */
export function embedAll(served: ServedModel<TokenEmbedder>, options: ProtocolOptions): Route {
  const { listLength, responseLimit } = options;
  return route({
    ...COMMON,
    path: '/embed_all',
    abilities: ['token-embedding'],
    operationId: 'teiEmbedAll',
    summary: 'Embed each token of texts',
    request: textsRequest,
    response: z.array(z.array(z.array(z.number()))),
    examples: { request: TEXTS_EXAMPLE },
    admissionError: admissionErrorOf(served.model),
    handler: async (call, body) => {
      const input = inputOf(body, listLength);
      const { predictions, inferences } = await withCount(call, served, input, () =>
        embedTokens(call, served, { ...input, responseLimit }),
      );
      const characters = countCharacters(input.elements);
      const headers = computeHeaders(call.startedAt, inferences, characters);
      const rows = await embeddingsToJson(predictions.flatMap(({ vectors }) => vectors));
      let first = 0;
      const texts = predictions.map(({ vectors: { length } }) => {
        const { body: text } = jsonResponse(jsonArray(rows.slice(first, first + length)));
        first += length;
        return text;
      });
      const response = jsonResponse(jsonArray(texts));
      return { ...response, inferences, headers: { ...response.headers, ...headers } };
    },
  });
}

/** POST /embed_sparse: embeds texts as sparse embeddings (SPLADE). */
export function embedSparse(served: ServedModel<SparseEmbedder>, options: ProtocolOptions): Route {
  const { listLength, responseLimit } = options;
  return route({
    ...COMMON,
    path: '/embed_sparse',
    abilities: ['sparse-embedding'],
    operationId: 'teiEmbedSparse',
    summary: 'Embed texts as sparse embeddings (SPLADE)',
    request: textsRequest,
    response: z.array(z.array(z.object({ index: z.int(), value: z.number() }))),
    examples: { request: TEXTS_EXAMPLE, response: [[{ index: 2143, value: 1.2031 }]] },
    admissionError: admissionErrorOf(served.model),
    handler: async (call, body) => {
      const input = inputOf(body, listLength);
      const { vectors, inferences } = await withCount(call, served, input, () =>
        embedSparseTexts(call, served, { ...input, responseLimit }),
      );
      const characters = countCharacters(input.elements);
      const headers = computeHeaders(call.startedAt, inferences, characters);
      const entries = vectors.flatMap(({ ids, weights }) =>
        ids.map((id) => weights.subarray(id, id + 1)),
      );
      const values = await embeddingsToJson(entries); // one JSON array per entry: [1.2031]
      let next = 0;
      const texts = await mapInTimeSlices(vectors, ({ ids }) => {
        const members = ids.map((index) => {
          const value = values[next++]?.toString('latin1', 1).slice(0, -1);
          return `{"index":${index},"value":${value}}`;
        });
        return `[${members.join(',')}]`;
      });
      const response = jsonResponse(jsonArray(texts));
      return { ...response, inferences, headers: { ...response.headers, ...headers } };
    },
  });
}

/** @throws ServiceError INPUT_EMPTY, LIST_TOO_LONG */
function inputOf(body: z.output<typeof textsRequest>, listLength: number): EmbedInput {
  const { elements, isList } = body.inputs;
  requireNotEmpty(elements, 'inputs', isList);
  requireBatchSize(elements, listLength);
  return {
    elements,
    encoding: { promptName: body.prompt_name, ...truncationOf(body) },
    field: isList ? 'inputs' : null,
  };
}

/** Runs `infer`; see `withTokenCount`. */
function withCount<Result>(
  call: ServiceRequest,
  served: ServedModel<{ readonly metadata: Prompted }>,
  { elements, encoding, field }: EmbedInput,
  infer: () => Promise<Result>,
): Promise<Result> {
  const { metadata } = requireModel(served.model);
  const prompt = () => requirePrompt(metadata, encoding).prompt ?? metadata.defaultPrompt;
  return withTokenCount(call, served, { elements, isList: field !== null, prompt }, infer);
}
