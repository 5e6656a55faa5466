import type { TextInput } from '../native/engine';

/** Text or text pair with its truncation options. */
export interface SentimentTexts extends Pick<TextInput, 'text' | 'truncation' | 'truncationSide'> {
  /** Second text of a text pair, such as the hypothesis of a premise; empty: no second text. */
  readonly textPair?: string;
}

/** Input of text classification. */
export type SentimentInput = string | SentimentTexts;

const CHOICES = {
  truncation: ['longest_first', 'only_first', 'only_second', 'do_not_truncate'],
  truncationSide: ['left', 'right'],
} as const;

/**
 * Returns the problem of an input, such as `text: expected a string, received number`; null if the
 * input is valid.
 */
export function findInputProblem(input: unknown): string | null {
  if (typeof input === 'string') return null;
  if (typeof input !== 'object' || input === null) {
    return `expected a string or an object, received ${input === null ? 'null' : typeof input}`;
  }
  const given = input as Readonly<Record<keyof SentimentTexts, unknown>>;
  for (const key of ['text', 'textPair'] as const) {
    const value = given[key];
    if (typeof value === 'string' || (key === 'textPair' && value === undefined)) continue;
    return `${key}: expected a string, received ${typeof value}`;
  }
  for (const key of ['truncation', 'truncationSide'] as const) {
    const value = given[key];
    const choices: readonly unknown[] = CHOICES[key];
    if (value !== undefined && !choices.includes(value)) {
      return `${key}: expected one of ${choices.join(', ')}`;
    }
  }
  return null;
}

export function toTextInput(input: SentimentInput): string | TextInput {
  if (typeof input === 'string') return input;
  const { text, textPair, truncation, truncationSide } = input;
  return {
    text,
    ...(textPair !== undefined && { pair: textPair }),
    ...(truncation && { truncation }),
    ...(truncationSide && { truncationSide }),
  };
}
