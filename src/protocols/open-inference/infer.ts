import type { InferOptions } from '../../native/engine';
import type { Model, ModelAnswer } from './model';
import { requireKnownOutputs, selectOutputs } from './requested-outputs';
import type { InferRequest } from './tensor';

/**
 * Runs a model on what a request brings: each element its own entry of the queue, all of them or none.
 *
 * @param options to be taken right before submitting
 * @returns the outputs that were asked for, as they were asked for
 * @throws ServiceError, ElementError, EngineError
 */
export async function infer(
  model: Model,
  request: InferRequest,
  options: () => InferOptions,
): Promise<ModelAnswer> {
  requireKnownOutputs(request.outputs, model);
  const { outputs, inferences } = await model.infer(request, options);
  return { outputs: selectOutputs(outputs, request.outputs, model), inferences };
}
