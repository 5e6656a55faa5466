import { z } from 'zod';
import { roundToFourDecimals } from '../../lib/numbers';
import { mapInTimeSlices } from '../../lib/time-slice';
import { classify, namedScores } from '../../services/classify';
import {
  admissionErrorOf,
  checkElements,
  requireListLength,
  requireModel,
} from '../../services/inference';
import { ServiceError } from '../../serving/errors';
import type { SignalClassifier } from '../../tasks/capabilities';
import type { ServedModel } from '../../tasks/served-model';
import { WINDOW_LENGTH } from '../../tasks/signal-classification/model-settings';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import type { ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import {
  findListProblem,
  findNumberProblem,
  listOf,
  object,
  repeatedString,
} from '../validation/fields';

const NUMBERS = 'an array of numbers';

/** JSON Schema of a window. JSON can also contain numbers that a float64 cannot represent. */
const WINDOW_SCHEMA = {
  type: 'array',
  items: { type: 'number', minimum: -Number.MAX_VALUE, maximum: Number.MAX_VALUE },
  description: 'One window in any linear unit: the server z-normalizes it',
} as const;

export const patient_id = repeatedString('a string or null')
  .nullable()
  .default(null)
  .describe('Returned in the response; not logged or stored');

export const predictRequest = object({
  signal: listOf<number>(NUMBERS, findNumberProblem).meta(WINDOW_SCHEMA),
  patient_id,
});

export const predictBatchRequest = object({
  signals: listOf<readonly number[]>('an array of signals', (element) =>
    findListProblem(element, NUMBERS, findNumberProblem),
  ).meta({ type: 'array', items: WINDOW_SCHEMA, description: 'Windows of one patient' }),
  patient_id,
});

export const response = z.object({
  patient_id: z.string().nullable().describe('The patient_id of the request'),
  diagnosis: z.string().describe('The class with the highest probability'),
  confidence: z
    .number()
    .min(0)
    .max(1)
    .describe('Probability of the class, rounded to four decimals'),
});

/** Fields of a result in lists, in addition to those of the response. */
export const listFields = {
  probabilities: z
    .record(z.string(), z.number())
    .describe('Probabilities of all classes, rounded to four decimals'),
};

const batchResponse = z.object({ results: z.array(response.extend(listFields)) });

export type PredictResponse = z.infer<typeof response>;
export type PredictBatchResponse = z.infer<typeof batchResponse>;

/** Sum of two sine waves; not a recording of a person. */
const SIGNAL: readonly number[] = Array.from({ length: WINDOW_LENGTH }, (_, i) =>
  Number((20 * Math.sin(i / 1.5) + 5 * Math.sin(i / 7)).toFixed(2)),
);

/**
 * Requests and the responses of the shipped model; test/http/openapi.test.ts sends them. The fourth decimal of
 * scores depends on the processor.
 */
export const PREDICT_EXAMPLES = {
  single: {
    request: { signal: SIGNAL, patient_id: 'P001' },
    response: { patient_id: 'P001', diagnosis: 'Control', confidence: 0.8814 },
  },
  batch: {
    request: { signals: [SIGNAL], patient_id: 'P001' },
    response: {
      results: [
        {
          patient_id: 'P001',
          diagnosis: 'Control',
          confidence: 0.8814,
          probabilities: {
            Control: 0.8814,
            "Alzheimer's Disease (AD)": 0.1186,
            'Frontotemporal Dementia (FTD)': 0.0001,
          },
        },
      ],
    },
  },
} as const;

/** POST /predict: classifies one window of a signal. */
export function predict(served: ServedModel<SignalClassifier>): Route {
  const length = windowLength(served);
  return route({
    method: 'POST',
    path: '/predict',
    abilities: ['signal-classification'],
    operationId: 'predict',
    summary: 'Classify a window',
    description: disclaimerOf(served),
    request: predictRequest,
    limits: { signal: { minItems: length, maxItems: length } },
    response,
    examples: length === WINDOW_LENGTH ? PREDICT_EXAMPLES.single : null,
    errors: [...MODEL_ERRORS, 'INPUT_LENGTH'],
    admissionError: admissionErrorOf(served.model),
    handler: async (call, { signal, patient_id }) => {
      const model = requireModel(served.model);
      requireLength(signal, length);
      const { label, score, inference } = await model.run(signal, call.inferOptions(served));
      const confidence = roundToFourDecimals(score);
      const body: PredictResponse = { patient_id, diagnosis: label, confidence };
      return { body, inferences: [inference] };
    },
  });
}

/** POST /predict/batch: classifies several windows of one patient. */
export function predictBatch(
  served: ServedModel<SignalClassifier>,
  { listLength, responseLimit }: ProtocolOptions,
): Route {
  const length = windowLength(served);
  return route({
    method: 'POST',
    path: '/predict/batch',
    abilities: ['signal-classification'],
    operationId: 'predictBatch',
    summary: 'Classify several windows of a patient, with the probabilities of all classes',
    description: disclaimerOf(served),
    request: predictBatchRequest,
    limits: {
      signals: {
        maxItems: listLength,
        items: { ...WINDOW_SCHEMA, minItems: length, maxItems: length },
      },
    },
    response: batchResponse,
    examples: length === WINDOW_LENGTH ? PREDICT_EXAMPLES.batch : null,
    errors: [...MODEL_ERRORS, 'INPUT_LENGTH', 'LIST_TOO_LONG'],
    admissionError: admissionErrorOf(served.model),
    handler: async (call, { signals, patient_id }) => {
      requireListLength(signals, 'signals', listLength);
      const { labels } = requireModel(served.model).metadata;
      checkElements(signals, 'signals', (signal) => requireLength(signal, length));
      const { predictions, inferences } = await classify(call, served, {
        inputs: signals,
        field: 'signals',
        responseLimit,
      });
      const results = await mapInTimeSlices(predictions, ({ label, score, scores }) => ({
        patient_id,
        diagnosis: label,
        confidence: roundToFourDecimals(score),
        probabilities: namedScores(labels, scores),
      }));
      return { body: { results } satisfies PredictBatchResponse, inferences };
    },
  });
}

/** Window length of the model in samples; of a model that is not loaded: the default. */
function windowLength({ model }: ServedModel<SignalClassifier>): number {
  return model?.maxLength ?? WINDOW_LENGTH;
}

/** @throws ServiceError INPUT_LENGTH */
function requireLength(signal: readonly number[], length: number): void {
  if (signal.length === length) return;
  throw new ServiceError('INPUT_LENGTH', `Signal must contain exactly ${length} data points.`);
}

/** Warning of the task for the description of a route. */
export function disclaimerOf({ task: { disclaimer } }: ServedModel<unknown>): string | undefined {
  return disclaimer === null ? undefined : `${disclaimer}Do not use responses for diagnosis.`;
}
