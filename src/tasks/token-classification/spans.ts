import type { TokenPlaces, Vocabulary } from '../../native/engine';
import { argmax } from '../../numeric/activations';
import type { ClassifierAbout, Tagging } from '../abilities';
import { countCodePoints } from './code-points';
import { groupsOf, type Tagged, withoutOverlaps } from './groups';

/**
 * From the scores of tokens to spans of the text, as the `token-classification` pipeline of
 * transformers 5.23 does it (pipelines/token_classification.py), span by span.
 */
export const STRATEGIES = ['none', 'simple', 'first', 'average', 'max'] as const;
export type Strategy = (typeof STRATEGIES)[number];

export interface SpanOptions {
  /** Default: none, a span for each token. */
  readonly strategy?: Strategy | null | undefined;
  /** Of labels that are left out, as spans have them. Default: O. */
  readonly ignoreLabels?: readonly string[] | null | undefined;
}

export interface Span {
  /** Of `none` the model's own, else without what is before the first `-`. */
  readonly label: string;
  readonly score: number;
  /** As the tokenizer puts its tokens together; the text itself has `start` to `end`. */
  readonly word: string;
  /** In UTF-16 units of the text. */
  readonly start: number;
  readonly end: number;
  /** Of `none`: of the token in its window, special tokens included; else null. */
  readonly index: number | null;
}

/** A token of the text, none that the tokenizer has added. */
interface Token {
  readonly id: number;
  readonly index: number;
  readonly start: number;
  readonly end: number;
  /** Of all labels. */
  readonly scores: Float32Array;
}

/** What spans are made of, beside the tokens. */
interface Source {
  readonly text: string;
  readonly labels: readonly string[];
  readonly vocabulary: Vocabulary;
}

const OUTSIDE = ['O'];

export function spansOf(
  { text, scores, inference: { places } }: Tagging,
  {
    about: { labels },
    vocabulary,
  }: { readonly about: ClassifierAbout; readonly vocabulary: Vocabulary | null },
  { strategy, ignoreLabels }: SpanOptions,
): readonly Span[] {
  if (!places || !vocabulary) throw new Error('the model has no places of tokens');
  const source = { text, labels, vocabulary };
  const ignored = new Set(ignoreLabels ?? OUTSIDE);
  const spans = windows(places, scores, labels.length).flatMap((tokens) => {
    const tagged = tagsOf(tokens, source, strategy ?? 'none');
    const groups = strategy === 'none' || !strategy ? tagged : groupsOf(tagged, vocabulary);
    return groups.filter(({ label }) => !ignored.has(label));
  });
  const whole = places.lengths.length > 1 ? withoutOverlaps(spans, text) : spans;
  return whole.map(({ label, score, word, start, end, index }) => ({
    ...{ label, score, word: word(), start, end, index },
  }));
}

function windows(
  { ids, offsets, texts, lengths }: TokenPlaces,
  scores: Float32Array,
  columns: number,
): readonly (readonly Token[])[] {
  let begin = 0;
  return Array.from(lengths, (length) => {
    const tokens: Token[] = [];
    for (let index = 0; index < length; index++) {
      const row = begin + index;
      if (texts[row] === 0) continue;
      tokens.push({
        ...{ id: ids[row] as number, index },
        ...{ start: offsets[2 * row] as number, end: offsets[2 * row + 1] as number },
        scores: scores.subarray(row * columns, (row + 1) * columns),
      });
    }
    begin += length;
    return tokens;
  });
}

/** A tag for each token or, where the strategy is one of words, for each word. */
function tagsOf(tokens: readonly Token[], source: Source, strategy: Strategy): readonly Tagged[] {
  if (strategy === 'none' || strategy === 'simple') {
    return tokens.map((token) => ({
      ...best(token.scores, source),
      ...{ start: token.start, end: token.end },
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
    ...best(scoresOf(word, strategy), source),
    start: (word[0] as Token).start,
    end: (word.at(-1) as Token).end,
    index: null,
    word: () => source.vocabulary.join(word.map((token) => wordOf(token, source))),
  }));
}

function best(scores: Float32Array, { labels }: Source): { label: string; score: number } {
  const top = argmax(scores);
  return { label: labels[top] as string, score: scores[top] as number };
}

function wordOf({ id, start, end }: Token, { text, vocabulary }: Source): string {
  return id === vocabulary.unknownId ? text.slice(start, end) : vocabulary.token(id);
}

/** Whether it goes on with the word before it. */
function isSubword({ id, start, end }: Token, { text, vocabulary }: Source): boolean {
  if (id === vocabulary.unknownId) return false;
  if (!vocabulary.marksContinuedWords) {
    return start > 0 && !text.slice(start - 1, start + 1).includes(' ');
  }
  const token = vocabulary.token(id);
  return countCodePoints(token, 0, token.length) !== countCodePoints(text, start, end);
}

/** Of a word: those of its first token, of the one that is surest, or their means. */
function scoresOf(
  word: readonly Token[],
  strategy: Exclude<Strategy, 'none' | 'simple'>,
): Float32Array {
  const first = word[0] as Token;
  if (strategy === 'first' || word.length === 1) return first.scores;
  if (strategy === 'max') {
    let surest = first;
    for (const token of word) if (top(token) > top(surest)) surest = token;
    return surest.scores;
  }
  // In float32 one after the other, as numpy adds along the first axis.
  const sums = new Float32Array(first.scores.length);
  for (const { scores } of word) {
    for (const [label, score] of scores.entries()) sums[label] = (sums[label] as number) + score;
  }
  return sums.map((sum) => sum / word.length);
}

function top({ scores }: Token): number {
  return scores[argmax(scores)] as number;
}
