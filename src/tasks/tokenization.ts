import type { Tokenization } from '../native/engine';
import type { ModelMetadata, TokenizationInput, TokenizedText, TokenOfText } from './capabilities';
import type { Task } from './task';

/** View of a text model that tokenizes: the whole text, whatever the limit of the model. */
export function tokenizationOf(task: Task): Task<TokenizationInput, TokenizedText, ModelMetadata> {
  return {
    ...(task as unknown as Task<TokenizationInput, TokenizedText, ModelMetadata>),
    prepare: (input) => ({ ...input, places: true, stride: 0, tokenizeOnly: true }),
    toPrediction: (inference) => ({ tokens: joinWindows(inference.places), inference }),
  };
}

/** The tokens of all windows, without the special tokens between them. */
function joinWindows(places: Tokenization | undefined): readonly TokenOfText[] {
  if (!places) return [];
  const { ids, offsets, texts, lengths } = places;
  const tokens: TokenOfText[] = [];
  let begin = 0;
  for (const [window, length] of lengths.entries()) {
    const end = begin + length;
    const isText = (index: number) => texts[index] !== 0;
    const indices = Array.from({ length }, (_, index) => begin + index);
    const first = indices.findIndex(isText);
    for (const [at, index] of indices.entries()) {
      const isLeading = first < 0 || at < first;
      const isKept = isText(index) || (isLeading ? window === 0 : window === lengths.length - 1);
      if (!isKept) continue;
      tokens.push({
        id: ids[index] as number,
        isSpecial: !isText(index),
        start: offsets[2 * index] as number,
        end: offsets[2 * index + 1] as number,
      });
    }
    begin = end;
  }
  return tokens;
}
