import type { Question } from '../../tasks/decision/questions';
import {
  findCountProblem,
  findFirstProblem,
  findOptionalTextProblem,
  isRecord,
  MAX_LEVELS,
  MAX_OPTIONS,
  MAX_QUESTIONS,
  OPTIONAL_TEXT_OR_JSON,
  optionalText,
  problemAt,
} from '../validation/decision-fields';
import { checked, type ElementProblem, expected, findRepeatedProblem } from '../validation/fields';

/** An option: a label, or a label with a description. */
type Option = string | { readonly label: string; readonly description?: unknown };

interface QuestionFields {
  readonly name?: string | null;
  readonly instructions?: unknown;
}

/** A question of POST /decide. */
export type OwnQuestion =
  | (QuestionFields & {
      readonly type: 'predicate';
      readonly criteria?: { readonly true?: unknown; readonly false?: unknown } | null;
    })
  | (QuestionFields & { readonly type: 'choice'; readonly options: readonly Option[] })
  | (QuestionFields & { readonly type: 'score'; readonly levels: readonly unknown[] });

const FIELDS = {
  name: { type: ['string', 'null'], description: 'Name of the answer' },
  instructions: { ...OPTIONAL_TEXT_OR_JSON, description: 'The question or the statement' },
};

/** Schema of the questions. */
export const ownQuestions = checked(
  findQuestionsProblem,
  (value) => value as readonly OwnQuestion[],
).meta({
  type: 'array',
  minItems: 1,
  maxItems: MAX_QUESTIONS,
  items: {
    oneOf: [
      {
        type: 'object',
        required: ['type'],
        description: 'Probability that a statement is true. Needs instructions or a criterion',
        properties: {
          type: { const: 'predicate' },
          ...FIELDS,
          criteria: {
            type: ['object', 'null'],
            description: 'When the statement is true or false',
            properties: { true: OPTIONAL_TEXT_OR_JSON, false: OPTIONAL_TEXT_OR_JSON },
          },
        },
      },
      {
        type: 'object',
        required: ['type', 'options'],
        description: 'The most probable of several options',
        properties: {
          type: { const: 'choice' },
          ...FIELDS,
          options: {
            type: 'array',
            minItems: 1,
            maxItems: MAX_OPTIONS,
            items: {
              anyOf: [
                { type: 'string' },
                {
                  type: 'object',
                  required: ['label'],
                  properties: { label: { type: 'string' }, description: OPTIONAL_TEXT_OR_JSON },
                },
              ],
            },
          },
        },
      },
      {
        type: 'object',
        required: ['type', 'levels'],
        description: 'Level of a scale; levels has their descriptions, from level 0',
        properties: {
          type: { const: 'score' },
          ...FIELDS,
          levels: {
            type: 'array',
            minItems: 1,
            maxItems: MAX_LEVELS,
            items: OPTIONAL_TEXT_OR_JSON,
          },
        },
      },
    ],
  },
});

/** The question for a model. @param question of `exactBody` */
export function readQuestion(question: OwnQuestion): Question {
  const instructions = optionalText(question.instructions);
  switch (question.type) {
    case 'predicate': {
      const { true: whenTrue, false: whenFalse } = question.criteria ?? {};
      const criteria = { true: optionalText(whenTrue), false: optionalText(whenFalse) };
      return { type: 'predicate', instructions, criteria };
    }
    case 'choice': {
      const options = question.options.map((option) => ({
        label: labelOf(option),
        description: typeof option === 'string' ? null : optionalText(option.description),
      }));
      return { type: 'choice', instructions, options };
    }
    case 'score':
      return { type: 'score', instructions, levels: question.levels.map(optionalText) };
  }
}

export function labelOf(option: Option): string {
  return typeof option === 'string' ? option : option.label;
}

function findQuestionsProblem(value: unknown): ElementProblem | null {
  const what = 'an array of questions';
  if (!Array.isArray(value)) return { message: expected(what)({ input: value }), path: [] };
  return (
    findCountProblem(value.length, 'questions', [1, MAX_QUESTIONS]) ??
    findFirstProblem(value.entries(), findQuestionProblem)
  );
}

function findQuestionProblem(question: unknown): ElementProblem | null {
  if (!isRecord(question)) return { message: 'expected an object', path: [] };
  const { type, name, instructions, options, levels } = question;
  const problem =
    problemAt('name', name == null ? null : findRepeatedProblem(name)) ??
    problemAt('instructions', findOptionalTextProblem(instructions));
  if (problem) return problem;
  switch (type) {
    case 'predicate':
      return findPredicateProblem(question);
    case 'choice':
      return problemAt('options', findOptionsProblem(options));
    case 'score':
      return problemAt('levels', findListProblem(levels, [1, MAX_LEVELS], findOptionalTextProblem));
    default:
      return { message: 'expected "predicate", "choice" or "score"', path: ['type'] };
  }
}

function findPredicateProblem({
  instructions,
  criteria,
}: Readonly<Record<string, unknown>>): ElementProblem | null {
  const given = criteria ?? {};
  if (!isRecord(given)) return { message: 'expected an object', path: ['criteria'] };
  const entries = ['true', 'false'].map((key) => [key, given[key]] as const);
  const problem = findFirstProblem(entries, findOptionalTextProblem);
  if (problem) return problemAt('criteria', problem);
  const texts = [instructions, given.true, given.false];
  if (texts.some((text) => optionalText(text) !== null)) return null;
  return { message: 'expected instructions, or a criterion for true or false', path: [] };
}

function findOptionsProblem(options: unknown): ElementProblem | null {
  const labels = new Set<unknown>();
  return findListProblem(options, [1, MAX_OPTIONS], (option) => {
    const { label, description } = isRecord(option) ? option : { label: option };
    const problem =
      findRepeatedProblem(label) ?? problemAt('description', findOptionalTextProblem(description));
    if (problem) return problem;
    const isRepeated = labels.has(label);
    labels.add(label);
    return isRepeated ? { message: 'repeats the label of another option', path: [] } : null;
  });
}

function findListProblem(
  list: unknown,
  limits: readonly [number, number],
  findProblem: (element: unknown) => ElementProblem | null,
): ElementProblem | null {
  if (!Array.isArray(list)) return { message: expected('an array')({ input: list }), path: [] };
  return (
    findCountProblem(list.length, 'elements', limits) ??
    findFirstProblem(list.entries(), findProblem)
  );
}
