import { countCodePoints } from '../../lib/code-points';
import { argmax, argmaxWithin } from '../../lib/numbers';
import { mapInTimeSlices } from '../../lib/time-slice';
import type { Tokenization, Vocabulary } from '../../native/engine';
import type { ClassifierMetadata, TokenClassification } from '../capabilities';
import { decodedSpans } from './decoded-spans';
import { dropOverlaps, groupEntities, type LabeledSpan } from './groups';
import type { ViterbiDecoder } from './viterbi';

/**
 * Aggregation strategies of the `token-classification` pipeline in transformers 5.23
 * (pipelines/token_classification.py). The spans are identical.
 */
export const STRATEGIES = ['none', 'simple', 'first', 'average', 'max'] as const;
export type Strategy = (typeof STRATEGIES)[number];

export interface SpanOptions {
  /** Default: Viterbi decoding if the model has it, otherwise `simple`. */
  readonly strategy?: Strategy | null | undefined;
  /** Span labels to omit. Default: O. Pass a set to reuse it for many texts. */
  readonly ignoreLabels?: readonly string[] | ReadonlySet<string> | null | undefined;
}

export interface Span {
  /** Label without its `B-` or `I-` prefix; for the strategy `none`, the label of the model. */
  readonly label: string;
  readonly score: number;
  /** Decoded tokens of the span. The original text is the slice from `start` to `end`. */
  readonly word: string;
  /** Start offset in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /**
   * Index of the token in its window, including special tokens; null unless the strategy is `none`.
   */
  readonly index: number | null;
}

/** Token of the text, not a special token. */
interface Token {
  readonly id: number;
  readonly index: number;
  readonly start: number;
  readonly end: number;
  /** Offset of the token's row in the scores. */
  readonly at: number;
  /** Index of the label with the highest score. */
  readonly label: number;
  readonly score: number;
}

/** Scores, labels and vocabulary that spans are computed from. */
interface Source {
  readonly text: string;
  readonly labels: readonly string[];
  readonly vocabulary: Vocabulary;
  /** Logits and scores with the shape [tokens, labels]. */
  readonly logits: Float32Array;
  readonly scores: Float32Array;
  /** Undefined: the model has no Viterbi decoding. */
  readonly viterbi: ViterbiDecoder | undefined;
}

const OUTSIDE = ['O'];

export async function toSpans(
  { text, scores, inference: { places, values: logits } }: TokenClassification,
  {
    metadata: { labels, viterbi },
    vocabulary,
  }: { readonly metadata: ClassifierMetadata; readonly vocabulary: Vocabulary | null },
  options: SpanOptions,
): Promise<readonly Span[]> {
  if (!places || !vocabulary) throw new Error('the model has no token offsets');
  const source = { text, labels, vocabulary, logits, scores, viterbi };
  // The lock keeps the vocabulary loaded while the function yields to the event loop.
  return vocabulary.track(() => spansIn(places, source, options));
}

async function spansIn(
  places: Tokenization,
  source: Source,
  { strategy, ignoreLabels }: SpanOptions,
): Promise<readonly Span[]> {
  const ignored: ReadonlySet<string> =
    ignoreLabels instanceof Set ? ignoreLabels : new Set(ignoreLabels ?? OUTSIDE);
  const spans =
    !strategy && source.viterbi
      ? await decodeWindows(places, source, source.viterbi)
      : await aggregateWindows(places, source, strategy ?? 'simple');
  const found = spans.flat().filter(({ label }) => !ignored.has(label));
  const whole = places.lengths.length > 1 ? dropOverlaps(found, source.text) : found;
  return mapInTimeSlices(whole, ({ label, score, word, start, end, index }) => ({
    label,
    score,
    word: word(),
    start,
    end,
    index,
  }));
}

/** Finds the spans of each window by the labels of its tokens. */
function aggregateWindows(
  places: Tokenization,
  source: Source,
  strategy: Strategy,
): Promise<readonly (readonly LabeledSpan[])[]> {
  return mapInTimeSlices(windows(places), (window) => {
    const tagged = tagsOf(tokensOf(places, window, source), source, strategy);
    return strategy === 'none' ? tagged : groupEntities(tagged, source.vocabulary);
  });
}

/**
 * Finds the spans of each window by Viterbi decoding. Spans overlap if the tokens of two entities
 * belong to one character.
 */
async function decodeWindows(
  places: Tokenization,
  source: Source,
  decoder: ViterbiDecoder,
): Promise<readonly (readonly LabeledSpan[])[]> {
  const spans: (readonly LabeledSpan[])[] = [];
  for (const window of windows(places)) {
    const found = await decodedSpans(tokensOf(places, window, source), source, decoder);
    spans.push(dropOverlaps(found, source.text));
  }
  return spans;
}

/** Returns the token range of each window. */
function windows({ lengths }: Tokenization): readonly { begin: number; end: number }[] {
  let end = 0;
  return Array.from(lengths, (length) => {
    const begin = end;
    end += length;
    return { begin, end };
  });
}

function tokensOf(
  { ids, offsets, texts }: Tokenization,
  { begin, end }: { readonly begin: number; readonly end: number },
  { scores, labels: { length } }: Source,
): readonly Token[] {
  const tokens: Token[] = [];
  for (let row = begin; row < end; row++) {
    if (texts[row] === 0) continue;
    const at = row * length;
    const top = argmaxWithin(scores, at, at + length);
    tokens.push({
      id: ids[row] as number,
      index: row - begin,
      start: offsets[2 * row] as number,
      end: offsets[2 * row + 1] as number,
      at,
      label: top - at,
      score: scores[top] as number,
    });
  }
  return tokens;
}

/** Assigns a label to each token, or to each word for word-level strategies. */
function tagsOf(
  tokens: readonly Token[],
  source: Source,
  strategy: Strategy,
): readonly LabeledSpan[] {
  if (strategy === 'none' || strategy === 'simple') {
    return tokens.map((token) => ({
      label: source.labels[token.label] as string,
      score: token.score,
      start: token.start,
      end: token.end,
      index: strategy === 'none' ? token.index : null,
      word: () => wordOf(token, source),
    }));
  }
  const words: Token[][] = [];
  for (const token of tokens) {
    const last = words.at(-1);
    if (last && isSubword(token, source)) last.push(token);
    else words.push([token]);
  }
  return words.map((word) => ({
    ...best(word, source, strategy),
    start: (word[0] as Token).start,
    end: (word.at(-1) as Token).end,
    index: null,
    word: () => source.vocabulary.join(word.map((token) => wordOf(token, source))),
  }));
}

function wordOf({ id, start, end }: Token, { text, vocabulary }: Source): string {
  return id === vocabulary.unknownId ? text.slice(start, end) : vocabulary.token(id);
}

/** Whether a token continues the word of the previous token. */
function isSubword({ id, start, end }: Token, { text, vocabulary }: Source): boolean {
  if (id === vocabulary.unknownId) return false;
  if (!vocabulary.marksContinuedWords) {
    return start > 0 && !text.slice(start - 1, start + 1).includes(' ');
  }
  const token = vocabulary.token(id);
  return countCodePoints(token, 0, token.length) !== countCodePoints(text, start, end);
}

/**
 * Returns the label of a word: the label of its first token, of the token with the highest score,
 * or of the mean scores.
 */
function best(
  word: readonly Token[],
  source: Source,
  strategy: Exclude<Strategy, 'none' | 'simple'>,
): { readonly label: string; readonly score: number } {
  const first = word[0] as Token;
  const toLabel = ({ label, score }: Pick<Token, 'label' | 'score'>) => ({
    label: source.labels[label] as string,
    score,
  });
  if (strategy === 'first' || word.length === 1) return toLabel(first);
  if (strategy === 'max') {
    return toLabel(word.reduce((surest, token) => (token.score > surest.score ? token : surest)));
  }
  // Adds float32 values sequentially, as numpy does along the first axis.
  const means = new Float32Array(source.labels.length);
  for (const { at } of word) {
    for (let i = 0; i < means.length; i++) {
      means[i] = (means[i] as number) + (source.scores[at + i] as number);
    }
  }
  for (let i = 0; i < means.length; i++) means[i] = (means[i] as number) / word.length;
  const label = argmax(means);
  return toLabel({ label, score: means[label] as number });
}
