import { roundToFourDecimals } from '../lib/numbers';
import type { Inference } from '../native/engine';
import { requireResponseSize, scoresBytes } from '../serving/json';
import type { ServiceRequest } from '../serving/service-request';
import type { Classification, ClassifierMetadata, Predictor } from '../tasks/capabilities';
import type { ServedModel } from '../tasks/served-model';
import { inferList, requireModel } from './inference';

/**
 * Classifies texts or signals, as one request to the queue.
 *
 * @param field name of the list in the request, for errors of one element; null: the request is not a list
 * @throws ServiceError MODEL_NOT_LOADED, RESPONSE_TOO_LARGE; EngineError, ElementError
 */
export async function classify<Input>(
  caller: Pick<ServiceRequest, 'inferOptions'>,
  served: ServedModel<Predictor<Input, Classification, ClassifierMetadata>>,
  {
    inputs,
    field,
    responseLimit,
  }: {
    readonly inputs: readonly Input[];
    readonly field: string | null;
    readonly responseLimit: number;
  },
): Promise<{
  readonly predictions: readonly Classification[];
  readonly inferences: readonly Inference[];
}> {
  const model = requireModel(served.model);
  requireResponseSize(inputs.length * scoresBytes(model.metadata.labels), responseLimit);
  return inferList(model, inputs, caller.inferOptions(served), field);
}

/** Scores by label, in the order of the outputs of the model, rounded to four decimals. */
export function namedScores(
  labels: readonly string[],
  scores: Float32Array,
): Readonly<Record<string, number>> {
  return Object.fromEntries(
    labels.map((label, index) => [label, roundToFourDecimals(scores[index] as number)]),
  );
}
