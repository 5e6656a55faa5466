import { similarity as similarityOf } from '../lib/numbers';
import { mapInTimeSlices } from '../lib/time-slice';
import type { Inference, TextInput } from '../native/engine';
import { ServiceError } from '../serving/errors';
import { FLOAT_JSON_BYTES, requireResponseSize } from '../serving/json';
import type { ServiceRequest } from '../serving/service-request';
import type {
  EmbeddingInput,
  EmbeddingMetadata,
  ModelMetadata,
  Predictor,
  Prompted,
  SparseEmbedder,
  TextEmbedder,
  TokenEmbedder,
  TokenEmbeddings,
} from '../tasks/capabilities';
import { type PromptNames, postprocessEmbedding, selectPrompt } from '../tasks/embeddings';
import type { ServedModel } from '../tasks/served-model';
import { inferList, requireModel } from './inference';

/** Bytes of one entry of a sparse embedding in JSON: `{"index":2143,"value":1.2031},`. */
const ENTRY_JSON_BYTES = 30;

/** A text, or token IDs of the vocabulary of the model. */
export type TextOrIds = string | readonly number[];

/** How texts are tokenized, and the task of the model. */
export interface Encoding
  extends Pick<TextInput, 'truncation' | 'truncationSide' | 'maxTokens'>,
    PromptNames {}

/** Texts to embed. */
export interface EmbedInput {
  readonly elements: readonly TextOrIds[];
  readonly encoding: Encoding;
  /** Name of the list in the request, for errors of one element; null: the request is not a list. */
  readonly field: string | null;
}

type EmbeddingModel<Result> = Predictor<EmbeddingInput, Result, ModelMetadata & Prompted>;
type Caller = Pick<ServiceRequest, 'inferOptions'>;

/**
 * Embeds texts.
 *
 * @param dimensions truncates the embeddings; null or undefined: all dimensions
 * @param normalize whether to L2-normalize; null or undefined: as the model specifies
 * @throws ServiceError MODEL_NOT_LOADED, BODY_INVALID, RESPONSE_TOO_LARGE; EngineError, ElementError
 */
export async function embed(
  caller: Caller,
  served: ServedModel<TextEmbedder>,
  {
    dimensions,
    normalize,
    responseLimit,
    ...input
  }: EmbedInput & {
    readonly dimensions?: number | null | undefined;
    readonly normalize?: boolean | null | undefined;
    readonly responseLimit: number;
  },
): Promise<{
  readonly vectors: readonly Float32Array[];
  readonly inferences: readonly Inference[];
}> {
  const model = requireModel(served.model);
  requireVectorSize(model.metadata, dimensions, input.elements.length, responseLimit);
  const inputs = encode(model, input);
  const options = caller.inferOptions(served);
  const { predictions, inferences } = await inferList(model, inputs, options, input.field);
  const vectors = predictions.map(({ vector }) =>
    postprocessEmbedding(vector, model.metadata, { dimensions, normalize }),
  );
  return { vectors, inferences };
}

/**
 * Cosine similarity of a text with each of several texts.
 *
 * @throws as `embed`
 */
export async function similarity(
  caller: Caller,
  served: ServedModel<TextEmbedder>,
  {
    source,
    sentences,
    encoding,
  }: {
    readonly source: string;
    readonly sentences: readonly string[];
    readonly encoding: Encoding;
  },
): Promise<{ readonly cosines: readonly number[]; readonly inferences: readonly Inference[] }> {
  const model = requireModel(served.model);
  const inputs = encode(model, { elements: [source, ...sentences], encoding });
  const options = caller.inferOptions(served);
  const { predictions, inferences } = await inferList(model, inputs, options, null);
  const [first, ...rest] = predictions.map(({ vector }) => vector);
  const cosines = rest.map((vector) =>
    Math.fround(similarityOf(first as Float32Array, vector, 'cosine')),
  );
  return { cosines, inferences };
}

/**
 * Embeds each token of texts.
 *
 * @throws as `embed`; RESPONSE_TOO_LARGE is only known after tokenization
 */
export function embedTokens(
  caller: Caller,
  served: ServedModel<TokenEmbedder>,
  { responseLimit, ...input }: EmbedInput & { readonly responseLimit: number },
): Promise<{
  readonly predictions: readonly TokenEmbeddings[];
  readonly inferences: readonly Inference[];
}> {
  const model = requireModel(served.model);
  const inputs = encode(model, input);
  const maxOutputs = Math.floor(responseLimit / FLOAT_JSON_BYTES);
  return inferList(model, inputs, { ...caller.inferOptions(served), maxOutputs }, input.field);
}

/** Entries of a sparse embedding that are not zero. */
export interface SparseVector {
  /** Token IDs of the entries, ascending. */
  readonly ids: readonly number[];
  /** Weights of the whole vocabulary, by token ID. */
  readonly weights: Float32Array;
}

/**
 * Embeds texts as sparse embeddings (SPLADE).
 *
 * @throws as `embed`; RESPONSE_TOO_LARGE is only known after inference
 */
export async function embedSparse(
  caller: Caller,
  served: ServedModel<SparseEmbedder>,
  { responseLimit, ...input }: EmbedInput & { readonly responseLimit: number },
): Promise<{
  readonly vectors: readonly SparseVector[];
  readonly inferences: readonly Inference[];
}> {
  const model = requireModel(served.model);
  const inputs = encode(model, input);
  const options = caller.inferOptions(served);
  const { predictions, inferences } = await inferList(model, inputs, options, input.field);
  let entries = 0;
  const vectors = await mapInTimeSlices(predictions, ({ weights }) => {
    const ids: number[] = [];
    for (let id = 0; id < weights.length; id++) if (weights[id] !== 0) ids.push(id);
    entries += ids.length;
    requireResponseSize(entries * ENTRY_JSON_BYTES, responseLimit);
    return { ids, weights };
  });
  return { vectors, inferences };
}

/**
 * Checks the number of dimensions, and the size of the response, before inference.
 *
 * @param count number of embeddings
 * @throws ServiceError BODY_INVALID, RESPONSE_TOO_LARGE
 */
export function requireVectorSize(
  { dimensions: available }: Pick<EmbeddingMetadata, 'dimensions'>,
  dimensions: number | null | undefined,
  count: number,
  responseLimit: number,
): void {
  if (dimensions != null && dimensions > available) {
    const message = `dimensions: expected at most ${available}, the dimensions of the model`;
    throw new ServiceError('BODY_INVALID', message);
  }
  requireResponseSize(count * (dimensions ?? available) * FLOAT_JSON_BYTES, responseLimit);
}

/** Inputs for the engine. @throws ServiceError BODY_INVALID: unknown prompt, task or token ID */
function encode(
  { metadata, monitor }: Pick<EmbeddingModel<unknown>, 'metadata' | 'monitor'>,
  { elements, encoding }: Pick<EmbedInput, 'elements' | 'encoding'>,
): readonly EmbeddingInput[] {
  const { promptName, task, ...truncation } = encoding;
  const prompt = requirePrompt(metadata, { promptName, task });
  const { adapterTask } = prompt;
  const { vocabularySize } = monitor.description;
  return elements.map((element) => {
    if (typeof element === 'string') return { text: element, ...prompt, ...truncation };
    requireKnownIds(element, vocabularySize);
    return { ids: Uint32Array.from(element), ...(adapterTask !== undefined && { adapterTask }) };
  });
}

/** @param size of the vocabulary; 0: unknown */
function requireKnownIds(ids: readonly number[], size: number): void {
  if (size === 0) {
    const message = 'input: expected texts, the vocabulary of this model is unknown. Send texts';
    throw new ServiceError('BODY_INVALID', message);
  }
  const unknown = ids.find((id) => id >= size);
  if (unknown === undefined) return;
  const message = `input: expected token ids below ${size}, received ${unknown}`;
  throw new ServiceError('BODY_INVALID', message);
}

/** Prompt and task of a model by name. @throws ServiceError BODY_INVALID: the model has no such prompt or task */
export function requirePrompt(
  settings: Parameters<typeof selectPrompt>[0],
  names: PromptNames,
): ReturnType<typeof selectPrompt> {
  return selectPrompt(settings, names, (field, known) => {
    const [name, plural] = field === 'task' ? ['task', 'tasks'] : ['prompt_name', 'prompts'];
    const problem =
      known.length === 0
        ? `this model has no ${plural}. Remove the field`
        : `expected one of ${known.join(', ')}`;
    throw new ServiceError('BODY_INVALID', `${name}: ${problem}`);
  });
}
