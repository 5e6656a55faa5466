import { MAX_LEVELS, MAX_OPTIONS, MAX_QUESTIONS } from '../../tasks/decision/problems';
import { findQuestionsProblem, type QuestionInput } from '../../tasks/decision/question-input';
import { OPTIONAL_TEXT_OR_JSON } from '../validation/decision-fields';
import { checked } from '../validation/fields';

const FIELDS = {
  name: { type: ['string', 'null'], description: 'Name of the answer' },
  instructions: { ...OPTIONAL_TEXT_OR_JSON, description: 'The question or the statement' },
};

/** Schema of the questions. */
export const ownQuestions = checked(
  findQuestionsProblem,
  (value) => value as readonly QuestionInput[],
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
