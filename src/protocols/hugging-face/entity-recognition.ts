import { z } from 'zod';
import { codePointCounter } from '../../lib/code-points';
import { mapInTimeSlices } from '../../lib/time-slice';
import { recognizeEntities } from '../../services/entities';
import { admissionErrorOf, requireListLength } from '../../services/inference';
import type { EntityRecognizer } from '../../tasks/entity-recognition/entities';
import type { ServedModel } from '../../tasks/served-model';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import type { ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import { ENTITY_FIELDS } from '../validation/entity-fields';
import { object } from '../validation/fields';
import { TEXT_OR_TEXTS } from './token-classification';

const request = object({ inputs: TEXT_OR_TEXTS, parameters: object(ENTITY_FIELDS) });

const entities = z.array(
  z.object({
    entity_group: z.string(),
    score: z.number(),
    word: z.string(),
    start: z.int(),
    end: z.int(),
  }),
);

const examples = {
  request: { inputs: 'Ada lived in London.', parameters: { labels: ['person', 'city'] } },
  response: [
    { entity_group: 'person', score: 0.9791, word: 'Ada', start: 0, end: 3 },
    { entity_group: 'city', score: 0.9646, word: 'London', start: 13, end: 19 },
  ],
};

/**
 * The token-classification task of a model that finds entities of the types in `parameters.labels`. Offsets count code
 * points, as in Python.
 *
 * @param suffix of the operation ID
 */
export function entityRecognition(
  [path, suffix]: readonly [path: string, suffix: string],
  served: ServedModel<EntityRecognizer>,
  { listLength }: ProtocolOptions,
): Route {
  return route({
    method: 'POST',
    path,
    operationId: `entityRecognition${suffix}`,
    schemaName: 'huggingFaceEntities',
    summary: 'Entities of the types that the request names',
    request,
    response: z.union([entities, z.array(entities)]),
    examples,
    errors: [...MODEL_ERRORS, 'INPUT_TOO_LONG', 'LIST_TOO_LONG'],
    admissionError: admissionErrorOf(served.model),
    handler: async (call, { inputs, parameters }) => {
      const isList = typeof inputs !== 'string';
      const texts = isList ? inputs : [inputs];
      requireListLength(texts, 'inputs', listLength);
      const found = await recognizeEntities(call, served, texts, {
        ...parameters,
        field: isList ? 'inputs' : null,
      });
      const results: object[] = [];
      for (const [index, text] of texts.entries()) {
        const toCodePoint = codePointCounter(text);
        results.push(
          await mapInTimeSlices(found.entities[index] ?? [], ({ label, score, start, end }) => ({
            entity_group: label,
            score,
            word: text.slice(start, end),
            start: toCodePoint(start),
            end: toCodePoint(end),
          })),
        );
      }
      return { body: isList ? results : (results[0] as object), inferences: found.inferences };
    },
  });
}
