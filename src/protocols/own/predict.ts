import type { z } from 'zod';
import type { SignalClassifier } from '../../tasks/abilities';
import type { ServedModel } from '../../tasks/served';
import { WINDOW_LENGTH } from '../../tasks/signal-classification/model-settings';
import type { ProtocolOptions } from '../protocol';
import type { Route } from '../route';
import { type Asked, classificationRoutes } from './classification';
import { SIGNAL_EXAMPLES } from './examples';
import { type PredictAnswer, predictAnswer, predictBatchAnswer } from './schemas/answers';
import { predictBatchBody, predictBody } from './schemas/predict';

type Body = z.output<typeof predictBody>;
type ListBody = z.output<typeof predictBatchBody>;

/** POST /predict: a window to its class; /predict/batch: windows of one patient. */
export function predict(
  served: ServedModel<SignalClassifier>,
  surroundings: ProtocolOptions,
): readonly Route[] {
  const { disclaimer } = served.task;
  const length = served.model?.maxLength ?? WINDOW_LENGTH;
  const asked: Asked<Body, ListBody, readonly number[], readonly number[]> = {
    name: 'predict',
    single: {
      body: predictBody,
      field: 'signal',
      answer: predictAnswer,
      summary: 'Classify a window',
    },
    batch: {
      body: predictBatchBody,
      field: 'signals',
      answer: predictBatchAnswer,
      summary: 'Classify several windows of a patient, with the probabilities of all classes',
    },
    elementOf: ({ signal }) => signal,
    elementsOf: ({ signals }) => signals,
    isAskable: (signal) => signal.length === length,
    refused: {
      code: 'INPUT_LENGTH',
      message: `Signal must contain exactly ${length} data points.`,
    },
    toInput: (signal) => signal,
    tell: (_, { patient_id }, diagnosis, confidence): PredictAnswer => ({
      patient_id,
      diagnosis,
      confidence,
    }),
    description:
      disclaimer === null ? undefined : `${disclaimer}No answer may be used to diagnose.`,
    // The shipped model's fit its window length alone.
    truncated: null,
    examples: length === WINDOW_LENGTH ? SIGNAL_EXAMPLES : null,
    describeElement: (field) => {
      const signal = { ...field, minItems: length, maxItems: length };
      return { alone: signal, listed: signal };
    },
  };
  return classificationRoutes(asked, served, surroundings);
}
