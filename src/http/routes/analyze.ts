import type { Request, Response } from 'express';
import { ServiceError } from '../../errors';
import { roundToFourDecimals } from '../../numeric/rounding';
import type { TextClassifier } from '../../sentiment/text-classifier';
import { isBlank } from '../../sentiment/whitespace';
import { analyzeBatchBody, analyzeBody } from '../schemas/analyze';
import type { AnalyzeAnswer, AnalyzeBatchAnswer } from '../schemas/answers';
import { sendAnalysis } from '../send-analysis';
import {
  checkElements,
  type Endpoint,
  type EndpointLimits,
  inferOptions,
  namingElement,
  parseBody,
  requireListLength,
  requireModel,
} from './endpoint';
import { namedProbabilities } from './named-probabilities';

/** POST /analyze: a text to its label. `classifier`: null when its model could not be loaded. */
export function analyze(classifier: TextClassifier | null): Endpoint {
  return {
    path: '/analyze',
    refusal: (timeoutMs) => classifier?.refusal(timeoutMs) ?? null,
    handle: async (request: Request, response: Response) => {
      const { text } = parseBody(analyzeBody, request);
      const model = requireModel(classifier);
      requireText(text);
      const { label, score, inference } = await model.classify(text, inferOptions(response));
      const answer: AnalyzeAnswer = { input_text: text, label, score: roundToFourDecimals(score) };
      sendAnalysis(response, [inference], answer);
    },
  };
}

/** POST /analyze/batch: a list of texts to their labels, each with the scores of all labels. */
export function analyzeBatch(
  classifier: TextClassifier | null,
  { listLength }: EndpointLimits,
): Endpoint {
  return {
    path: '/analyze/batch',
    refusal: (timeoutMs) => classifier?.refusal(timeoutMs) ?? null,
    handle: async (request: Request, response: Response) => {
      const { texts } = parseBody(analyzeBatchBody, request);
      requireListLength(texts, 'texts', listLength);
      const model = requireModel(classifier);
      checkElements(texts, 'texts', requireText);
      const running = model.classifyAll(texts, inferOptions(response));
      const classifications = await namingElement('texts', running);
      const inferences = classifications.map(({ inference }) => inference);
      const results: AnalyzeBatchAnswer['results'] = classifications.map(
        ({ label, score, scores, inference }, index) => ({
          input_text: texts[index] as string,
          label,
          score: roundToFourDecimals(score),
          probabilities: namedProbabilities(model.labels, scores),
          truncated: inference.truncated,
        }),
      );
      sendAnalysis(response, inferences, { results });
    },
  };
}

function requireText(text: string): void {
  if (isBlank(text)) throw new ServiceError('INPUT_EMPTY', 'Text payload cannot be empty.');
}
