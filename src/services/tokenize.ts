import type { Inference } from '../native/engine';
import { ServiceError } from '../serving/errors';
import type { ServiceRequest } from '../serving/service-request';
import type { TextTokenizer, TokenizedText } from '../tasks/capabilities';
import type { ServedModel } from '../tasks/served-model';
import { inferList, requireModel } from './inference';

/**
 * Tokenizes texts, as one request to the queue.
 *
 * @param field name of the list in the request, for errors of one text; null: the request is not a list
 * @throws ServiceError MODEL_NOT_LOADED; EngineError, ElementError
 */
export function tokenize(
  caller: Pick<ServiceRequest, 'inferOptions'>,
  served: ServedModel<TextTokenizer>,
  texts: readonly string[],
  field: string | null,
): Promise<{
  readonly predictions: readonly TokenizedText[];
  readonly inferences: readonly Inference[];
}> {
  const model = requireModel(served.model);
  const inputs = texts.map((text) => ({ text }));
  return inferList(model, inputs, caller.inferOptions(served), field);
}

/**
 * Decodes token IDs to text.
 *
 * @param field name of the list in the request
 * @throws ServiceError MODEL_NOT_LOADED; FORBIDDEN: the key may not infer with the model;
 *   BODY_INVALID: an ID is not in the vocabulary
 */
export function decode(
  caller: Pick<ServiceRequest, 'inferOptions'>,
  served: ServedModel<TextTokenizer>,
  ids: readonly number[],
  { skipsSpecial, field }: { readonly skipsSpecial: boolean; readonly field: string },
): string {
  const { vocabulary, monitor } = requireModel(served.model);
  caller.inferOptions(served);
  if (vocabulary === null) throw new ServiceError('MODEL_NOT_LOADED', 'Model is not loaded.');
  const { vocabularySize } = monitor.description;
  const unknown = ids.findIndex((id) => vocabularySize > 0 && id >= vocabularySize);
  if (unknown >= 0) {
    const expected = `expected a token ID below ${vocabularySize}`;
    throw new ServiceError(
      'BODY_INVALID',
      `${field}[${unknown}]: ${expected}, received ${ids[unknown]}`,
    );
  }
  const kept = skipsSpecial ? ids.filter((id) => !vocabulary.isSpecial(id)) : ids;
  return vocabulary.join(kept.map((id) => vocabulary.token(id)));
}
