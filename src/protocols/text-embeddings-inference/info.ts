import { z } from 'zod';
import { type ServedModel, withCapability } from '../../tasks/served-model';
import type { ProtocolOptions } from '../protocol';

/** Tokenizer threads of the engine: one for short and one for long texts. */
const TOKENIZATION_WORKERS = 2;

const labels = z.object({
  id2label: z.record(z.string(), z.string()),
  label2id: z.record(z.string(), z.int()),
});

const schema = z.object({
  model_id: z.string(),
  model_sha: z.null(),
  model_dtype: z.string(),
  model_type: z
    .union([
      z.object({ classifier: labels }),
      z.object({ reranker: labels }),
      z.object({
        embedding: z.object({
          pooling: z.string().describe('none: a vector for each token'),
        }),
      }),
    ])
    .optional(),
  max_concurrent_requests: z.int(),
  max_input_length: z.int().optional().describe('Tokens'),
  max_batch_tokens: z.int(),
  max_batch_requests: z.int(),
  max_client_batch_size: z.int(),
  auto_truncate: z.boolean(),
  tokenization_workers: z.int(),
  sha: z.null(),
  docker_label: z.null(),
});

/** Fields of text-embeddings-inference in GET /info. Some are absent while the model is not loaded. */
export function teiInfo(
  served: ServedModel,
  { scheduling, listLength }: ProtocolOptions,
): { readonly fields: z.infer<typeof schema>; readonly schemas: object } {
  const { title, model } = served;
  return {
    fields: {
      model_id: title,
      model_sha: null,
      model_dtype: scheduling.dtype ?? 'float32',
      ...(model && {
        model_type: modelType(served),
        max_input_length: model.maxLength,
      }),
      max_concurrent_requests: scheduling.maxQueueRequests,
      max_batch_tokens: scheduling.maxBatchTokens,
      max_batch_requests: scheduling.maxBatchRequests,
      max_client_batch_size: listLength,
      auto_truncate: true,
      tokenization_workers: TOKENIZATION_WORKERS,
      sha: null,
      docker_label: null,
    },
    schemas: z.toJSONSchema(schema).properties ?? {},
  };
}

/** As text-embeddings-inference: a sequence classifier with one label is a reranker. */
function modelType(served: ServedModel): z.infer<typeof schema>['model_type'] {
  const reranker = withCapability(served, 'reranking')?.model;
  if (reranker?.metadata.labels.length === 1) {
    return { reranker: labelMaps(reranker.metadata.labels) };
  }
  const classifier = withCapability(served, 'text-classification')?.model ?? reranker;
  if (classifier) return { classifier: labelMaps(classifier.metadata.labels) };
  const embedder = withCapability(served, 'embedding')?.model;
  if (embedder) return { embedding: { pooling: embedder.metadata.pooling.join('+') } };
  const isSparse = withCapability(served, 'sparse-embedding') !== null;
  return { embedding: { pooling: isSparse ? 'splade' : 'none' } };
}

function labelMaps(names: readonly string[]): z.infer<typeof labels> {
  return {
    id2label: Object.fromEntries(names.map((label, index) => [String(index), label])),
    label2id: Object.fromEntries(names.map((label, index) => [label, index])),
  };
}
