import type { Flags } from '../files/flags';
import type { Member } from '../files/plan';
import { roundToFourDecimals } from '../numeric/rounding';
import type { Classification } from './abilities';
import type { AnswerFormat } from './rows';

export const ALL_LABELS = {
  'all-labels': { help: 'the probabilities of all labels, too' },
} as const satisfies Flags;

/** The names of an answer's columns. */
export interface ClassColumns {
  readonly label: string;
  readonly score: string;
  /** null: there is no such thing. */
  readonly truncated: string | null;
}

/** A class with its probability, as the batch route of the service has it. */
export function classFormat(
  { label, score, truncated }: ClassColumns,
  labels: readonly string[],
  hasAllLabels: boolean,
): AnswerFormat<Classification> {
  const isCut = ({ inference }: Classification) => truncated !== null && inference.truncated;
  const members: Member<Classification>[] = [
    { name: label, type: 'string', of: (answer) => answer.label },
    { name: score, type: 'number', of: (answer) => roundToFourDecimals(answer.score) },
    {
      name: 'probabilities',
      type: 'number',
      parts: hasAllLabels ? labels : [],
      of: ({ scores }) => Array.from(scores, roundToFourDecimals),
    },
  ];
  if (truncated !== null) members.push({ name: truncated, type: 'boolean', of: isCut });
  return {
    members,
    labels,
    count: (answer) => ({ labels: [answer.label], truncated: isCut(answer) }),
  };
}
