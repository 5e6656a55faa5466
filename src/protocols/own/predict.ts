import { roundToFourDecimals } from '../../numeric/rounding';
import { ServiceError } from '../../serving/errors';
import type { ClassifiesSignals } from '../../tasks/abilities';
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
import type { PredictAnswer, PredictBatchAnswer } from './schemas/answers';
import { predictBatchBody, predictBody } from './schemas/predict';

/** POST /predict: an EEG window to its class. `classifier`: null when its model is not loaded. */
export function predict(classifier: ClassifiesSignals | null): Endpoint {
  return {
    path: '/predict',
    refusal: (timeoutMs) => classifier?.refusal(timeoutMs) ?? null,
    handle: async (call) => {
      const { signal, patient_id } = parseBody(predictBody, call);
      const model = requireModel(classifier);
      requireLength(signal, model);
      const { label, score, inference } = await model.run(signal, call.inferOptions());
      const confidence = roundToFourDecimals(score);
      const body: PredictAnswer = { patient_id, diagnosis: label, confidence };
      return { body, inferences: [inference] };
    },
  };
}

/** POST /predict/batch: windows of one patient, each with the probabilities of all classes. */
export function predictBatch(
  classifier: ClassifiesSignals | null,
  { listLength }: Surroundings,
): Endpoint {
  return {
    path: '/predict/batch',
    refusal: (timeoutMs) => classifier?.refusal(timeoutMs) ?? null,
    handle: async (call) => {
      const { signals, patient_id } = parseBody(predictBatchBody, call);
      requireListLength(signals, 'signals', listLength);
      const model = requireModel(classifier);
      checkElements(signals, 'signals', (signal) => requireLength(signal, model));
      const running = model.runAll(signals, call.inferOptions());
      const classifications = await namingElement('signals', running);
      const inferences = classifications.map(({ inference }) => inference);
      const results: PredictBatchAnswer['results'] = classifications.map(
        ({ label, score, scores }) => ({
          patient_id,
          diagnosis: label,
          confidence: roundToFourDecimals(score),
          probabilities: namedProbabilities(model.about.labels, scores),
        }),
      );
      return { body: { results }, inferences };
    },
  };
}

function requireLength({ length }: readonly number[], { maxLength }: ClassifiesSignals): void {
  if (length === maxLength) return;
  const message = `Signal must contain exactly ${maxLength} data points.`;
  throw new ServiceError('INPUT_LENGTH', message);
}
