import { EngineError, type Inference, type InferOptions } from '../native/engine';
import { ElementError, ServiceError } from '../serving/errors';
import type { ModelRoute } from '../serving/request-context';
import type { Predictor } from '../tasks/capabilities';

/** The admission check of a route whose model is known; null: the handler reports that it is not loaded. */
export function admissionErrorOf(
  model: Pick<Predictor<never, unknown>, 'admissionError'> | null,
): NonNullable<ModelRoute['admissionError']> {
  return (timeoutMs) => model?.admissionError(timeoutMs) ?? null;
}

/** @throws ServiceError MODEL_NOT_LOADED */
export function requireModel<Model>(model: Model | null): Model {
  if (model === null) throw new ServiceError('MODEL_NOT_LOADED', 'Model is not loaded.');
  return model;
}

/** @param field name of the list in the request, for the message. @throws ServiceError LIST_TOO_LONG */
export function requireListLength(list: readonly unknown[], field: string, limit: number): void {
  if (list.length <= limit) return;
  throw new ServiceError(
    'LIST_TOO_LONG',
    `${field}: ${list.length} elements exceed the limit of ${limit}.`,
  );
}

/** Calls `check` for each element. @throws ElementError: names the element for which `check` threw */
export function checkElements<Element>(
  list: readonly Element[],
  field: string,
  check: (element: Element) => void,
): void {
  for (const [index, element] of list.entries()) {
    try {
      check(element);
    } catch (error) {
      throw new ElementError(`${field}[${index}]`, error as Error);
    }
  }
}

/**
 * Runs the model on each element of a list, as one request to the queue.
 *
 * @param field name of the list in the request, for errors of one element; null: the request is not a list
 * @throws EngineError, ElementError
 */
export async function inferList<Input, Answer extends { readonly inference: Inference }>(
  model: Pick<Predictor<Input, Answer>, 'runAll'>,
  inputs: readonly Input[],
  options: InferOptions,
  field: string | null,
): Promise<{ readonly predictions: readonly Answer[]; readonly inferences: readonly Inference[] }> {
  try {
    const predictions = await model.runAll(inputs, options);
    return { predictions, inferences: predictions.map(({ inference }) => inference) };
  } catch (error) {
    const index = error instanceof EngineError && field !== null ? error.index : null;
    throw index === null ? error : new ElementError(`${field}[${index}]`, error as Error);
  }
}
