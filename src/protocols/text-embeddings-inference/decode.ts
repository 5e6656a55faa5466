import { z } from 'zod';
import type { ModelResolver } from '../../services/model-resolver';
import { decode as decodeIds } from '../../services/tokenize';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import type { ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import { boolean, object } from '../validation/fields';
import { modelName } from '../validation/rerank-fields';
import { tokenIdLists } from '../validation/token-fields';
import { requireBatchSize, requireNotEmpty } from './tei-fields';

const request = object({
  model: modelName(),
  ids: tokenIdLists().describe('Token IDs of a text, or a list of such lists'),
  skip_special_tokens: boolean().default(true).describe('Whether the texts omit special tokens'),
});

/** POST /decode: texts of token IDs. The response is a list also for a single list of IDs. */
export function decode(
  models: ModelResolver<'tokenization'>,
  { listLength, responseLimit }: ProtocolOptions,
): Route {
  return route({
    method: 'POST',
    path: '/decode',
    abilities: ['tokenization'],
    operationId: 'teiDecode',
    summary: 'Decode token IDs to texts',
    request,
    response: z.array(z.string()),
    examples: {
      request: { ids: [101, 1037, 4010, 1010, 6057, 2143, 1012, 102] },
      response: ['a warm, funny film.'],
    },
    errors: [...MODEL_ERRORS, 'INPUT_EMPTY', 'LIST_TOO_LONG', 'NOT_FOUND'],
    admissionError: models.admissionError,
    handler: async (call, { model, ids, skip_special_tokens: skipSpecialTokens }) => {
      requireNotEmpty(ids.lists, 'ids', ids.isList);
      requireBatchSize(ids.lists, listLength);
      const served = models.resolve(model, call);
      const body = await decodeIds(call, served, {
        ...ids,
        skipSpecialTokens,
        field: 'ids',
        responseLimit,
      });
      return { body };
    },
  });
}
