import type { Flags } from '../files/flags';
import type { ResultField } from '../files/job-spec';
import { roundToFourDecimals } from '../lib/numbers';
import type { Classification } from './capabilities';
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
  const fields: ResultField<Classification>[] = [
    { name: label, type: 'string', extract: (answer) => answer.label },
    { name: score, type: 'number', extract: (answer) => roundToFourDecimals(answer.score) },
    {
      name: 'probabilities',
      type: 'number',
      parts: hasAllLabels ? labels : [],
      extract: ({ scores }) => Array.from(scores, roundToFourDecimals),
    },
  ];
  if (truncated !== null) fields.push({ name: truncated, type: 'boolean', extract: isCut });
  return {
    fields,
    labels,
    summarize: (answer) => ({ labels: [answer.label], truncated: isCut(answer) }),
  };
}
