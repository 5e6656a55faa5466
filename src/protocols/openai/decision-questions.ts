import {
  type Fields,
  findLabelProblem,
  findListProblem,
  isRecord,
  MAX_OPTIONS,
  notA,
  type Problem,
  problemAt,
} from '../../tasks/decision/problems';
import type { PredicateQuestion, Question } from '../../tasks/decision/questions';
import { checked } from '../validation/fields';
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
      return { type: 'predicate', ...splitCriteria(text) };
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

/**
 * Separates the criteria of a predicate from its instructions. The Vercel AI SDK appends them as paragraphs
 * (`openai-decision-model.ts`), since OpenAI's API has no field for them.
 */
function splitCriteria(text: string): Pick<PredicateQuestion, 'instructions' | 'criteria'> {
  const [rest, whenFalse] = splitParagraph(text, 'Criteria for false:\n');
  const [instructions, whenTrue] = splitParagraph(rest, 'Criteria for true:\n');
  return { instructions: instructions || null, criteria: { true: whenTrue, false: whenFalse } };
}

/** The text before and after a paragraph's beginning; null: the text has no such paragraph. */
function splitParagraph(text: string, start: string): readonly [string, string | null] {
  if (text.startsWith(start)) return ['', text.slice(start.length) || null];
  const at = text.indexOf(`\n\n${start}`);
  return at < 0 ? [text, null] : [text.slice(0, at), text.slice(at + 2 + start.length) || null];
}

/** Label and description of a level. A label that only repeats the position of the level is left out. */
function levelText(
  { label, description }: { readonly label: string; readonly description?: string | null },
  level: number,
): string | null {
  const given = label === String(level) ? [description] : [label, description];
  return given.filter(Boolean).join(': ') || null;
}

function findQuestionsProblem(value: unknown): Problem | null {
  return findListProblem(value, 'questions', [1, MAX_QUESTIONS], findQuestionProblem);
}

function findQuestionProblem(question: unknown): Problem | null {
  if (!isRecord(question)) return { message: 'expected an object', path: [] };
  const { name, instructions } = question;
  return (
    problemAt('name', name == null ? null : findLabelProblem(name)) ??
    problemAt('instructions', findInstructionsProblem(instructions)) ??
    findTypeProblem(question)
  );
}

function findTypeProblem({ type, instructions, choices, levels }: Fields): Problem | null {
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
        findDescribedProblem(levels, 'levels', [1, MAX_OPTIONS], ({ label }) =>
          problemAt('label', findLabelProblem(label)),
        ),
      );
    default:
      return { message: 'expected "predicate", "choice" or "score"', path: ['type'] };
  }
}

function findChoicesProblem(choices: unknown): Problem | null {
  const values = new Set<unknown>();
  return findDescribedProblem(choices, 'choices', [2, MAX_OPTIONS], ({ value }) => {
    if (typeof value !== 'string' && typeof value !== 'boolean') {
      return problemAt('value', notA('a string or a boolean', value));
    }
    const isRepeated = values.has(value);
    values.add(value);
    return isRepeated ? { message: 'repeats the value of another choice', path: ['value'] } : null;
  });
}

/** The first problem of a list of objects with optional descriptions. */
function findDescribedProblem(
  list: unknown,
  what: string,
  limits: readonly [number, number],
  findProblem: (element: Fields) => Problem | null,
): Problem | null {
  return findListProblem(list, what, limits, (element) => {
    if (!isRecord(element)) return notA('an object', element);
    const { description } = element;
    if (description != null && typeof description !== 'string') {
      return problemAt('description', notA('a string', description));
    }
    return findProblem(element);
  });
}
