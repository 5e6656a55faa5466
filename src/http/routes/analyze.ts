import type { Request, Response } from 'express';
import { ServiceError } from '../../errors';
import { roundToFourDecimals } from '../../numeric/rounding';
import type { TextClassifier } from '../../sentiment/text-classifier';
import { isBlank } from '../../sentiment/whitespace';
import { analyzeBody } from '../schemas/analyze';
import { sendAnalysis } from '../send-analysis';
import { type Endpoint, inferOptions, parseBody, requireModel } from './endpoint';

/** POST /analyze: a text to its label. `classifier`: null when its model could not be loaded. */
export function analyze(classifier: TextClassifier | null, timeoutMs: number): Endpoint {
  return {
    path: '/analyze',
    handle: async (request: Request, response: Response) => {
      const { text } = parseBody(analyzeBody, request);
      const model = requireModel(classifier);
      if (isBlank(text)) throw new ServiceError('INPUT_EMPTY', 'Text payload cannot be empty.');
      const { label, score, inference } = await model.classify(
        text,
        inferOptions(response, timeoutMs),
      );
      const answer = { input_text: text, label, score: roundToFourDecimals(score) };
      sendAnalysis(response, [inference], answer);
    },
  };
}
