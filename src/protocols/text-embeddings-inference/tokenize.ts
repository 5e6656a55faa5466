import { z } from 'zod';
import { TimeSlice } from '../../lib/time-slice';
import type { Vocabulary } from '../../native/engine';
import type { ModelResolver } from '../../services/model-resolver';
import { type TokenizedText, tokenize } from '../../services/tokenize';
import type { ServiceResponse } from '../../serving/request-context';
import type { ServiceRequest } from '../../serving/service-request';
import type { ProtocolOptions } from '../protocol';
import { boolean, object } from '../validation/fields';
import { modelName } from '../validation/rerank-fields';
import { textsToTokenize } from '../validation/token-fields';
import { prompt_name, requireBatchSize, requireNotEmpty } from './tei-fields';

export const teiTokenizeRequest = object({
  model: modelName(),
  inputs: textsToTokenize().describe('A text or a list of texts'),
  add_special_tokens: boolean()
    .default(true)
    .describe('Whether the tokenizer adds its special tokens'),
  prompt_name,
});

const token = z.object({
  id: z.int(),
  text: z.string().describe('The bytes of the input from start to stop, or the special token'),
  special: z.boolean().describe('Whether the tokenizer added the token'),
  start: z.int().nullable().describe('Offset in bytes of the input in UTF-8; null: special token'),
  stop: z.int().nullable(),
});

type Token = z.infer<typeof token>;

export const teiTokenizeResponse = z.array(z.array(token));

/** The shortest token in JSON. */
const TOKEN_BYTES = '{"id":1,"text":"","special":true,"start":0,"stop":0},'.length;

/** Response of POST /tokenize in the format of text-embeddings-inference. */
export async function teiTokenize(
  call: ServiceRequest,
  models: ModelResolver<'tokenization'>,
  { listLength, responseLimit }: ProtocolOptions,
  {
    model,
    inputs,
    add_special_tokens,
    prompt_name: promptName,
  }: z.output<typeof teiTokenizeRequest>,
): Promise<ServiceResponse> {
  requireNotEmpty(inputs.texts, 'inputs', inputs.isList);
  requireBatchSize(inputs.texts, listLength);
  const served = models.resolve(model, call);
  const { tokenized, vocabulary, inferences } = await tokenize(call, served, {
    texts: inputs.texts,
    addSpecialTokens: add_special_tokens,
    promptName: promptName ?? null,
    field: inputs.isList ? 'inputs' : null,
    tokenBytes: TOKEN_BYTES,
    responseLimit,
  });
  const turns = new TimeSlice();
  const body: Token[][] = [];
  for (const text of tokenized) body.push(await tokensOf(text, vocabulary, turns));
  return { body, inferences };
}

/** As `into_tokens` of text-embeddings-inference (core/src/tokenization.rs). */
async function tokensOf(
  { text, ids, offsets, texts }: TokenizedText,
  vocabulary: Vocabulary,
  turns: TimeSlice,
): Promise<Token[]> {
  const bytes = Buffer.from(text);
  const tokens: Token[] = [];
  for (const [index, id] of ids.entries()) {
    if (texts[index] === 0) {
      tokens.push({ id, text: vocabulary.token(id), special: true, start: null, stop: null });
    } else {
      const [start = 0, stop = 0] = offsets.subarray(2 * index, 2 * index + 2);
      tokens.push({ id, text: bytes.toString('utf8', start, stop), special: false, start, stop });
    }
    if (turns.isExpired) await turns.yieldToEventLoop();
  }
  return tokens;
}
