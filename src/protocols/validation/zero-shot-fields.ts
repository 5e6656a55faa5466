import { findTemplateProblem, TEMPLATE } from '../../tasks/zero-shot/classify';
import {
  boolean,
  checked,
  type ElementProblem,
  findListProblem,
  findRepeatedProblem,
  MAX_REPEATED,
  repeatedString,
} from './fields';

const LABELS = 'an array of strings, or a string with commas between labels';

/** Fields of zero-shot classification. */
export const ZERO_SHOT_FIELDS = {
  candidate_labels: checked(findLabelsProblem, (value) =>
    labelsOf(value as string | readonly string[]),
  ).meta({
    description: 'Candidate labels: an array, or a string with commas between labels',
    anyOf: [
      { type: 'array', items: { type: 'string', maxLength: MAX_REPEATED }, minItems: 1 },
      { type: 'string' },
    ],
  }),
  hypothesis_template: repeatedString()
    .superRefine((template, context) => {
      const problem = findTemplateProblem(template);
      if (problem !== null) context.addIssue({ code: 'custom', message: problem });
    })
    .nullish()
    .describe(
      `Template with {} as the placeholder of a label. Default: "${TEMPLATE}" for NLI models, the label for GLiClass and GLiNER2`,
    ),
  multi_label: boolean()
    .nullish()
    .describe('Whether to score each label independently. Default: false, the scores add up to 1'),
};

function findLabelsProblem(value: unknown): ElementProblem | null {
  const problem =
    typeof value === 'string' ? null : findListProblem(value, LABELS, findRepeatedProblem);
  if (problem) return problem;
  const labels = labelsOf(value as string | readonly string[]);
  if (labels.length === 0) return { message: 'expected at least one label', path: [] };
  const invalid = labels.find((label) => findRepeatedProblem(label) !== null);
  return invalid === undefined ? null : findRepeatedProblem(invalid);
}

function labelsOf(value: string | readonly string[]): readonly string[] {
  if (typeof value !== 'string') return value;
  const labels = value.split(',').map((label) => label.trim());
  return labels.filter((label) => label !== '');
}
