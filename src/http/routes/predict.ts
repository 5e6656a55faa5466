import type { Request, Response } from 'express';
import type { EegClassifier } from '../../eeg/eeg-classifier';
import { ServiceError } from '../../errors';
import { roundToFourDecimals } from '../../numeric/rounding';
import { predictBody } from '../schemas/predict';
import { sendAnalysis } from '../send-analysis';
import { type Endpoint, inferOptions, parseBody, requireModel } from './endpoint';

/** POST /predict: an EEG window to its class. `classifier`: null when its model is not loaded. */
export function predict(classifier: EegClassifier | null, timeoutMs: number): Endpoint {
  return {
    path: '/predict',
    handle: async (request: Request, response: Response) => {
      const { signal, patient_id } = parseBody(predictBody, request);
      const model = requireModel(classifier);
      const { windowLength } = model.settings;
      if (signal.length !== windowLength) {
        throw new ServiceError(
          'INPUT_LENGTH',
          `Signal must contain exactly ${windowLength} data points.`,
        );
      }
      const { diagnosis, confidence, inference } = await model.classify(
        signal,
        inferOptions(response, timeoutMs),
      );
      const answer = { patient_id, diagnosis, confidence: roundToFourDecimals(confidence) };
      sendAnalysis(response, [inference], answer);
    },
  };
}
