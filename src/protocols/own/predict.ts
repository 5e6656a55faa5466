import { roundToFourDecimals } from '../../numeric/rounding';
import { ServiceError } from '../../serving/errors';
import type { EegClassifier } from '../../tasks/signal-classification/eeg-classifier';
import {
  checkElements,
  type Endpoint,
  type EndpointLimits,
  namingElement,
  parseBody,
  requireListLength,
  requireModel,
} from '../endpoint';
import { namedProbabilities } from './named-probabilities';
import type { PredictAnswer, PredictBatchAnswer } from './schemas/answers';
import { predictBatchBody, predictBody } from './schemas/predict';

/** POST /predict: an EEG window to its class. `classifier`: null when its model is not loaded. */
export function predict(classifier: EegClassifier | null): Endpoint {
  return {
    path: '/predict',
    refusal: (timeoutMs) => classifier?.refusal(timeoutMs) ?? null,
    handle: async (call) => {
      const { signal, patient_id } = parseBody(predictBody, call);
      const model = requireModel(classifier);
      requireLength(signal, model);
      const { diagnosis, confidence, inference } = await model.classify(
        signal,
        call.inferOptions(),
      );
      const body: PredictAnswer = {
        patient_id,
        diagnosis,
        confidence: roundToFourDecimals(confidence),
      };
      return { body, inferences: [inference] };
    },
  };
}

/** POST /predict/batch: windows of one patient, each with the probabilities of all classes. */
export function predictBatch(
  classifier: EegClassifier | null,
  { listLength }: EndpointLimits,
): Endpoint {
  return {
    path: '/predict/batch',
    refusal: (timeoutMs) => classifier?.refusal(timeoutMs) ?? null,
    handle: async (call) => {
      const { signals, patient_id } = parseBody(predictBatchBody, call);
      requireListLength(signals, 'signals', listLength);
      const model = requireModel(classifier);
      checkElements(signals, 'signals', (signal) => requireLength(signal, model));
      const running = model.classifyAll(signals, call.inferOptions());
      const classifications = await namingElement('signals', running);
      const inferences = classifications.map(({ inference }) => inference);
      const results: PredictBatchAnswer['results'] = classifications.map(
        ({ diagnosis, confidence, probabilities }) => ({
          patient_id,
          diagnosis,
          confidence: roundToFourDecimals(confidence),
          probabilities: namedProbabilities(model.settings.classes, probabilities),
        }),
      );
      return { body: { results }, inferences };
    },
  };
}

function requireLength(signal: readonly number[], { settings }: EegClassifier): void {
  if (signal.length === settings.windowLength) return;
  throw new ServiceError(
    'INPUT_LENGTH',
    `Signal must contain exactly ${settings.windowLength} data points.`,
  );
}
