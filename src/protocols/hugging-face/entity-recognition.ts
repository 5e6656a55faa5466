import { z } from 'zod';
import { codePointCounter } from '../../lib/code-points';
import { mapInTimeSlices } from '../../lib/time-slice';
import { recognizeEntities } from '../../services/entities';
import { admissionErrorOf, requireListLength } from '../../services/inference';
import type { ServiceResponse } from '../../serving/request-context';
import type { ServiceRequest } from '../../serving/service-request';
import type { EntityRecognizer } from '../../tasks/entity-recognition/entities';
import type { ServedModel } from '../../tasks/served-model';
import type { ZeroShotClassifier } from '../../tasks/zero-shot/zero-shot-classifier';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import { toSchema } from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import { parseBody, type Route, route } from '../route';
import { ENTITY_FIELDS } from '../validation/entity-fields';
import { object } from '../validation/fields';
import { TEXT_OR_TEXTS } from './token-classification';
import {
  classifyWithLabels,
  hasCandidateLabels,
  zeroShotRequest,
  zeroShotResponse,
} from './zero-shot-classification';

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

const COMMON = {
  method: 'POST',
  examples,
  errors: [...MODEL_ERRORS, 'INPUT_TOO_LONG', 'LIST_TOO_LONG'],
} as const;

const response = z.union([entities, z.array(entities)]);

/**
 * The token-classification task of a model that finds entities of the types in `parameters.labels`. Offsets count code
 * points, as in Python.
 *
 * @param suffix of the operation ID
 */
export function entityRecognition(
  [path, suffix]: readonly [path: string, suffix: string],
  served: ServedModel<EntityRecognizer>,
  options: ProtocolOptions,
): Route {
  return route({
    ...COMMON,
    path,
    operationId: `entityRecognition${suffix}`,
    schemaName: 'huggingFaceEntities',
    summary: 'Entities of the types that the request names',
    request,
    response,
    admissionError: admissionErrorOf(served.model),
    handler: (call, body) => findEntities(call, body, served, options),
  });
}

/**
 * The token-classification task and, for bodies with candidate labels, the zero-shot-classification task.
 *
 * @param suffix of the operation ID
 */
export function entitiesOrZeroShotClassification(
  [path, suffix]: readonly [path: string, suffix: string],
  served: ServedModel<EntityRecognizer>,
  classifier: ServedModel<ZeroShotClassifier>,
  options: ProtocolOptions,
): Route {
  return route({
    ...COMMON,
    path,
    operationId: `entityRecognition${suffix}`,
    schemaName: 'huggingFaceEntitiesOrZeroShot',
    summary:
      'Entities of the types that the request names, or classes of texts with candidate labels',
    request: () => toSchema(z.union([request, zeroShotRequest])),
    response: z.union([response, zeroShotResponse]),
    errors: [...COMMON.errors, 'BODY_INVALID'],
    admissionError: admissionErrorOf(served.model),
    handler: async (call) => {
      if (hasCandidateLabels(call.body)) return classifyWithLabels(call, classifier, options);
      return findEntities(call, parseBody(request, call), served, options);
    },
  });
}

async function findEntities(
  call: ServiceRequest,
  { inputs, parameters }: z.output<typeof request>,
  served: ServedModel<EntityRecognizer>,
  { listLength }: ProtocolOptions,
): Promise<ServiceResponse> {
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
}
