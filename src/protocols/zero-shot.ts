import { z } from 'zod';
import { EngineError, type InferOptions } from '../native/engine';
import { ElementError, ServiceError } from '../serving/errors';
import type { EntailmentClassifier } from '../tasks/abilities';
import {
  classifyZeroShot,
  findTemplateProblem,
  TEMPLATE,
  type ZeroShotQuestion,
} from '../tasks/zero-shot/classify';
import type { ProtocolOptions } from './protocol';
import {
  boolean,
  checked,
  type ElementProblem,
  findListProblem,
  findRepeatedProblem,
  MAX_REPEATED,
  repeatedString,
} from './validation/fields';

const ANY = 'an array of strings, or a string with commas between labels';

function findLabelsProblem(value: unknown): ElementProblem | null {
  const problem =
    typeof value === 'string' ? null : findListProblem(value, ANY, findRepeatedProblem);
  if (problem) return problem;
  const labels = labelsOf(value as string | readonly string[]);
  if (labels.length === 0) return { message: 'expected at least one label', path: [] };
  const long = labels.findIndex((label) => findRepeatedProblem(label) !== null);
  return long < 0 ? null : findRepeatedProblem(labels[long]);
}

function labelsOf(value: string | readonly string[]): readonly string[] {
  if (typeof value !== 'string') return value;
  const labels = value.split(',').map((label) => label.trim());
  return labels.filter((label) => label !== '');
}

/** Fields of a body that asks by labels. */
export const ZERO_SHOT_FIELDS = {
  candidate_labels: checked(findLabelsProblem, (value) =>
    labelsOf(value as string | readonly string[]),
  ).meta({
    description: 'Labels: an array, or a string with commas between them',
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
    .describe(`What a text is held against, {} in the place of a label. Default: "${TEMPLATE}"`),
  multi_label: boolean()
    .nullish()
    .describe('Each label by itself. Default: false, the scores of all add up to 1'),
};

type ZeroShotFields = z.output<ReturnType<typeof fields>>;
const fields = () => z.object(ZERO_SHOT_FIELDS);

export function questionOf(
  texts: readonly string[],
  { candidate_labels, hypothesis_template, multi_label }: ZeroShotFields,
): ZeroShotQuestion {
  return {
    texts,
    labels: candidate_labels,
    template: hypothesis_template ?? TEMPLATE,
    isMultiLabel: multi_label ?? false,
  };
}

/**
 * Runs the model on each text with each label, all of them one request to the queue.
 *
 * @param field of the body that holds the labels, for what the engine says of one of them
 * @throws ServiceError LIST_TOO_LONG; EngineError, ElementError
 */
export async function runZeroShot(
  model: EntailmentClassifier,
  question: ZeroShotQuestion,
  {
    options,
    field,
    surroundings: { listLength },
  }: {
    readonly options: InferOptions;
    readonly field: string;
    readonly surroundings: Pick<ProtocolOptions, 'listLength'>;
  },
) {
  const { texts, labels } = question;
  const pairs = texts.length * labels.length;
  if (pairs > listLength) {
    const message = `${field}: ${labels.length} labels of ${texts.length} texts are over the limit of ${listLength} pairs.`;
    throw new ServiceError('LIST_TOO_LONG', message);
  }
  try {
    return await classifyZeroShot(model, question, options);
  } catch (error) {
    const index = error instanceof EngineError ? error.index : null;
    if (index === null) throw error;
    throw new ElementError(`${field}[${index % labels.length}]`, error as Error);
  }
}
