import type { PromptSettings } from '../models/sentence-transformers/model';
import type { Inference, NativeInput, TextInput, TokenInput } from '../native/engine';
import type { EmbeddingInput, Parts, SparseEntries } from './capabilities';
import { prepareText } from './embeddings';
/** Tokens without an entry in sparse embeddings: those that FlagEmbedding ignores. */
export const IGNORED_TOKENS = ['<s>', '</s>', '<pad>', '<unk>'];

/** Engine input for the parts of bge-m3. */
export function prepareParts(
  input: EmbeddingInput,
  prompts: PromptSettings,
  parts: Parts,
): NativeInput {
  const prepared = prepareText(input, prompts) as TextInput | TokenInput;
  return { ...prepared, skips: true, parts };
}

/**
 * Splits the outputs of a text.
 *
 * @param width numbers of a vector
 */
export function splitParts({ values }: Inference, width: number, parts: Parts) {
  let at = 0;
  const take = (count: number) => {
    at += count;
    return values.subarray(at - count, at);
  };
  const dense = parts.dense ? take(width) : null;
  const sparse = parts.sparse ? toEntries(take(2 * (take(1)[0] as number))) : null;
  const rows = parts.colbert ? (values.length - at) / width : 0;
  const colbert = parts.colbert ? Array.from({ length: rows }, () => take(width)) : null;
  return { dense, sparse, colbert };
}

/** @param pairs ID and weight in turn */
function toEntries(pairs: Float32Array): SparseEntries {
  const ids = new Uint32Array(pairs.length / 2);
  const values = new Float32Array(ids.length);
  for (let i = 0; i < ids.length; i++) {
    ids[i] = pairs[2 * i] as number;
    values[i] = pairs[2 * i + 1] as number;
  }
  return { ids, values };
}
