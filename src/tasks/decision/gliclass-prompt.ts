import {
  type GliclassMetadata,
  LABEL_TOKEN,
  SEPARATOR_TOKEN,
} from '../../models/gliclass/directory';
import { EngineError, type TokenInput } from '../../native/engine';
import type { TextTokens, TokenRecipe } from '../token-recipe';

/** Markers of labels, of the text and of examples. In texts of a request they become spaces. */
const MARKERS = [LABEL_TOKEN, SEPARATOR_TOKEN, '<<EXAMPLE>>'];

/** A combining mark at the start of a label would change the marker before it. */
const COMBINING = /^\p{M}/u;

export interface GliclassInput {
  readonly text: string;
  /** At least one. */
  readonly labels: readonly string[];
  /** Description of the task; null: none. */
  readonly prompt: string | null;
  readonly truncationSide: 'left' | 'right';
}

/** A text with its labels, and where its parts are, in bytes of UTF-8. */
interface Prompt {
  readonly text: string;
  /** Starts of the tokens before the labels, and of the separator. */
  readonly markers: readonly number[];
  /** Start and end of the text of the request. */
  readonly begin: number;
  readonly end: number;
}

/**
 * The sequence of a text and its labels. Its markers are the tokens before the labels, and the separator. If it is too
 * long, tokens of the text are removed. Source: gliclass, pipeline.py (`UniEncoderZeroShotClassificationPipeline`),
 * which truncates the end of the sequence, even if the labels are there.
 */
export function gliclassRecipe(input: GliclassInput, metadata: GliclassMetadata): TokenRecipe {
  const prompt = joinParts(input, metadata);
  return {
    texts: [prompt.text],
    addsSpecialTokens: true,
    compose: ([tokens], maxLength) =>
      composeTokens(tokens as TextTokens, prompt, {
        maxLength,
        truncationSide: input.truncationSide,
        metadata,
      }),
  };
}

function joinParts(
  { text, labels, prompt }: GliclassInput,
  { isPromptFirst }: GliclassMetadata,
): Prompt {
  const parts: string[] = [];
  const markers: number[] = [];
  let bytes = 0;
  const append = (part: string): void => {
    parts.push(part);
    bytes += Buffer.byteLength(part);
  };
  const appendMarker = (marker: string): void => {
    markers.push(bytes);
    append(marker);
  };
  const appendLabels = (): void => {
    for (const label of labels) {
      appendMarker(LABEL_TOKEN);
      append(neutralized(label));
    }
    appendMarker(SEPARATOR_TOKEN);
    append(neutralized(prompt ?? ''));
  };
  if (isPromptFirst) appendLabels();
  const begin = bytes;
  append(isPromptFirst ? neutralized(text) : withoutMarkers(text));
  const end = bytes;
  if (!isPromptFirst) appendLabels();
  return { text: parts.join(''), markers, begin, end };
}

function withoutMarkers(text: string): string {
  return MARKERS.reduce((rest, marker) => rest.replaceAll(marker, ' '), text);
}

/** A text after a marker. */
function neutralized(text: string): string {
  const clean = withoutMarkers(text);
  return COMBINING.test(clean) ? ` ${clean}` : clean;
}

interface Limits {
  readonly maxLength: number;
  readonly truncationSide: 'left' | 'right';
  readonly metadata: GliclassMetadata;
}

/** @throws EngineError INPUT_TOO_LONG: the labels leave no tokens for the text */
function composeTokens(tokens: TextTokens, prompt: Prompt, limits: Limits): TokenInput {
  const { ids, types } = tokens;
  const markers = findMarkers(tokens, prompt.markers, limits.metadata);
  const removed = tokensToRemove(tokens, prompt, limits);
  const count = removed.end - removed.begin;
  if (count === 0) return { ids, types, markers };
  const without = (values: Uint32Array): Uint32Array =>
    values.filter((_, index) => index < removed.begin || index >= removed.end);
  const moved = markers.map((marker) => (marker >= removed.end ? marker - count : marker));
  return { ids: without(ids), types: without(types), markers: moved, truncated: true };
}

/** Tokens at the starts of the markers, whatever other texts contain. */
function findMarkers(
  { ids, offsets, texts }: TextTokens,
  starts: readonly number[],
  { labelTokenId, separatorTokenId }: GliclassMetadata,
): Uint32Array {
  const markers = new Uint32Array(starts.length);
  let found = 0;
  for (const [index, id] of ids.entries()) {
    const isSeparator = found === starts.length - 1;
    if (found === starts.length || texts[index] === 0) continue;
    if (id !== (isSeparator ? separatorTokenId : labelTokenId)) continue;
    const start = starts[found] as number;
    const [begin = 0, end = 0] = offsets.subarray(2 * index, 2 * index + 2);
    if (begin <= start && start < end) markers[found++] = index;
  }
  if (found === starts.length) return markers;
  throw new EngineError('INFERENCE_FAILED', 'The tokenizer changed a marker between the labels.');
}

/** Tokens of the text beyond the limit. @throws EngineError INPUT_TOO_LONG */
function tokensToRemove(
  { ids, offsets, texts }: TextTokens,
  { begin, end }: Prompt,
  { maxLength, truncationSide }: Limits,
): { readonly begin: number; readonly end: number } {
  const excess = ids.length - maxLength;
  if (excess <= 0) return { begin: 0, end: 0 };
  const isOfText = (_: number, index: number): boolean => {
    const start = offsets[2 * index] as number;
    return texts[index] !== 0 && start >= begin && start < end;
  };
  const first = ids.findIndex(isOfText);
  const last = ids.findLastIndex(isOfText);
  const own = first < 0 ? 0 : last + 1 - first;
  if (excess >= own) {
    const message = `The labels and the instructions have ${ids.length - own} tokens, which leave none for the text: the model takes ${maxLength}. Send fewer or shorter labels.`;
    throw new EngineError('INPUT_TOO_LONG', message);
  }
  return truncationSide === 'left'
    ? { begin: first, end: first + excess }
    : { begin: last + 1 - excess, end: last + 1 };
}
