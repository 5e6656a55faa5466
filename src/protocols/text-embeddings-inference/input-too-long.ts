import { EngineError, type InferOptions } from '../../native/engine';
import type { TextOrIds } from '../../services/embed';
import { ElementError, ServiceError } from '../../serving/errors';
import type { ServiceRequest } from '../../serving/service-request';
import type { TextTokenizer } from '../../tasks/capabilities';
import { type ServedModel, withCapability } from '../../tasks/served-model';

/** Inputs of a request, for the message. */
interface Inputs {
  /** Texts without their prompt; null: a text pair, whose tokens are not counted. */
  readonly elements: readonly (TextOrIds | null)[];
  /** Whether the request has a list of inputs. */
  readonly isList: boolean;
  /** Prompt of all texts. */
  readonly prompt: () => string;
}

/**
 * Runs `infer`. If an input has more tokens than the model allows, the error has the message of
 * text-embeddings-inference, with the number of tokens.
 *
 * @throws as `infer`; ServiceError INPUT_TOO_LONG
 */
export async function withTokenCount<Result>(
  call: ServiceRequest,
  served: ServedModel<unknown>,
  inputs: Inputs,
  infer: () => Promise<Result>,
): Promise<Result> {
  try {
    return await infer();
  } catch (error) {
    const index = indexOfTooLong(error);
    if (index === null) throw error;
    const model = withCapability(served as ServedModel, 'tokenization')?.model;
    const count = model && (await countTokens(model, inputs, index, call.inferOptions(served)));
    // Queries of late interaction have a lower limit than the model, and keep the message of the engine.
    if (!count || count <= model.maxLength) throw error;
    const path = inputs.isList ? `inputs[${index}]` : 'inputs';
    throw new ServiceError(
      'INPUT_TOO_LONG',
      `\`${path}\` must have less than ${model.maxLength} tokens. Given: ${count}`,
    );
  }
}

/** Index of the input that is too long; null: another error. */
function indexOfTooLong(error: unknown): number | null {
  const cause = error instanceof ElementError ? error.cause : error;
  return cause instanceof EngineError && cause.code === 'INPUT_TOO_LONG'
    ? (cause.index ?? 0)
    : null;
}

/** Number of tokens of an input with special tokens; null: unknown. @throws EngineError */
async function countTokens(
  model: TextTokenizer,
  { elements, prompt }: Inputs,
  index: number,
  options: InferOptions,
): Promise<number | null> {
  const element = elements[index];
  if (typeof element !== 'string') return element?.length ?? null;
  if (!model.vocabulary) return null;
  const [tokenized] = await model.tokenize([prompt() + element], true, options);
  return tokenized?.places?.ids.length ?? null;
}
