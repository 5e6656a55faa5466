import { EngineError, type Inference } from '../native/engine';
import { ElementError, ServiceError } from '../serving/errors';
import type { ServiceRequest } from '../serving/service-request';
import type { ServedModel } from '../tasks/served-model';
import type { ZeroShotResult } from '../tasks/zero-shot/classify';
import type { ZeroShotClassifier } from '../tasks/zero-shot/zero-shot-classifier';
import { requireModel } from './inference';

/**
 * Zero-shot classification: scores each text with each candidate label, as one request to the queue.
 *
 * @param field name of the candidate labels in the request, for errors of one label
 * @param listLength maximum number of pairs
 * @returns for each text the candidate labels by descending score
 * @throws ServiceError MODEL_NOT_LOADED, LIST_TOO_LONG; EngineError, ElementError
 */
export async function zeroShot(
  caller: Pick<ServiceRequest, 'inferOptions'>,
  served: ServedModel<ZeroShotClassifier>,
  {
    texts,
    labels,
    template,
    isMultiLabel,
    field,
    listLength,
  }: {
    readonly texts: readonly string[];
    readonly labels: readonly string[];
    /** Template of a label; null or undefined: the default of the model. */
    readonly template: string | null | undefined;
    readonly isMultiLabel: boolean | null | undefined;
    readonly field: string;
    readonly listLength: number;
  },
): Promise<{
  readonly predictions: readonly ZeroShotResult[];
  readonly inferences: readonly Inference[];
}> {
  const model = requireModel(served.model);
  const options = caller.inferOptions(served);
  if (texts.length * labels.length > listLength) {
    const message = `${field}: ${labels.length} labels of ${texts.length} texts are over the limit of ${listLength} pairs.`;
    throw new ServiceError('LIST_TOO_LONG', message);
  }
  try {
    const { answers, inferences } = await model.classifyLabels(
      { texts, labels, template: template ?? null, isMultiLabel: isMultiLabel ?? false },
      options,
    );
    return { predictions: answers, inferences };
  } catch (error) {
    const index = error instanceof EngineError ? error.index : null;
    if (index === null) throw error;
    throw new ElementError(`${field}[${index}]`, error as Error);
  }
}
