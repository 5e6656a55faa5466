import { eachInTurn } from '../../lib/in-turns';
import { roundToFourDecimals } from '../../numeric/rounding';
import type { Tagging, TaggingInput, TokenClassifier } from '../../tasks/abilities';
import type { ServedModel } from '../../tasks/served';
import { type Span, type SpanOptions, spansOf } from '../../tasks/token-classification/spans';
import type { LegacyOperation } from '../openapi/legacy-operation';
import {
  type Node,
  propertiesOf,
  TRUNCATED_HEADER,
  toSchema,
  withProperties,
} from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import {
  parseBody,
  type Route,
  refusalOf,
  requireListLength,
  requireModel,
  runList,
} from '../route';
import { type SpanSettings, spanOptions } from '../spans';
import { TAG_EXAMPLES } from './examples';
import { errorsOf } from './own-errors';
import { type TagAnswer, tagAnswer, tagBatchAnswer, tagBatchBody, tagBody } from './schemas/tag';

/** POST /tag: a text to its spans; /tag/batch: a list of them. */
export function tag(
  served: ServedModel<TokenClassifier>,
  surroundings: ProtocolOptions,
): readonly Route[] {
  const { model: tagger } = served;
  const refusal = refusalOf(tagger);
  return [
    {
      method: 'POST',
      path: '/tag',
      refusal,
      handle: async (call) => {
        const { text, ...settings } = parseBody(tagBody, call);
        const model = requireModel(tagger);
        const answer = await model.run(inputOf(text, settings), call.inferOptions(served));
        const body = await tell(text, answer, model, spanOptions(settings));
        return { body, inferences: [answer.inference] };
      },
      describe: () => describe('text', surroundings),
    },
    {
      method: 'POST',
      path: '/tag/batch',
      refusal,
      handle: async (call) => {
        const { texts, ...settings } = parseBody(tagBatchBody, call);
        requireListLength(texts, 'texts', surroundings.listLength);
        const model = requireModel(tagger);
        const inputs = texts.map((text) => inputOf(text, settings));
        const { answers, inferences } = await runList(
          model,
          inputs,
          call.inferOptions(served),
          'texts',
        );
        const options = spanOptions(settings);
        const results: TagAnswer[] = [];
        for (const [index, answer] of answers.entries()) {
          results.push(await tell(texts[index] as string, answer, model, options));
        }
        return { body: { results }, inferences };
      },
      describe: () => describe('texts', surroundings),
    },
  ];
}

/** What a body says of windows. */
export function inputOf(text: string, { stride }: SpanSettings): TaggingInput {
  return typeof stride === 'number' ? { text, stride } : { text };
}

async function tell(
  text: string,
  answer: Tagging,
  model: TokenClassifier,
  options: SpanOptions,
): Promise<TagAnswer> {
  const spans = await spansOf(answer, model, options);
  return {
    input_text: text,
    tags: await eachInTurn(spans, round),
    truncated: answer.inference.truncated,
  };
}

function round({ label, score, word, start, end }: Span): TagAnswer['tags'][number] {
  return { label, score: roundToFourDecimals(score), word, start, end };
}

function describe(field: 'text' | 'texts', surroundings: ProtocolOptions): LegacyOperation {
  const isBatch = field === 'texts';
  const type = isBatch ? 'TagBatch' : 'Tag';
  const schema = toSchema(isBatch ? tagBatchBody : tagBody);
  const list = { ...(propertiesOf(schema)[field] as Node), maxItems: surroundings.listLength };
  const { request, answer } = TAG_EXAMPLES[isBatch ? 'batch' : 'single'];
  const { 400: _, ...errors } = errorsOf('', field, surroundings);
  return {
    id: isBatch ? 'tagBatch' : 'tag',
    summary: isBatch
      ? 'Spans of several texts, with their labels'
      : 'Spans of a text, with their labels',
    request: {
      name: `${type}Request`,
      schema: isBatch ? withProperties(schema, { texts: list }) : schema,
      example: request,
    },
    answer: {
      name: `${type}Answer`,
      schema: isBatch ? tagBatchAnswer : tagAnswer,
      example: answer,
    },
    headers: TRUNCATED_HEADER,
    errors,
  };
}
