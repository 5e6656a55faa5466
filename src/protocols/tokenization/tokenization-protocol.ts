import { z } from 'zod';
import { mapInTimeSlices } from '../../lib/time-slice';
import { requireListLength } from '../../services/inference';
import { ModelResolver } from '../../services/model-resolver';
import { decode, tokenize } from '../../services/tokenize';
import { ERRORS, ServiceError } from '../../serving/errors';
import type { TextTokenizer, TokenOfText } from '../../tasks/capabilities';
import {
  type Catalogue,
  type ServedModel,
  singleModelCatalogue,
  withCapability,
} from '../../tasks/served-model';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import type { ErrorFormat, Protocol, ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import {
  boolean,
  checked,
  type ElementProblem,
  findIdProblem,
  findListProblem,
  findStringProblem,
  object,
  string,
} from '../validation/fields';
import { modelName } from '../validation/rerank-fields';

/** Maximum number of token IDs of a list. */
const MAX_IDS = 65_536;

const texts = checked(
  (value) =>
    value === undefined || typeof value === 'string'
      ? null
      : findListProblem(value, 'a string or an array of strings', findStringProblem),
  (value) => value as string | readonly string[] | undefined,
)
  .optional()
  .meta({ anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, minItems: 1 }] });

const tokenizeRequest = object({
  model: modelName(),
  inputs: texts.describe('text-embeddings-inference: a text or a list of texts'),
  prompt: string().optional().describe('vLLM: a text'),
  add_special_tokens: boolean().default(true),
  return_token_strs: boolean().nullish().describe('vLLM: also return the tokens as text'),
});

const teiToken = z.object({
  id: z.int(),
  text: z.string(),
  special: z.boolean(),
  start: z.int().nullable().describe('Start in the text, in bytes of UTF-8'),
  stop: z.int().nullable(),
});

const vllmTokens = z.object({
  count: z.int(),
  max_model_len: z.int(),
  tokens: z.array(z.int()),
  token_strs: z.array(z.string()).nullable(),
});

const IDS_SCHEMA = {
  type: 'array',
  items: { type: 'integer', minimum: 0 },
  maxItems: MAX_IDS,
} as const;

/** Problem of a list of at most MAX_IDS token IDs; null: valid. */
function findIdsProblem(value: unknown): ElementProblem | null {
  if (Array.isArray(value) && value.length > MAX_IDS) {
    return { message: `expected at most ${MAX_IDS} token IDs, found ${value.length}`, path: [] };
  }
  return findListProblem(value, 'a list of token IDs', findIdProblem);
}

const ids = checked(findIdsProblem, (value) => value as readonly number[]).meta(IDS_SCHEMA);

/** A list of token IDs, or a list of such lists. */
const idLists = checked(
  (value) =>
    Array.isArray(value) && Array.isArray(value[0])
      ? findListProblem(value, 'a list of lists of token IDs', findIdsProblem)
      : findIdsProblem(value),
  (value) => value as readonly number[] | readonly (readonly number[])[],
).meta({ anyOf: [IDS_SCHEMA, { type: 'array', items: IDS_SCHEMA }] });

const decodeRequest = object({
  model: modelName(),
  ids: idLists,
  skip_special_tokens: boolean().default(true),
});

const detokenizeRequest = object({ model: modelName(), tokens: ids });

const errorResponse = z.object({ error: z.string(), error_type: z.string() });

/** Error format of text-embeddings-inference. */
const errors: ErrorFormat = {
  status: (code) => ERRORS[code].http,
  body: ({ code, message }): z.infer<typeof errorResponse> => ({
    error: message,
    error_type: ERRORS[code].http < 500 ? 'Validation' : 'Backend',
  }),
};

/** Tokenization for one model; null: not a text model. */
export function tokenization(served: ServedModel, options: ProtocolOptions): Protocol | null {
  if (!withCapability(served, 'tokenization')) return null;
  const catalogue = singleModelCatalogue(served);
  return tokenizationOf(() => catalogue, options);
}

/** Tokenization for all text models. */
export function tokenizationOf(catalogue: () => Catalogue, options: ProtocolOptions): Protocol {
  const models = new ModelResolver(catalogue, 'tokenization');
  return {
    routes: [tokenizeTexts(models, options), decodeIds(models, options), detokenize(models)],
    prefix: null,
    errors,
    probes: [],
    info: null,
    routesByBodyModel: true,
    tag: {
      name: 'tokenization',
      description: 'Tokens of texts, as text-embeddings-inference and vLLM return them.',
    },
    error: { name: 'TokenizationError', schema: errorResponse },
  };
}

const COMMON = { method: 'POST', errors: [...MODEL_ERRORS, 'LIST_TOO_LONG', 'NOT_FOUND'] } as const;

/** POST /tokenize: `inputs` of text-embeddings-inference, or `prompt` of vLLM. */
function tokenizeTexts(
  models: ModelResolver<'tokenization'>,
  { listLength }: ProtocolOptions,
): Route {
  return route({
    ...COMMON,
    path: '/tokenize',
    operationId: 'tokenize',
    summary: 'Tokens of texts',
    request: tokenizeRequest,
    response: z.union([z.array(z.array(teiToken)), vllmTokens]),
    examples: { request: { inputs: 'A film.' } },
    handler: async (call, body) => {
      const { texts, field, isVllm } = textsOf(body);
      requireListLength(texts, field ?? 'inputs', listLength);
      const served = models.resolve(body.model, call);
      const { predictions, inferences } = await tokenize(call, served, texts, field);
      const lists = predictions.map(({ tokens }) =>
        tokens.filter(({ isSpecial }) => body.add_special_tokens || !isSpecial),
      );
      if (isVllm) {
        return {
          body: toVllm(lists[0] ?? [], served.model, body.return_token_strs === true),
          inferences,
        };
      }
      const result = await mapInTimeSlices(lists, (tokens, index) =>
        toTei(texts[index] as string, tokens, served.model),
      );
      return { body: result, inferences };
    },
  });
}

/** @throws ServiceError BODY_INVALID: neither field, or both */
function textsOf({ inputs, prompt }: z.output<typeof tokenizeRequest>): {
  readonly texts: readonly string[];
  readonly field: string | null;
  readonly isVllm: boolean;
} {
  if ((inputs === undefined) === (prompt === undefined)) {
    const found = inputs === undefined ? 'neither' : 'both';
    throw new ServiceError('BODY_INVALID', `expected inputs or prompt, found ${found}`);
  }
  if (prompt !== undefined) return { texts: [prompt], field: null, isVllm: true };
  return typeof inputs === 'string'
    ? { texts: [inputs], field: null, isVllm: false }
    : { texts: inputs as readonly string[], field: 'inputs', isVllm: false };
}

function toVllm(
  tokens: readonly TokenOfText[],
  { vocabulary, maxLength }: TextTokenizer,
  withStrings: boolean,
): z.infer<typeof vllmTokens> {
  return {
    count: tokens.length,
    max_model_len: maxLength,
    tokens: tokens.map(({ id }) => id),
    token_strs: withStrings ? tokens.map(({ id }) => vocabulary?.token(id) ?? '') : null,
  };
}

function toTei(
  text: string,
  tokens: readonly TokenOfText[],
  { vocabulary }: TextTokenizer,
): readonly z.infer<typeof teiToken>[] {
  const bytes = byteCounter(text);
  return tokens.map(({ id, isSpecial, start, end }) =>
    isSpecial
      ? { id, text: vocabulary?.token(id) ?? '', special: true, start: null, stop: null }
      : {
          id,
          text: text.slice(start, end),
          special: false,
          start: bytes(start),
          stop: bytes(end),
        },
  );
}

/**
 * Bytes of UTF-8 before an offset in UTF-16 units. Offsets mostly ascend: each call continues from
 * the last one.
 */
function byteCounter(text: string): (offset: number) => number {
  let at = 0;
  let count = 0;
  return (offset) => {
    if (offset < at) {
      at = 0;
      count = 0;
    }
    count += Buffer.byteLength(text.slice(at, offset));
    at = offset;
    return count;
  };
}

/** POST /decode: texts of token IDs. */
function decodeIds(models: ModelResolver<'tokenization'>, { listLength }: ProtocolOptions): Route {
  return route({
    ...COMMON,
    path: '/decode',
    operationId: 'decode',
    summary: 'Texts of token IDs',
    request: decodeRequest,
    response: z.array(z.string()),
    examples: { request: { ids: [[101, 1037, 2143, 102]] }, response: ['a film'] },
    handler: async (call, { model, ids: given, skip_special_tokens: skipsSpecial }) => {
      const isList = Array.isArray(given[0]);
      const lists = (isList ? given : [given]) as readonly (readonly number[])[];
      requireListLength(lists, 'ids', listLength);
      const served = models.resolve(model, call);
      const body = await mapInTimeSlices(lists, (list, index) =>
        decode(call, served, list, { skipsSpecial, field: isList ? `ids[${index}]` : 'ids' }),
      );
      return { body, inferences: [] };
    },
  });
}

/** POST /detokenize: the text of token IDs, as vLLM. */
function detokenize(models: ModelResolver<'tokenization'>): Route {
  return route({
    ...COMMON,
    path: '/detokenize',
    operationId: 'detokenize',
    summary: 'The text of token IDs',
    request: detokenizeRequest,
    response: z.object({ prompt: z.string() }),
    examples: { request: { tokens: [1037, 2143] }, response: { prompt: 'a film' } },
    handler: async (call, { model, tokens }) => {
      const served = models.resolve(model, call);
      const prompt = decode(call, served, tokens, { skipsSpecial: false, field: 'tokens' });
      return { body: { prompt }, inferences: [] };
    },
  });
}
