import { roundToFourDecimals } from '../../lib/numbers';
import { mapInTimeSlices } from '../../lib/time-slice';
import { recognizeEntities } from '../../services/entities';
import { admissionErrorOf, requireListLength } from '../../services/inference';
import type { Entity, EntityRecognizer } from '../../tasks/entity-recognition/entities';
import type { ServedModel } from '../../tasks/served-model';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import type { ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import { ENTITY_FIELDS } from '../validation/entity-fields';
import { object, string, stringList } from '../validation/fields';
import { type TagResponse, tagBatchResponse, tagResponse } from './tag';

const request = object({ text: string(), ...ENTITY_FIELDS });
const batchRequest = object({ texts: stringList('an array of texts'), ...ENTITY_FIELDS });

const examples = {
  request: { text: 'Ada Lovelace lived in London.', labels: ['person', 'city'] },
  response: {
    input_text: 'Ada Lovelace lived in London.',
    tags: [
      { label: 'person', score: 0.9813, word: 'Ada Lovelace', start: 0, end: 12 },
      { label: 'city', score: 0.9687, word: 'London', start: 22, end: 28 },
    ],
    truncated: false,
  },
};
const batchExamples = {
  request: {
    texts: ['London calling.'],
    labels: { city: 'a town or city', person: 'name of a person' },
    threshold: 0.4,
  },
  response: {
    results: [
      {
        input_text: 'London calling.',
        tags: [{ label: 'city', score: 0.9412, word: 'London', start: 0, end: 6 }],
        truncated: false,
      },
    ],
  },
};

/** POST /tag of a model that finds entities of the types that a request names. */
export function tagLabels(served: ServedModel<EntityRecognizer>): Route {
  return route({
    method: 'POST',
    path: '/tag',
    abilities: ['entity-recognition'],
    operationId: 'tagLabels',
    summary: 'Entities of a text, of the types that the request names',
    request,
    response: tagResponse,
    examples,
    errors: [...MODEL_ERRORS, 'INPUT_TOO_LONG'],
    admissionError: admissionErrorOf(served.model),
    handler: async (call, { text, ...settings }) => {
      const { entities, inferences } = await recognizeEntities(call, served, [text], {
        ...settings,
        field: null,
      });
      return { body: await resultOf(text, entities[0] ?? []), inferences };
    },
  });
}

/** POST /tag/batch of such a model. */
export function tagLabelsBatch(
  served: ServedModel<EntityRecognizer>,
  { listLength }: ProtocolOptions,
): Route {
  return route({
    method: 'POST',
    path: '/tag/batch',
    abilities: ['entity-recognition'],
    operationId: 'tagLabelsBatch',
    summary: 'Entities of a list of texts, of the types that the request names',
    request: batchRequest,
    limits: { texts: { maxItems: listLength } },
    response: tagBatchResponse,
    examples: batchExamples,
    errors: [...MODEL_ERRORS, 'INPUT_TOO_LONG', 'LIST_TOO_LONG'],
    admissionError: admissionErrorOf(served.model),
    handler: async (call, { texts, ...settings }) => {
      requireListLength(texts, 'texts', listLength);
      const { entities, inferences } = await recognizeEntities(call, served, texts, {
        ...settings,
        field: 'texts',
      });
      const results: TagResponse[] = [];
      for (const [index, text] of texts.entries()) {
        results.push(await resultOf(text, entities[index] ?? []));
      }
      return { body: { results }, inferences };
    },
  });
}

/** Long texts are read in windows, and never truncated. */
async function resultOf(text: string, entities: readonly Entity[]): Promise<TagResponse> {
  const tags = await mapInTimeSlices(entities, ({ label, score, start, end }) => ({
    label,
    score: roundToFourDecimals(score),
    word: text.slice(start, end),
    start,
    end,
  }));
  return { input_text: text, tags, truncated: false };
}
