import { z } from 'zod';
import { embeddingsToJson } from '../../native/addon';
import { embedMulti } from '../../services/embed-multi';
import { admissionErrorOf, requireListLength } from '../../services/inference';
import type { MultiEmbedder, MultiEmbedding } from '../../tasks/capabilities';
import { lexicalWeightsToJson } from '../../tasks/lexical-weights';
import type { ServedModel } from '../../tasks/served-model';
import { jsonArray, jsonResponse } from '../json-response';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import { boolean, expected, object, stringList } from '../validation/fields';

const request = object({
  texts: stringList('an array of texts'),
  return_dense: boolean().nullish().describe('Default: true'),
  return_sparse: boolean().nullish().describe('Default: false'),
  return_colbert_vecs: boolean().nullish().describe('Default: false'),
  max_length: z
    .int({ error: expected('a whole number') })
    .min(3, { error: 'expected at least 3' })
    .nullish()
    .describe('Maximum length in tokens. Default: the limit of the model'),
});

const response = z.object({
  dense_vecs: z.array(z.array(z.number())).nullable(),
  lexical_weights: z
    .array(z.record(z.string(), z.number()))
    .nullable()
    .describe('For each text, weights by token ID'),
  colbert_vecs: z
    .array(z.array(z.array(z.number())))
    .nullable()
    .describe('For each text, vectors of all tokens except the first'),
});

export type EncodeRequest = z.input<typeof request>;
export type EncodeResponse = z.infer<typeof response>;

/** POST /encode: dense, sparse and ColBERT embeddings of bge-m3, with the fields of FlagEmbedding. */
export function encode(
  served: ServedModel<MultiEmbedder>,
  { listLength, responseLimit }: ProtocolOptions,
): Route {
  return route({
    method: 'POST',
    path: '/encode',
    abilities: ['multi-embedding'],
    operationId: 'encode',
    summary: 'Dense, sparse and ColBERT embeddings of texts (bge-m3)',
    request,
    limits: { texts: { maxItems: listLength } },
    response,
    examples: {
      request: { texts: ['A warm film.'], return_sparse: true },
      response: {
        dense_vecs: [[0.6123, -0.3312, 0.7179]],
        lexical_weights: [{ '62': 0.0412, '24040': 0.2317 }],
        colbert_vecs: null,
      },
    },
    errors: [...MODEL_ERRORS, 'LIST_TOO_LONG', 'INPUT_TOO_LONG'],
    headers: TRUNCATED_HEADER,
    admissionError: admissionErrorOf(served.model),
    handler: async (call, body) => {
      requireListLength(body.texts, 'texts', listLength);
      const { predictions, inferences } = await embedMulti(call, served, {
        texts: body.texts,
        field: 'texts',
        parts: {
          dense: body.return_dense ?? true,
          sparse: body.return_sparse ?? false,
          colbert: body.return_colbert_vecs ?? false,
        },
        maxTokens: body.max_length ?? undefined,
        responseLimit,
      });
      return { ...jsonResponse(await responseOf(predictions)), inferences };
    },
  });
}

/** Pieces of the response: numbers are serialized on the native side. */
async function responseOf(
  predictions: readonly MultiEmbedding[],
): Promise<readonly (string | Buffer)[]> {
  const dense = await rowsToJson(predictions.map(({ dense }) => dense));
  const colbert = await Promise.all(predictions.map(({ colbert: rows }) => rowsToJson(rows)));
  const sparse = predictions.map(({ sparse: entries }) => entries);
  return [
    '{"dense_vecs":',
    ...(dense ? jsonArray(dense) : ['null']),
    ',"lexical_weights":',
    ...(sparse.every((entries) => entries !== null)
      ? jsonArray(sparse.map(lexicalWeightsToJson))
      : ['null']),
    ',"colbert_vecs":',
    ...(colbert.every((rows) => rows !== null)
      ? jsonArray(colbert.map((rows) => jsonResponse(jsonArray(rows)).body))
      : ['null']),
    '}',
  ];
}

/** Null if the vectors were not requested. */
async function rowsToJson(
  rows: readonly (Float32Array | null)[] | null,
): Promise<readonly Buffer[] | null> {
  if (!rows?.every((row) => row !== null)) return null;
  return rows.length === 0 ? [] : embeddingsToJson(rows);
}
