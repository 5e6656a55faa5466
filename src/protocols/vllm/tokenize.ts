import { z } from 'zod';
import { TimeSlice } from '../../lib/time-slice';
import type { Vocabulary } from '../../native/engine';
import type { ModelResolver } from '../../services/model-resolver';
import { tokenize } from '../../services/tokenize';
import { ServiceError } from '../../serving/errors';
import type { ServiceResponse } from '../../serving/request-context';
import type { ServiceRequest } from '../../serving/service-request';
import type { ProtocolOptions } from '../protocol';
import { parseBody } from '../route';
import { boolean, object } from '../validation/fields';
import { modelName } from '../validation/rerank-fields';
import { textToTokenize } from '../validation/token-fields';

export const vllmTokenizeRequest = object({
  model: modelName(),
  prompt: textToTokenize().describe('A text'),
  add_special_tokens: boolean()
    .default(true)
    .describe('Whether the tokenizer adds its special tokens'),
  return_token_strs: boolean()
    .nullish()
    .describe('Whether the response contains the tokens as strings'),
});

export const vllmTokenizeResponse = z.object({
  count: z.int().describe('Number of tokens'),
  max_model_len: z.int().describe('Maximum number of tokens of the model'),
  tokens: z.array(z.int()).describe('Token IDs'),
  token_strs: z
    .array(z.string())
    .nullable()
    .describe('Tokens of the vocabulary; null: not requested'),
});

/** The shortest token ID in JSON. */
const TOKEN_BYTES = '1,'.length;

/** Response of POST /tokenize in the format of vLLM. @throws ServiceError BODY_INVALID */
export async function vllmTokenize(
  call: ServiceRequest,
  models: ModelResolver<'tokenization'>,
  { responseLimit }: ProtocolOptions,
): Promise<ServiceResponse> {
  rejectMessages(call.body);
  const { model, prompt, ...options } = parseBody(vllmTokenizeRequest, call);
  const served = models.resolve(model, call);
  const { tokenized, vocabulary, inferences } = await tokenize(call, served, {
    texts: [prompt],
    addSpecialTokens: options.add_special_tokens,
    field: null,
    tokenBytes: TOKEN_BYTES,
    responseLimit,
  });
  const ids = tokenized[0]?.ids ?? new Uint32Array();
  const body = {
    count: ids.length,
    max_model_len: served.model.maxLength,
    tokens: Array.from(ids),
    token_strs: options.return_token_strs ? await stringsOf(ids, vocabulary) : null,
  };
  return { body, inferences };
}

/** `convert_ids_to_tokens` of transformers. */
async function stringsOf(ids: Uint32Array, vocabulary: Vocabulary): Promise<string[]> {
  const turns = new TimeSlice();
  const strings: string[] = [];
  for (const id of ids) {
    strings.push(vocabulary.token(id));
    if (turns.isExpired) await turns.yieldToEventLoop();
  }
  return strings;
}

/** @throws ServiceError BODY_INVALID: the body is the chat form of the request */
function rejectMessages(body: unknown): void {
  if ((body as { readonly messages?: unknown }).messages == null) return;
  const problem = 'chat messages are not supported, the models have no chat template';
  throw new ServiceError('BODY_INVALID', `messages: ${problem}. Send the text as prompt`);
}
