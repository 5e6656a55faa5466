import type { TextInput } from '../native/engine';

/** A text, or two that belong together, and how they are cut where the model takes fewer tokens. */
export interface SentimentTexts extends Pick<TextInput, 'text' | 'truncation' | 'truncationSide'> {
  /** A second text, which the model reads with the first (premise and hypothesis); empty: there is none. */
  readonly textPair?: string;
}

/** What is classified. */
export type SentimentInput = string | SentimentTexts;

const CHOICES = {
  truncation: ['longest_first', 'only_first', 'only_second', 'do_not_truncate'],
  truncationSide: ['left', 'right'],
} as const;

/** `text: expected a string, received number`; null: it is as it should be. */
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
