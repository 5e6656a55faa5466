import type { Member } from '../files/plan';
import { roundToFourDecimals } from '../numeric/rounding';
import type { Classification, ClassifierAbout } from './abilities';
import type { Rows } from './rows';

/**
 * A class with its probability, as the batch route of the service has it.
 *
 * @param names of the columns; null: there is no such thing
 */
export function classFormat({
  label,
  score,
  truncated,
}: {
  readonly label: string;
  readonly score: string;
  readonly truncated: string | null;
}): Rows<unknown, Classification, ClassifierAbout>['format'] {
  const isCut = ({ inference }: Classification) => truncated !== null && inference.truncated;
  return ({ labels }, isWhole) => {
    const members: Member<Classification>[] = [
      { name: label, type: 'string', of: (answer) => answer.label },
      { name: score, type: 'number', of: (answer) => roundToFourDecimals(answer.score) },
      {
        name: 'probabilities',
        type: 'number',
        parts: isWhole ? labels : [],
        of: ({ scores }) => Array.from(scores, roundToFourDecimals),
      },
    ];
    if (truncated !== null) members.push({ name: truncated, type: 'boolean', of: isCut });
    return {
      members,
      labels,
      count: (answer) => ({ label: answer.label, truncated: isCut(answer) }),
    };
  };
}
