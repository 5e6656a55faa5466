import { z } from 'zod';
import type { ModelResolver } from '../../services/model-resolver';
import { decode } from '../../services/tokenize';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import type { ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import { object } from '../validation/fields';
import { modelName } from '../validation/rerank-fields';
import { tokenIds } from '../validation/token-fields';

const request = object({
  model: modelName(),
  tokens: tokenIds().describe('Token IDs of a text'),
});

/** POST /detokenize: text of token IDs, with special tokens. */
export function detokenize(
  models: ModelResolver<'tokenization'>,
  { responseLimit }: ProtocolOptions,
): Route {
  return route({
    method: 'POST',
    path: '/detokenize',
    abilities: ['tokenization'],
    operationId: 'vllmDetokenize',
    summary: 'Decode token IDs to a text',
    request,
    response: z.object({ prompt: z.string() }),
    examples: {
      request: { tokens: [101, 1037, 4010, 1010, 6057, 2143, 1012, 102] },
      response: { prompt: '[CLS] a warm, funny film. [SEP]' },
    },
    errors: [...MODEL_ERRORS, 'NOT_FOUND'],
    admissionError: models.admissionError,
    handler: async (call, { model, tokens }) => {
      const [prompt = ''] = await decode(call, models.resolve(model, call), {
        lists: [tokens],
        skipSpecialTokens: false,
        field: 'tokens',
        isList: false,
        responseLimit,
      });
      return { body: { prompt } };
    },
  });
}
