import { roundToFourDecimals } from '../../numeric/rounding';
import { ServiceError } from '../../serving/errors';
import type { ClassifiesSignals } from '../../tasks/abilities';
import type { Served } from '../../tasks/served';
import { WINDOW_LENGTH } from '../../tasks/signal-classification/classes';
import type { Task } from '../../tasks/task';
import {
  checkElements,
  type Endpoint,
  namingElement,
  parseBody,
  requireListLength,
  requireModel,
} from '../endpoint';
import { type Node, propertiesOf, toSchema, withProperties } from '../openapi/responses';
import type { Surroundings } from '../protocol';
import { errorsOf } from './errors';
import { SIGNAL_EXAMPLES } from './examples';
import { namedProbabilities } from './named-probabilities';
import {
  type PredictAnswer,
  type PredictBatchAnswer,
  predictAnswer,
  predictBatchAnswer,
} from './schemas/answers';
import { predictBatchBody, predictBody } from './schemas/predict';

/** POST /predict: a window to its class. */
export function predict(
  { task, model: classifier }: Served<ClassifiesSignals>,
  surroundings: Surroundings,
): Endpoint {
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
    describe: () => {
      const length = classifier?.maxLength ?? WINDOW_LENGTH;
      const { request, answer } = examplesOf(length)?.single ?? {};
      return {
        id: 'predict',
        summary: 'Classify a window',
        description: noticeOf(task),
        request: { name: 'PredictRequest', schema: requestOf(length), example: request },
        answer: { name: 'PredictAnswer', schema: predictAnswer, example: answer },
        errors: errorsOf(wrongLength(length), 'signal', surroundings),
      };
    },
  };
}

/** POST /predict/batch: windows of one patient, each with the probabilities of all classes. */
export function predictBatch(
  { task, model: classifier }: Served<ClassifiesSignals>,
  surroundings: Surroundings,
): Endpoint {
  const { listLength } = surroundings;
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
    describe: () => {
      const length = classifier?.maxLength ?? WINDOW_LENGTH;
      const schema = toSchema(predictBatchBody);
      const items = propertiesOf(requestOf(length)).signal;
      const signals = { ...propertiesOf(schema).signals, maxItems: listLength, items };
      const { request, answer } = examplesOf(length)?.batch ?? {};
      return {
        id: 'predictBatch',
        summary: 'Classify several windows of a patient, with the probabilities of all classes',
        description: noticeOf(task),
        request: {
          name: 'PredictBatchRequest',
          schema: withProperties(schema, { signals }),
          example: request,
        },
        answer: { name: 'PredictBatchAnswer', schema: predictBatchAnswer, example: answer },
        errors: errorsOf(`signals[1]: ${wrongLength(length)}`, 'signals', surroundings),
      };
    },
  };
}

function requireLength({ length }: readonly number[], { maxLength }: ClassifiesSignals): void {
  if (length !== maxLength) throw new ServiceError('INPUT_LENGTH', wrongLength(maxLength));
}

function wrongLength(length: number): string {
  return `Signal must contain exactly ${length} data points.`;
}

function requestOf(length: number): Node {
  const schema = toSchema(predictBody);
  const signal = { ...propertiesOf(schema).signal, minItems: length, maxItems: length };
  return withProperties(schema, { signal });
}

/** The shipped model's fit its window length alone. */
function examplesOf(length: number): Partial<typeof SIGNAL_EXAMPLES> | null {
  return length === WINDOW_LENGTH ? SIGNAL_EXAMPLES : null;
}

function noticeOf({ notice }: Task): string | undefined {
  return notice === null ? undefined : `${notice}No answer may be used to diagnose.`;
}
