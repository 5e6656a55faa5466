import type { Inference, Tokenization, Vocabulary } from '../native/engine';
import { EngineError } from '../native/engine';
import { ElementError, ServiceError } from '../serving/errors';
import { requireResponseSize } from '../serving/json';
import type { ServiceRequest } from '../serving/service-request';
import type { TextTokenizer } from '../tasks/capabilities';
import type { ServedModel } from '../tasks/served-model';
import { requirePrompt } from './embed';
import { requireModel } from './inference';

type Caller = Pick<ServiceRequest, 'inferOptions'>;

/** Texts to tokenize. */
export interface TokenizeInput {
  readonly texts: readonly string[];
  readonly addSpecialTokens: boolean;
  /** Name of a prompt that is prepended to each text; null: the default prompt; undefined: no prompt. */
  readonly promptName?: string | null;
  /** Name of the list in the request, for errors of one text; null: the request is not a list. */
  readonly field: string | null;
  /** Minimum size of a token in the response, in bytes. */
  readonly tokenBytes: number;
  readonly responseLimit: number;
}

/** Tokens of a text. */
export interface TokenizedText extends Pick<Tokenization, 'ids' | 'offsets' | 'texts'> {
  /** The text with its prompt, to which the offsets refer. */
  readonly text: string;
}

/**
 * Tokenizes whole texts, on the tokenization threads of the model.
 *
 * @throws ServiceError MODEL_NOT_LOADED, BODY_INVALID, RESPONSE_TOO_LARGE; EngineError, ElementError
 */
export async function tokenize(
  caller: Caller,
  served: ServedModel<TextTokenizer>,
  { texts, addSpecialTokens, promptName, field, tokenBytes, responseLimit }: TokenizeInput,
): Promise<{
  readonly tokenized: readonly TokenizedText[];
  readonly vocabulary: Vocabulary;
  readonly inferences: readonly Inference[];
}> {
  const model = requireModel(served.model);
  const vocabulary = requireModel(model.vocabulary);
  const prompt = promptOf(model, promptName);
  const prompted = prompt === '' ? texts : texts.map((text) => prompt + text);
  const options = caller.inferOptions(served);
  const inferences = await model.tokenize(prompted, addSpecialTokens, options).catch((error) => {
    const index = error instanceof EngineError && field !== null ? error.index : null;
    throw index === null ? error : new ElementError(`${field}[${index}]`, error);
  });
  const count = inferences.reduce((sum, { places }) => sum + (places?.ids.length ?? 0), 0);
  requireResponseSize(count * tokenBytes, responseLimit);
  const tokenized = inferences.map(({ places }, index) => {
    const { ids, offsets, texts: sources } = places as Tokenization;
    return { text: prompted[index] as string, ids, offsets, texts: sources };
  });
  return { tokenized, vocabulary, inferences };
}

/**
 * Decodes lists of token IDs to texts, on a native thread.
 *
 * @param field name of the list of lists in the request; `isList` false: the field is a single list
 * @throws ServiceError MODEL_NOT_LOADED, BODY_INVALID: an ID is unknown, RESPONSE_TOO_LARGE; EngineError
 */
export async function decode(
  caller: Caller,
  served: ServedModel<TextTokenizer>,
  {
    lists,
    skipSpecialTokens,
    field,
    isList,
    responseLimit,
  }: {
    readonly lists: readonly (readonly number[])[];
    readonly skipSpecialTokens: boolean;
    readonly field: string;
    readonly isList: boolean;
    readonly responseLimit: number;
  },
): Promise<readonly string[]> {
  const model = requireModel(served.model);
  caller.inferOptions(served);
  const decoded = await model.decode(lists, skipSpecialTokens);
  const sizes = decoded.map((text) => (typeof text === 'string' ? text.length : 0));
  requireResponseSize(
    sizes.reduce((sum, size) => sum + size, 0),
    responseLimit,
  );
  return decoded.map((text, index) => {
    if (typeof text === 'string') return text;
    const place = isList ? `${field}[${index}][${text}]` : `${field}[${text}]`;
    const problem = `expected a token ID of the model, found ${lists[index]?.[text]}`;
    const fix = 'Send IDs of its vocabulary, as POST /tokenize returns them';
    throw new ServiceError('BODY_INVALID', `${place}: ${problem}. ${fix}`);
  });
}

/** Empty: no prompt. @throws ServiceError BODY_INVALID */
function promptOf({ metadata }: TextTokenizer, name: string | null | undefined): string {
  if (name === undefined) return '';
  if (name === null) return metadata.defaultPrompt ?? '';
  const { prompts = {}, tasks = [] } = metadata;
  return requirePrompt({ prompts, tasks }, { promptName: name }).prompt ?? '';
}
