import type { Inference } from '../native/engine';
import { FLOAT_JSON_BYTES } from '../serving/json';
import type { ServiceRequest } from '../serving/service-request';
import type { MultiEmbedder, MultiEmbedding, Parts } from '../tasks/capabilities';
import type { ServedModel } from '../tasks/served-model';
import { inferList, requireModel } from './inference';

/**
 * Embeds texts with bge-m3: dense, sparse and ColBERT embeddings of one pass.
 *
 * @param maxTokens maximum length in tokens, including special tokens; undefined: the limit of the model
 * @throws ServiceError MODEL_NOT_LOADED; RESPONSE_TOO_LARGE is only known after tokenization; EngineError, ElementError
 */
export function embedMulti(
  caller: Pick<ServiceRequest, 'inferOptions'>,
  served: ServedModel<MultiEmbedder>,
  {
    texts,
    field,
    parts,
    maxTokens,
    responseLimit,
  }: {
    readonly texts: readonly string[];
    /** Name of the list in the request, for errors of one element. */
    readonly field: string;
    readonly parts: Parts;
    readonly maxTokens: number | undefined;
    readonly responseLimit: number;
  },
): Promise<{
  readonly predictions: readonly MultiEmbedding[];
  readonly inferences: readonly Inference[];
}> {
  const model = requireModel(served.model);
  const inputs = texts.map((text) => ({
    text,
    parts,
    ...(maxTokens !== undefined && { maxTokens }),
  }));
  // The vectors of all tokens are by far the largest part.
  const maxOutputs = Math.floor(responseLimit / FLOAT_JSON_BYTES);
  const options = { ...caller.inferOptions(served), ...(parts.colbert && { maxOutputs }) };
  return inferList(model, inputs, options, field);
}
