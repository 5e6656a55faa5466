import { entriesOf } from '../../lib/python-json';
import {
  type Fields,
  findCountProblem,
  findFirstProblem,
  findListProblem,
  findOptionalTextProblem,
  isRecord,
  MAX_LEVELS,
  MAX_OPTIONS,
  MAX_QUESTIONS,
  notA,
  type Problem,
  problemAt,
} from '../../tasks/decision/problems';
import { findStatementProblem } from '../../tasks/decision/question-input';
import type { Question } from '../../tasks/decision/questions';
import { optionalText } from '../../tasks/decision/texts';
import { IMAGES_UNSUPPORTED, OPTIONAL_TEXT_OR_JSON } from '../validation/decision-fields';
import { checked } from '../validation/fields';

/** A question of TypeSafe's API. */
export type TypeSafeQuestion =
  | {
      readonly type: 'noul';
      readonly instructions?: unknown;
      readonly criteria?: { readonly true?: unknown; readonly false?: unknown } | null;
    }
  | {
      readonly type: 'choice';
      readonly instructions?: unknown;
      /** Descriptions by label. */
      readonly criteria: Readonly<Record<string, unknown>>;
    }
  | {
      readonly type: 'score';
      readonly instructions?: unknown;
      /** Descriptions of the levels. */
      readonly criteria: readonly unknown[];
    };

/** Questions by their IDs, which the model does not read. */
export type TypeSafeQuestions = Readonly<Record<string, TypeSafeQuestion>>;

const INSTRUCTIONS = { instructions: OPTIONAL_TEXT_OR_JSON };
const QUESTION = {
  oneOf: [
    {
      type: 'object',
      required: ['type'],
      description: 'Probability that a statement is true',
      properties: {
        type: { const: 'noul' },
        ...INSTRUCTIONS,
        criteria: {
          type: ['object', 'null'],
          properties: { true: OPTIONAL_TEXT_OR_JSON, false: OPTIONAL_TEXT_OR_JSON },
          additionalProperties: false,
        },
      },
    },
    {
      type: 'object',
      required: ['type', 'criteria'],
      description: 'One of several labels; criteria has their descriptions',
      properties: {
        type: { const: 'choice' },
        ...INSTRUCTIONS,
        criteria: {
          type: 'object',
          minProperties: 1,
          maxProperties: MAX_OPTIONS,
          additionalProperties: OPTIONAL_TEXT_OR_JSON,
        },
      },
    },
    {
      type: 'object',
      required: ['type', 'criteria'],
      description: 'Level of a scale; criteria has descriptions of the levels, from level 0',
      properties: {
        type: { const: 'score' },
        ...INSTRUCTIONS,
        criteria: {
          type: 'array',
          minItems: 1,
          maxItems: MAX_LEVELS,
          items: OPTIONAL_TEXT_OR_JSON,
        },
      },
    },
  ],
};

/** Schema of the questions. */
export const typeSafeQuestions = checked(
  findQuestionsProblem,
  (value) => value as TypeSafeQuestions,
).meta({
  type: 'object',
  description: 'Questions by ID. The response has the same IDs, and the model does not read them',
  minProperties: 1,
  maxProperties: MAX_QUESTIONS,
  additionalProperties: QUESTION,
});

/** The questions for a model, in the order of the request. @param questions of `exactBody` */
export function readQuestions(
  questions: TypeSafeQuestions,
): readonly { readonly id: string; readonly question: Question }[] {
  return entriesOf(questions).map(([id, question]) => ({
    id,
    question: readQuestion(question as TypeSafeQuestion),
  }));
}

function readQuestion(question: TypeSafeQuestion): Question {
  const instructions = optionalText(question.instructions);
  switch (question.type) {
    case 'noul': {
      const { true: whenTrue, false: whenFalse } = question.criteria ?? {};
      const criteria = { true: optionalText(whenTrue), false: optionalText(whenFalse) };
      return { type: 'predicate', instructions, criteria };
    }
    case 'choice': {
      const options = entriesOf(question.criteria).map(([label, description]) => ({
        label,
        description: optionalText(description),
      }));
      return { type: 'choice', instructions, options };
    }
    case 'score':
      return { type: 'score', instructions, levels: question.criteria.map(optionalText) };
  }
}

function findQuestionsProblem(value: unknown): Problem | null {
  if (!isRecord(value)) return notA('an object', value);
  const questions = Object.entries(value);
  return (
    findCountProblem(questions.length, 'questions', [1, MAX_QUESTIONS]) ??
    findFirstProblem(questions, findQuestionProblem)
  );
}

function findQuestionProblem(question: unknown): Problem | null {
  if (!isRecord(question)) return notA('an object', question);
  return (
    problemAt('instructions', findOptionalTextProblem(question.instructions)) ??
    findCriteriaProblem(question)
  );
}

function findCriteriaProblem(question: Fields): Problem | null {
  const { type, criteria } = question;
  switch (type) {
    case 'noul':
      return findNoulProblem(question);
    case 'choice':
      return problemAt('criteria', findLabelsProblem(criteria));
    case 'score':
      return problemAt(
        'criteria',
        findListProblem(criteria, 'levels', [1, MAX_LEVELS], findOptionalTextProblem),
      );
    case 'box':
      return { message: `box questions are about images: ${IMAGES_UNSUPPORTED}`, path: ['type'] };
    default:
      return problemAt('type', notA('"noul", "choice" or "score"', type));
  }
}

function findLabelsProblem(criteria: unknown): Problem | null {
  if (!isRecord(criteria)) return notA('an object of labels', criteria);
  const options = Object.entries(criteria);
  return (
    findCountProblem(options.length, 'labels', [1, MAX_OPTIONS]) ??
    findFirstProblem(options, findOptionalTextProblem)
  );
}

function findNoulProblem({ instructions, criteria }: Fields): Problem | null {
  const given = criteria ?? {};
  if (!isRecord(given)) return problemAt('criteria', notA('an object', given));
  if (Object.keys(given).some((key) => key !== 'true' && key !== 'false')) {
    return { message: 'expected only "true" and "false"', path: ['criteria'] };
  }
  const problem = findFirstProblem(Object.entries(given), findOptionalTextProblem);
  return problemAt('criteria', problem) ?? findStatementProblem(instructions, given);
}
