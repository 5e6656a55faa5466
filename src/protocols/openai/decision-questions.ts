import type { Question } from '../../tasks/decision/questions';
import {
  findCountProblem,
  findFirstProblem,
  isRecord,
  MAX_OPTIONS,
  problemAt,
} from '../validation/decision-fields';
import { checked, type ElementProblem, expected, findRepeatedProblem } from '../validation/fields';
import { contentText, findInstructionsProblem } from './decision-input';

const MAX_QUESTIONS = 400;

interface QuestionFields {
  /** null or missing: only for choice and score, as the Vercel AI SDK sends them. */
  readonly instructions?: unknown;
  readonly name?: string | null;
}

/** A question of OpenAI's API. */
export type OpenAiQuestion =
  | (QuestionFields & { readonly type: 'predicate' })
  | (QuestionFields & {
      readonly type: 'choice';
      readonly choices: readonly {
        readonly value: string | boolean;
        readonly description?: string | null;
      }[];
    })
  | (QuestionFields & {
      readonly type: 'score';
      readonly levels: readonly { readonly label: string; readonly description?: string | null }[];
    });

const NAME = { type: ['string', 'null'], description: 'Name of the answer' };
const INSTRUCTIONS = {
  anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'object' } }, { type: 'null' }],
};
const described = (key: object) => ({
  type: 'object',
  properties: { ...key, description: { type: ['string', 'null'] } },
});

/** Schema of the questions. */
export const openAiQuestions = checked(
  findQuestionsProblem,
  (value) => value as readonly OpenAiQuestion[],
).meta({
  type: 'array',
  minItems: 1,
  maxItems: MAX_QUESTIONS,
  items: {
    oneOf: [
      {
        type: 'object',
        required: ['type', 'instructions'],
        properties: { type: { const: 'predicate' }, instructions: INSTRUCTIONS, name: NAME },
      },
      {
        type: 'object',
        required: ['type', 'choices'],
        properties: {
          type: { const: 'choice' },
          instructions: INSTRUCTIONS,
          name: NAME,
          choices: {
            type: 'array',
            minItems: 2,
            maxItems: MAX_OPTIONS,
            items: described({ value: { type: ['string', 'boolean'] } }),
          },
        },
      },
      {
        type: 'object',
        required: ['type', 'levels'],
        properties: {
          type: { const: 'score' },
          instructions: INSTRUCTIONS,
          name: NAME,
          levels: {
            type: 'array',
            minItems: 1,
            maxItems: MAX_OPTIONS,
            items: described({ label: { type: 'string' } }),
          },
        },
      },
    ],
  },
});

/** The question for a model. @param question of `exactBody` */
export function readQuestion(question: OpenAiQuestion): Question {
  const text = question.instructions == null ? '' : contentText(question.instructions);
  const instructions = text === '' ? null : text;
  switch (question.type) {
    case 'predicate':
      return { type: 'predicate', instructions, criteria: { true: null, false: null } };
    case 'choice': {
      const options = question.choices.map(({ value, description }) => ({
        label: String(value),
        description: description || null,
      }));
      return { type: 'choice', instructions, options };
    }
    case 'score':
      return { type: 'score', instructions, levels: question.levels.map(levelText) };
  }
}

/** Label and description of a level. A label that only repeats the position of the level is left out. */
function levelText(
  { label, description }: { readonly label: string; readonly description?: string | null },
  level: number,
): string | null {
  const given = label === String(level) ? [description] : [label, description];
  return given.filter(Boolean).join(': ') || null;
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
  const { name, instructions } = question;
  return (
    problemAt('name', name == null ? null : findRepeatedProblem(name)) ??
    problemAt('instructions', findInstructionsProblem(instructions)) ??
    findTypeProblem(question)
  );
}

function findTypeProblem({
  type,
  instructions,
  choices,
  levels,
}: Readonly<Record<string, unknown>>): ElementProblem | null {
  switch (type) {
    case 'predicate': {
      const isGiven = instructions != null && contentText(instructions) !== '';
      return isGiven ? null : { message: 'is required', path: ['instructions'] };
    }
    case 'choice':
      return problemAt('choices', findChoicesProblem(choices));
    case 'score':
      return problemAt(
        'levels',
        findListedProblem(levels, [1, MAX_OPTIONS], ({ label }) =>
          problemAt('label', findRepeatedProblem(label)),
        ),
      );
    default:
      return { message: 'expected "predicate", "choice" or "score"', path: ['type'] };
  }
}

function findChoicesProblem(choices: unknown): ElementProblem | null {
  const values = new Set<unknown>();
  return findListedProblem(choices, [2, MAX_OPTIONS], ({ value }) => {
    if (typeof value !== 'string' && typeof value !== 'boolean') {
      return { message: expected('a string or a boolean')({ input: value }), path: ['value'] };
    }
    const isRepeated = values.has(value);
    values.add(value);
    return isRepeated ? { message: 'repeats the value of another choice', path: ['value'] } : null;
  });
}

/** The first problem of a list of objects with optional descriptions. */
function findListedProblem(
  list: unknown,
  limits: readonly [number, number],
  findProblem: (element: Readonly<Record<string, unknown>>) => ElementProblem | null,
): ElementProblem | null {
  if (!Array.isArray(list)) return { message: expected('an array')({ input: list }), path: [] };
  return (
    findCountProblem(list.length, 'elements', limits) ??
    findFirstProblem(list.entries(), (element) => {
      if (!isRecord(element)) return { message: 'expected an object', path: [] };
      const { description } = element;
      if (description != null && typeof description !== 'string') {
        return { message: 'expected a string', path: ['description'] };
      }
      return findProblem(element);
    })
  );
}
