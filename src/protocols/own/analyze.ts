import type { TextInput } from '../../native/engine';
import { roundToFourDecimals } from '../../numeric/rounding';
import { ServiceError } from '../../serving/errors';
import type { ClassifiesTexts } from '../../tasks/abilities';
import { isBlank } from '../../tasks/text-classification/whitespace';
import {
  checkElements,
  type Endpoint,
  namingElement,
  parseBody,
  requireListLength,
  requireModel,
} from '../endpoint';
import type { Surroundings } from '../protocol';
import { namedProbabilities } from './named-probabilities';
import { analyzeBatchBody, analyzeBody, type SentText } from './schemas/analyze';
import type { AnalyzeAnswer, AnalyzeBatchAnswer } from './schemas/answers';

/** POST /analyze: a text, or two that belong together, to its label. `classifier`: null when its model could not be loaded. */
export function analyze(classifier: ClassifiesTexts | null): Endpoint {
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
  };
}

/** POST /analyze/batch: a list of texts to their labels, each with the scores of all labels. */
export function analyzeBatch(
  classifier: ClassifiesTexts | null,
  { listLength }: Surroundings,
): Endpoint {
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
  };
}

/** A second text may be blank: the pipeline of transformers reads it like any other. */
function requireText(asked: SentText): void {
  const text = typeof asked === 'string' ? asked : asked.text;
  if (isBlank(text)) throw new ServiceError('INPUT_EMPTY', 'Text payload cannot be empty.');
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
