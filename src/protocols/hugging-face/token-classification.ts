import { z } from 'zod';
import { eachInTurn } from '../../lib/in-turns';
import type { TokenClassifier } from '../../tasks/abilities';
import type { ServedModel } from '../../tasks/served';
import { codePointsOf } from '../../tasks/token-classification/code-points';
import { type Span, spansOf } from '../../tasks/token-classification/spans';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import {
  parseBody,
  type Route,
  refusalOf,
  requireListLength,
  requireModel,
  runList,
} from '../route';
import { spanOptions, spanSettings } from '../spans';
import { checked, expected, findListProblem, object } from '../validation/fields';
import { FAILURES } from './failures';

const findProblem = (value: unknown) =>
  typeof value === 'string' ? null : { message: expected('a string')({ input: value }), path: [] };

const TEXT = { type: 'string' };

const inputs = checked(
  (value) => (Array.isArray(value) ? findListProblem(value, '', findProblem) : findProblem(value)),
  (value) => value as string | readonly string[],
).meta({ description: 'A text, or a list of them', anyOf: [TEXT, { type: 'array', items: TEXT }] });

const parameters = object(spanSettings);

/** Body of the token-classification task of the Inference API. */
const taggingBody = object({ inputs, parameters: parameters.nullish() });

const span = z.object({
  entity: z.string().optional(),
  entity_group: z.string().optional(),
  score: z.number(),
  index: z.int().optional(),
  word: z.string(),
  start: z.int(),
  end: z.int(),
});
const spans = z.array(span);

const EXAMPLE = {
  request: { inputs: 'Ada lived in London.' },
  answer: [
    { entity_group: 'PER', score: 0.9978, word: 'Ada', start: 0, end: 3 },
    { entity_group: 'LOC', score: 0.9994, word: 'London', start: 13, end: 19 },
  ],
};

/**
 * The token-classification task: of one text its spans, of a list a list of them. Spans are `simple`
 * where nothing else is asked for, as the Hub answers; offsets count code points, as Python does.
 */
export function tokenClassification(
  served: ServedModel<TokenClassifier>,
  { listLength }: ProtocolOptions,
): Omit<Route, 'path'> {
  const { model: tagger } = served;
  return {
    method: 'POST',
    refusal: refusalOf(tagger),
    handle: async (call) => {
      const { inputs, parameters } = parseBody(taggingBody, call);
      const isList = typeof inputs !== 'string';
      const texts = isList ? inputs : [inputs];
      requireListLength(texts, 'inputs', listLength);
      const model = requireModel(tagger);
      const settings = parameters ?? {};
      const { stride } = settings;
      const asked = texts.map((text) => ({ text, ...(typeof stride === 'number' && { stride }) }));
      const field = isList ? 'inputs' : null;
      const { answers, inferences } = await runList(model, asked, call.inferOptions(served), field);
      const options = spanOptions(settings);
      const told: object[] = [];
      for (const answer of answers) {
        const toCodePoint = codePointsOf(answer.text);
        const spans = await spansOf(answer, model, options);
        told.push(await eachInTurn(spans, (one) => tell(one, toCodePoint)));
      }
      return { body: isList ? told : (told[0] as object), inferences };
    },
    describe: () => ({
      id: 'tokenClassification',
      summary: 'Spans of a text',
      headers: TRUNCATED_HEADER,
      errors: FAILURES,
      request: { name: 'HuggingFaceTaggingRequest', schema: taggingBody, example: EXAMPLE.request },
      answer: {
        name: 'HuggingFaceTaggingAnswer',
        schema: z.union([spans, z.array(spans)]),
        example: EXAMPLE.answer,
      },
    }),
  };
}

function tell(
  { label, score, word, start, end, index }: Span,
  toCodePoint: (unit: number) => number,
): z.infer<typeof span> {
  const place = { word, start: toCodePoint(start), end: toCodePoint(end) };
  return index === null
    ? { entity_group: label, score, ...place }
    : { entity: label, score, index, ...place };
}
