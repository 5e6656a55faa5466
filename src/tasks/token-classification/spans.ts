import { countCodePoints } from '../../lib/code-points';
import { argmax, argmaxWithin } from '../../lib/numbers';
import { mapInTimeSlices } from '../../lib/time-slice';
import type { Tokenization, Vocabulary } from '../../native/engine';
import type { ClassifierMetadata, TokenClassification } from '../capabilities';
import { dropOverlaps, groupEntities, type LabeledSpan } from './groups';

/**
 * From the scores of tokens to spans of the text, as the `token-classification` pipeline of
 * transformers 5.23 does it (pipelines/token_classification.py), span by span.
 */
export const STRATEGIES = ['none', 'simple', 'first', 'average', 'max'] as const;
export type Strategy = (typeof STRATEGIES)[number];

export interface SpanOptions {
  /** Default: none, a span for each token. */
  readonly strategy?: Strategy | null | undefined;
  /** Of labels that are left out, as spans have them. Default: O. For many texts a set, which is made once. */
  readonly ignoreLabels?: readonly string[] | ReadonlySet<string> | null | undefined;
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
  /** Where its row of scores begins. */
  readonly at: number;
  /** Of the labels the one with the highest score. */
  readonly label: number;
  readonly score: number;
}

/** What spans are made of, beside the tokens. */
interface Source {
  readonly text: string;
  readonly labels: readonly string[];
  readonly vocabulary: Vocabulary;
  /** [tokens, labels] */
  readonly scores: Float32Array;
}

const OUTSIDE = ['O'];

export async function toSpans(
  { text, scores, inference: { places } }: TokenClassification,
  {
    metadata: { labels },
    vocabulary,
  }: { readonly metadata: ClassifierMetadata; readonly vocabulary: Vocabulary | null },
  options: SpanOptions,
): Promise<readonly Span[]> {
  if (!places || !vocabulary) throw new Error('the model has no places of tokens');
  const source = { text, labels, vocabulary, scores };
  // The model may be unloaded while others have their turn.
  return vocabulary.track(() => spansIn(places, source, options));
}

async function spansIn(
  places: Tokenization,
  source: Source,
  { strategy, ignoreLabels }: SpanOptions,
): Promise<readonly Span[]> {
  const { text, vocabulary } = source;
  const ignored: ReadonlySet<string> =
    ignoreLabels instanceof Set ? ignoreLabels : new Set(ignoreLabels ?? OUTSIDE);
  const spans = await mapInTimeSlices(windows(places), (window) => {
    const tagged = tagsOf(tokensOf(places, window, source), source, strategy ?? 'none');
    const groups = strategy === 'none' || !strategy ? tagged : groupEntities(tagged, vocabulary);
    return groups.filter(({ label }) => !ignored.has(label));
  });
  const found = spans.flat();
  const whole = places.lengths.length > 1 ? dropOverlaps(found, text) : found;
  return mapInTimeSlices(whole, ({ label, score, word, start, end, index }) => ({
    label,
    score,
    word: word(),
    start,
    end,
    index,
  }));
}

/** Of each the rows of its tokens. */
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

/** A tag for each token or, where the strategy is one of words, for each word. */
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

/** Whether it goes on with the word before it. */
function isSubword({ id, start, end }: Token, { text, vocabulary }: Source): boolean {
  if (id === vocabulary.unknownId) return false;
  if (!vocabulary.marksContinuedWords) {
    return start > 0 && !text.slice(start - 1, start + 1).includes(' ');
  }
  const token = vocabulary.token(id);
  return countCodePoints(token, 0, token.length) !== countCodePoints(text, start, end);
}

/** Of a word: the label of its first token, of the one that is surest, or of the mean of their scores. */
function best(
  word: readonly Token[],
  source: Source,
  strategy: Exclude<Strategy, 'none' | 'simple'>,
): { readonly label: string; readonly score: number } {
  const first = word[0] as Token;
  const told = ({ label, score }: Pick<Token, 'label' | 'score'>) => ({
    label: source.labels[label] as string,
    score,
  });
  if (strategy === 'first' || word.length === 1) return told(first);
  if (strategy === 'max') {
    return told(word.reduce((surest, token) => (token.score > surest.score ? token : surest)));
  }
  // In float32 one after the other, as numpy adds along the first axis.
  const means = new Float32Array(source.labels.length);
  for (const { at } of word) {
    for (let i = 0; i < means.length; i++) {
      means[i] = (means[i] as number) + (source.scores[at + i] as number);
    }
  }
  for (let i = 0; i < means.length; i++) means[i] = (means[i] as number) / word.length;
  const label = argmax(means);
  return told({ label, score: means[label] as number });
}
