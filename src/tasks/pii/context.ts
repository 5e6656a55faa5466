import stopWords from './stop-words.json';

/** Words before a result that are compared with the context words of its recognizer. */
const WORDS = 5;
/** Added to the score of a result with a context word, and the minimum of the sum. */
const BONUS = 0.35;
const MINIMUM = 0.4;

const STOP_WORDS: ReadonlySet<string> = new Set(stopWords);

export interface Word {
  /** In lower case. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Neither a stop word nor punctuation. */
  readonly isKeyword: boolean;
}

/**
 * Words of a text. Presidio compares the lemmas of spaCy; here words are compared in lower case. A context word is found
 * in any form that contains it: `card` in `cards`.
 */
export function wordsOf(text: string): readonly Word[] {
  return Array.from(text.matchAll(/[\p{L}\p{N}\p{M}_#]+(?:['’][\p{L}]+)?|[^\s]/gu), (match) => {
    const word = match[0].toLowerCase();
    const isKeyword = /[\p{L}\p{N}]/u.test(word) && !STOP_WORDS.has(word);
    return { text: word, start: match.index, end: match.index + match[0].length, isKeyword };
  });
}

/**
 * Context word of a recognizer at a position: in the word of the position or in the keywords before it, or in the words
 * that a request names.
 *
 * @param given in lower case
 * @returns null: none
 */
export function findContextWord(
  words: readonly Word[],
  start: number,
  context: readonly string[],
  given: readonly string[],
): string | null {
  const near = [...keywordsBefore(words, start), ...given];
  return context.find((word) => near.some((one) => one.includes(word.toLowerCase()))) ?? null;
}

export function raisedScore(score: number): number {
  return Math.min(1, Math.max(MINIMUM, score + BONUS));
}

/** The word at a position, and the keywords before it. */
function keywordsBefore(words: readonly Word[], start: number): readonly string[] {
  const keywords: string[] = [];
  for (let index = indexAt(words, start); index >= 0 && keywords.length <= WORDS; index--) {
    const word = words[index];
    if (word?.isKeyword) keywords.push(word.text);
  }
  return keywords;
}

/** Index of the first word that ends after the position. */
function indexAt(words: readonly Word[], start: number): number {
  let [low, high] = [0, words.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((words[middle]?.end ?? 0) > start) high = middle;
    else low = middle + 1;
  }
  return low;
}
