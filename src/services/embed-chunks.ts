import { EngineError, type Inference } from '../native/engine';
import { ElementError, ServiceError } from '../serving/errors';
import type { ServiceRequest } from '../serving/service-request';
import type { TextEmbedder } from '../tasks/capabilities';
import { isBlank } from '../tasks/classification';
import type { ChunkEmbeddings, ChunkedText } from '../tasks/embedding/late-chunking';
import { type PromptNames, postprocessEmbedding } from '../tasks/embeddings';
import { type ServedModel, withLateChunking } from '../tasks/served-model';
import { requirePrompt, requireVectorSize, type TextOrIds } from './embed';
import { requireModel } from './inference';

export interface ChunkRequest {
  /** Consecutive parts of one text. */
  readonly elements: readonly TextOrIds[];
  /** Name of the list in the request, for errors. */
  readonly field: string;
  /** Prompt and task of the model. */
  readonly names: PromptNames;
  /** Whether the end of a text over the limit of the model is removed; false: INPUT_TOO_LONG. */
  readonly truncates: boolean;
  /** Truncates the embeddings; null or undefined: all dimensions. */
  readonly dimensions: number | null | undefined;
  /** Whether to L2-normalize; null or undefined: as the model specifies. */
  readonly normalize: boolean | null | undefined;
  /** Maximum size of the response in bytes. */
  readonly responseLimit: number;
}

/**
 * Late chunking: the model reads all texts as one, and returns the mean of the token embeddings of each text.
 *
 * @returns an embedding for each text, and one inference for all
 * @throws ServiceError MODEL_NOT_LOADED, BODY_INVALID, RESPONSE_TOO_LARGE; EngineError; ElementError: the texts have
 *   too many tokens together, or a text has none
 */
export async function embedChunks(
  caller: Pick<ServiceRequest, 'inferOptions'>,
  served: ServedModel<TextEmbedder>,
  { elements, field, names, truncates, dimensions, normalize, responseLimit }: ChunkRequest,
): Promise<{
  readonly vectors: readonly Float32Array[];
  readonly inferences: readonly Inference[];
}> {
  const { metadata } = requireModel(served.model);
  const model = requireModel(requireLateChunking(served).model);
  requireVectorSize(metadata, dimensions, elements.length, responseLimit);
  const { prompt, adapterTask } = requirePrompt(metadata, names);
  const text: ChunkedText = {
    chunks: elements.map((element, index) => requireText(element, `${field}[${index}]`)),
    truncates,
    ...(prompt !== undefined && { prompt }),
    ...(adapterTask !== undefined && { adapterTask }),
  };
  const { vectors, inference } = await nameInput(field, () =>
    model.run(text, caller.inferOptions(served)),
  );
  return {
    vectors: vectors.map((vector) =>
      postprocessEmbedding(vector, metadata, { dimensions, normalize }),
    ),
    inferences: [inference],
  };
}

/** @throws ServiceError BODY_INVALID */
function requireLateChunking(served: ServedModel<TextEmbedder>) {
  const chunked = withLateChunking(served);
  if (chunked) return chunked;
  const pooling = served.model?.metadata.pooling.join(', ') || 'none';
  const problem =
    pooling === 'mean'
      ? 'this model is an exported program, or has static or sparse embeddings'
      : `the pooling of this model is ${pooling}`;
  const message = `late_chunking: expected an encoder with mean pooling, but ${problem}. Remove the field`;
  throw new ServiceError('BODY_INVALID', message);
}

/** @throws ServiceError BODY_INVALID: token IDs, or no text */
function requireText(element: TextOrIds, path: string): string {
  const isText = typeof element === 'string';
  if (isText && !isBlank(element)) return element;
  const problem = isText
    ? 'the text is empty, and late_chunking needs at least one token. Remove the text'
    : 'late_chunking needs texts, received token IDs. Send the text';
  throw new ServiceError('BODY_INVALID', `${path}: ${problem}`);
}

/** Adds the name of the list to the message of an error that its texts cause. */
async function nameInput(
  field: string,
  run: () => Promise<ChunkEmbeddings>,
): Promise<ChunkEmbeddings> {
  try {
    return await run();
  } catch (error) {
    const isOfTexts = error instanceof EngineError && error.code === 'INPUT_TOO_LONG';
    throw isOfTexts ? new ElementError(field, error) : error;
  }
}
