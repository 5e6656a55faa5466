import { z } from 'zod';
import { codePointCounter } from '../../lib/code-points';
import { mapInTimeSlices } from '../../lib/time-slice';
import { admissionErrorOf, requireListLength } from '../../services/inference';
import { tagTexts } from '../../services/tag';
import type { TokenClassifier } from '../../tasks/capabilities';
import type { ServedModel } from '../../tasks/served-model';
import type { Span } from '../../tasks/token-classification/spans';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import { checked, expected, findListProblem, object } from '../validation/fields';
import { SPAN_FIELDS } from '../validation/span-fields';

const TEXT_SCHEMA = { type: 'string' };

const findTextProblem = (value: unknown) =>
  typeof value === 'string' ? null : { message: expected('a string')({ input: value }), path: [] };

export const TEXT_OR_TEXTS = checked(
  (value) =>
    Array.isArray(value) ? findListProblem(value, '', findTextProblem) : findTextProblem(value),
  (value) => value as string | readonly string[],
).meta({
  description: 'A text, or a list of texts',
  anyOf: [TEXT_SCHEMA, { type: 'array', items: TEXT_SCHEMA }],
});

const request = object({
  inputs: TEXT_OR_TEXTS,
  parameters: object(SPAN_FIELDS).nullish(),
});

const entity = z.object({
  entity: z.string().optional(),
  entity_group: z.string().optional(),
  score: z.number(),
  index: z.int().optional(),
  word: z.string(),
  start: z.int(),
  end: z.int(),
});
const entities = z.array(entity);

const examples = {
  request: { inputs: 'Ada lived in London.' },
  response: [
    { entity_group: 'PER', score: 0.9978, word: 'Ada', start: 0, end: 3 },
    { entity_group: 'LOC', score: 0.9994, word: 'London', start: 13, end: 19 },
  ],
};

/**
 * The token-classification task: entities of a text, or a list of them for a list of texts. The default aggregation
 * strategy is `simple`, as on the Hub. Offsets count code points, as in Python.
 *
 * @param suffix of the operation ID
 */
export function tokenClassification(
  [path, suffix]: readonly [path: string, suffix: string],
  served: ServedModel<TokenClassifier>,
  { listLength }: ProtocolOptions,
): Route {
  return route({
    method: 'POST',
    path,
    operationId: `tokenClassification${suffix}`,
    schemaName: 'huggingFaceTagging',
    summary: 'Token classification (NER)',
    request,
    response: z.union([entities, z.array(entities)]),
    examples,
    errors: [...MODEL_ERRORS, 'LIST_TOO_LONG'],
    headers: TRUNCATED_HEADER,
    admissionError: admissionErrorOf(served.model),
    handler: async (call, { inputs, parameters }) => {
      const isList = typeof inputs !== 'string';
      const texts = isList ? inputs : [inputs];
      requireListLength(texts, 'inputs', listLength);
      const { tagged, inferences } = await tagTexts(call, served, texts, {
        ...parameters,
        field: isList ? 'inputs' : null,
      });
      const results: object[] = [];
      for (const { text, spans } of tagged) {
        const toCodePoint = codePointCounter(text);
        results.push(await mapInTimeSlices(spans, (span) => toEntity(span, toCodePoint)));
      }
      return { body: isList ? results : (results[0] as object), inferences };
    },
  });
}

function toEntity(
  { label, score, word, start, end, index }: Span,
  toCodePoint: (codeUnit: number) => number,
): z.infer<typeof entity> {
  const position = { word, start: toCodePoint(start), end: toCodePoint(end) };
  return index === null
    ? { entity_group: label, score, ...position }
    : { entity: label, score, index, ...position };
}
