import { z } from 'zod';
import {
  findLabelProblem,
  MAX_LABEL_LENGTH,
  MAX_LABELS,
  toDescribedLabels,
  toLabels,
} from '../../tasks/entity-recognition/labels';
import { boolean, checked, expected } from './fields';

const LABEL_SCHEMA = { type: 'string', maxLength: MAX_LABEL_LENGTH };

/** Labels by name, or with descriptions. */
const labels = checked(
  (value) => {
    const isList = Array.isArray(value);
    if (!isList && (typeof value !== 'object' || value === null)) {
      return { message: expected('an array of labels, or an object')({ input: value }), path: [] };
    }
    const message = isList
      ? findLabelProblem(value)
      : (findLabelProblem(Object.values(value)) ?? findLabelProblem(Object.keys(value)));
    return message === null ? null : { message, path: [] };
  },
  (value) =>
    Array.isArray(value)
      ? toLabels(value as readonly string[])
      : toDescribedLabels(value as Readonly<Record<string, string>>),
).meta({
  description:
    'Types of entities to find: names, or an object of names with descriptions. GLiNER models read them instead of the names',
  anyOf: [
    { type: 'array', items: LABEL_SCHEMA, minItems: 1, maxItems: MAX_LABELS },
    {
      type: 'object',
      additionalProperties: LABEL_SCHEMA,
      minProperties: 1,
      maxProperties: MAX_LABELS,
    },
  ],
});

/** Fields of entity recognition, as of `GLiNER.predict_entities`. */
export const ENTITY_FIELDS = {
  labels,
  threshold: z
    .number({ error: expected('a number from 0 to 1') })
    .min(0, { error: 'expected at least 0' })
    .max(1, { error: 'expected at most 1' })
    .nullish()
    .describe('Score above which a span is an entity. Default: 0.5'),
  flat: boolean()
    .nullish()
    .describe(
      'Whether entities must not overlap. Otherwise one can contain others. Default: true; of GLiNER2 models, entities with different labels can overlap',
    ),
  multi_label: boolean()
    .nullish()
    .describe('Whether the same words can have several labels. Default: false'),
};
