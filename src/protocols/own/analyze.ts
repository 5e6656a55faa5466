import type { TextInput } from '../../native/engine';
import { roundToFourDecimals } from '../../numeric/rounding';
import { ServiceError } from '../../serving/errors';
import type { ClassifiesTexts } from '../../tasks/abilities';
import type { Served } from '../../tasks/served';
import { EMPTY } from '../../tasks/text-classification/task';
import { isBlank } from '../../tasks/text-classification/whitespace';
import {
  checkElements,
  type Endpoint,
  namingElement,
  parseBody,
  requireListLength,
  requireModel,
} from '../endpoint';
import { schemaReference, TRUNCATED_HEADER, toSchema, withProperties } from '../openapi/responses';
import type { Surroundings } from '../protocol';
import { errorsOf } from './errors';
import { TEXT_EXAMPLES as EXAMPLES } from './examples';
import { namedProbabilities } from './named-probabilities';
import { analyzeBatchBody, analyzeBody, type SentText } from './schemas/analyze';
import {
  type AnalyzeAnswer,
  type AnalyzeBatchAnswer,
  analyzeAnswer,
  analyzeBatchAnswer,
} from './schemas/answers';

/** What a text must hold: anything but white space as Python's `str.strip()` understands it. */
const NOT_BLANK = {
  type: 'string',
  pattern:
    '[^\\u0009-\\u000d\\u001c-\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]',
};

/** POST /analyze: a text, or two that belong together, to its label. */
export function analyze(
  { model: classifier }: Served<ClassifiesTexts>,
  surroundings: Surroundings,
): Endpoint {
  return {
    path: '/analyze',
    refusal: (timeoutMs) => classifier?.refusal(timeoutMs) ?? null,
    handle: async (call) => {
      const asked = parseBody(analyzeBody, call);
      const model = requireModel(classifier);
      requireText(asked);
      const running = model.run(textInput(asked), call.inferOptions());
      const { label, score, inference } = await running;
      const body: AnalyzeAnswer = { ...echo(asked), label, score: roundToFourDecimals(score) };
      return { body, inferences: [inference] };
    },
    describe: () => {
      const schema = withProperties(toSchema(analyzeBody), { text: NOT_BLANK });
      const { request, answer } = EXAMPLES.single;
      return {
        id: 'analyze',
        summary: 'Label a text',
        request: { name: 'AnalyzeRequest', schema, example: request },
        answer: { name: 'AnalyzeAnswer', schema: analyzeAnswer, example: answer },
        headers: TRUNCATED_HEADER,
        errors: errorsOf(EMPTY, 'text', surroundings),
      };
    },
  };
}

/** POST /analyze/batch: a list of texts to their labels, each with the scores of all labels. */
export function analyzeBatch(
  { model: classifier }: Served<ClassifiesTexts>,
  surroundings: Surroundings,
): Endpoint {
  const { listLength } = surroundings;
  return {
    path: '/analyze/batch',
    refusal: (timeoutMs) => classifier?.refusal(timeoutMs) ?? null,
    handle: async (call) => {
      const { texts } = parseBody(analyzeBatchBody, call);
      requireListLength(texts, 'texts', listLength);
      const model = requireModel(classifier);
      checkElements(texts, 'texts', requireText);
      const running = model.runAll(texts.map(textInput), call.inferOptions());
      const classifications = await namingElement('texts', running);
      const inferences = classifications.map(({ inference }) => inference);
      const results: AnalyzeBatchAnswer['results'] = classifications.map(
        ({ label, score, scores, inference }, index) => ({
          ...echo(texts[index] as SentText),
          label,
          score: roundToFourDecimals(score),
          probabilities: namedProbabilities(model.about.labels, scores),
          truncated: inference.truncated,
        }),
      );
      return { body: { results }, inferences };
    },
    describe: () => {
      const items = { anyOf: [NOT_BLANK, schemaReference('AnalyzeRequest')] };
      const texts = { type: 'array', maxItems: listLength, items };
      const schema = withProperties(toSchema(analyzeBatchBody), { texts });
      const { request, answer } = EXAMPLES.batch;
      return {
        id: 'analyzeBatch',
        summary: 'Label several texts, with the scores of all labels',
        request: { name: 'AnalyzeBatchRequest', schema, example: request },
        answer: { name: 'AnalyzeBatchAnswer', schema: analyzeBatchAnswer, example: answer },
        headers: TRUNCATED_HEADER,
        errors: errorsOf(`texts[1]: ${EMPTY}`, 'texts', surroundings),
      };
    },
  };
}

function requireText(asked: SentText): void {
  const text = typeof asked === 'string' ? asked : asked.text;
  if (isBlank(text)) throw new ServiceError('INPUT_EMPTY', EMPTY);
}

function textInput(asked: SentText): string | TextInput {
  if (typeof asked === 'string') return asked;
  const { text, text_pair: pair } = asked;
  return typeof pair === 'string' ? { text, pair } : text;
}

/** The texts as they were sent. */
function echo(asked: SentText): Pick<AnalyzeAnswer, 'input_text' | 'input_text_pair'> {
  if (typeof asked === 'string') return { input_text: asked };
  const { text, text_pair: pair } = asked;
  return { input_text: text, ...(typeof pair === 'string' && { input_text_pair: pair }) };
}
