import { mapInTimeSlices } from '../lib/time-slice';
import type { Inference, NativeInput, SchedulingOptions, TextListInput } from './binding';
import { type EngineError, isInputFault, withIndex } from './engine-error';
import type { InferOptions } from './pending-requests';

/** Characters per token, to estimate the length of a text before its tokenization. */
const CHARACTERS_PER_TOKEN = 4;
/** Maximum length of a list in characters. In UTF-8 it is smaller than an input of the class of long texts. */
const MAX_CHARACTERS = 4096;

type Encoding = Pick<TextListInput, 'truncation' | 'truncationSide'>;
type Limits = Pick<SchedulingOptions, 'maxBatchTokens' | 'maxBatchRequests'>;

/**
 * Joins the texts of a list into few requests, for models that take less time for a text than a request does. A request
 * has about as many tokens as a batch.
 */
export class TextLists {
  readonly #maxTexts: number;
  readonly #maxLength: number;

  constructor({ maxBatchTokens, maxBatchRequests }: Limits) {
    this.#maxTexts = maxBatchRequests;
    this.#maxLength = Math.min(maxBatchTokens * CHARACTERS_PER_TOKEN, MAX_CHARACTERS);
  }

  /** @returns null: an input is not a single text, or the texts have different options */
  join(
    inputs: readonly NativeInput[],
    { maxOutputs }: InferOptions,
  ): readonly TextListInput[] | null {
    if (inputs.length < 2 || maxOutputs !== undefined) return null;
    const encoding = encodingOf(inputs[0] as NativeInput);
    if (encoding === null) return null;
    const lists: TextListInput[] = [];
    let texts: string[] = [];
    let length = 0;
    for (const input of inputs) {
      const text = textOf(input, encoding);
      if (text === null) return null;
      length += text.length;
      if (texts.length > 0 && (texts.length === this.#maxTexts || length > this.#maxLength)) {
        lists.push({ ...concatenate(texts), ...encoding });
        texts = [];
        length = text.length;
      }
      texts.push(text);
    }
    lists.push({ ...concatenate(texts), ...encoding });
    return lists;
  }
}

/** One string takes a fraction of the time that the native code takes to read each text. */
function concatenate(texts: readonly string[]): Pick<TextListInput, 'text' | 'ends'> {
  const ends = new Uint32Array(texts.length);
  const text = texts.join('');
  const isAscii = Buffer.byteLength(text) === text.length;
  // Lone surrogates become U+FFFD. Two of them at a border would become one character.
  const own = isAscii ? texts : texts.map((each) => Buffer.from(each).toString());
  let end = 0;
  for (let i = 0; i < own.length; i++) {
    const each = own[i] as string;
    end += isAscii ? each.length : Buffer.byteLength(each);
    ends[i] = end;
  }
  return { text: isAscii ? text : own.join(''), ends };
}

/**
 * Runs joined texts.
 *
 * @param infer runs the lists as requests. Its argument adds the index of a text to the error of a request
 * @returns an inference for each text. Embeddings of the same request are views of one buffer
 */
export async function inferTextLists(
  lists: readonly TextListInput[],
  infer: (
    locate: (error: EngineError, request: number) => EngineError,
  ) => Promise<readonly Inference[]>,
): Promise<readonly Inference[]> {
  const inferences = await infer((error, request) => locateText(error, request, lists));
  return (await mapInTimeSlices(inferences, split)).flat();
}

/** An error of the run has no index: the texts of the request fail together. */
function locateText(
  error: EngineError,
  request: number,
  lists: readonly TextListInput[],
): EngineError {
  if (!isInputFault(error)) return error;
  const element = error.index ?? (error.code === 'DEADLINE_EXCEEDED' ? 0 : null);
  if (element === null) return error;
  const before = lists.slice(0, request).reduce((sum, { ends }) => sum + ends.length, 0);
  return withIndex(error, before + element);
}

function split({ values, list, batchTokens, ...inference }: Inference): readonly Inference[] {
  const { batchSize, queueMs, tokenizationMs, inferenceMs } = inference;
  const { ends, truncated } = list as NonNullable<Inference['list']>;
  const columns = values.length / ends.length;
  const split: Inference[] = [];
  let begin = 0;
  for (let i = 0; i < ends.length; i++) {
    const end = ends[i] as number;
    split.push({
      values: values.subarray(i * columns, (i + 1) * columns),
      rows: 1,
      tokens: end - begin,
      truncated: truncated[i] === 1,
      batchSize,
      batchTokens: i === 0 ? batchTokens : 0,
      queueMs,
      tokenizationMs: tokenizationMs / ends.length,
      inferenceMs,
    });
    begin = end;
  }
  return split;
}

/** Options of a single text; null: another input, or further options. */
function encodingOf(input: NativeInput): Encoding | null {
  if (typeof input === 'string') return {};
  if (!('text' in input) || 'labels' in input || 'ends' in input) return null;
  const { text: _, truncation, truncationSide, ...others } = input;
  if (Object.keys(others).length > 0) return null;
  return { ...(truncation && { truncation }), ...(truncationSide && { truncationSide }) };
}

/** The text of an input with these options; null: another input, or other options. */
function textOf(input: NativeInput, { truncation, truncationSide }: Encoding): string | null {
  const own = encodingOf(input);
  const isEqual = own?.truncation === truncation && own?.truncationSide === truncationSide;
  if (own === null || !isEqual) return null;
  return typeof input === 'string' ? input : (input as { readonly text: string }).text;
}
