import { z } from 'zod';
import { ModelResolver } from '../services/model-resolver';
import { ServiceError } from '../serving/errors';
import type { ServiceRequest } from '../serving/service-request';
import type { Catalogue, ServedModel } from '../tasks/served-model';
import { MODEL_ERRORS } from './openapi/error-descriptions';
import { type Node, schemaReference, toSchema } from './openapi/responses';
import type { ErrorFormat, Protocol, ProtocolOptions } from './protocol';
import { parseBody, type Route, route } from './route';
import { decode } from './text-embeddings-inference/decode';
import { errors as teiErrors, teiProtocol } from './text-embeddings-inference/tei-protocol';
import {
  teiTokenize,
  teiTokenizeRequest,
  teiTokenizeResponse,
} from './text-embeddings-inference/tokenize';
import { detokenize } from './vllm/detokenize';
import { vllmTokenize, vllmTokenizeRequest, vllmTokenizeResponse } from './vllm/tokenize';
import { vllmProtocol } from './vllm/vllm-protocol';

type Tokenizers = ModelResolver<'tokenization'>;

/** Fields of the request by protocol: TEI (text-embeddings-inference) or vLLM. */
const TEI_FIELDS = ['inputs'];
const VLLM_FIELDS = ['prompt', 'messages'];
const FIELDS = 'inputs (text-embeddings-inference) or prompt (vLLM)';

/** Tag of the routes of both protocols in the OpenAPI document. */
const TAG = { name: 'tokens', description: 'Token IDs and texts, for clients of TEI and vLLM.' };

const examples = {
  request: { inputs: 'A warm film.' },
  response: [
    [
      { id: 101, text: '[CLS]', special: true, start: null, stop: null },
      { id: 1037, text: 'A', special: false, start: 0, stop: 1 },
      { id: 4010, text: 'warm', special: false, start: 2, stop: 6 },
      { id: 2143, text: 'film', special: false, start: 7, stop: 11 },
      { id: 1012, text: '.', special: false, start: 11, stop: 12 },
      { id: 102, text: '[SEP]', special: true, start: null, stop: null },
    ],
  ],
};

/** Protocols with which clients inspect the tokens of a model; empty: the model has no tokenizer. */
export function tokenProtocols(served: ServedModel, options: ProtocolOptions): readonly Protocol[] {
  const models = ModelResolver.ofOne(served, 'tokenization');
  return models ? protocolsOf(models, options) : [];
}

/** Protocols with which clients inspect the tokens of all text models. */
export function tokenProtocolsOf(
  catalogue: () => Catalogue,
  options: ProtocolOptions,
): readonly Protocol[] {
  return protocolsOf(new ModelResolver(catalogue, ['tokenization']), options);
}

function protocolsOf(models: Tokenizers, options: ProtocolOptions): readonly Protocol[] {
  const tei = { ...teiProtocol([decode(models, options)], null), tag: TAG };
  const vllm = { ...vllmProtocol([detokenize(models, options)]), tag: TAG };
  const formats = [tei, vllm].map(({ error }) => schemaReference(error.name));
  return [
    { ...tei, routesByBodyModel: true },
    vllm,
    {
      ...tei,
      routesByBodyModel: true,
      routes: [tokenizeRoute(models, options)],
      errors: errorsOf(vllm.errors),
      error: { name: 'TokenizeError', schema: { anyOf: formats } },
    },
  ];
}

/** POST /tokenize of both protocols, selected by the fields of the request. */
function tokenizeRoute(models: Tokenizers, options: ProtocolOptions): Route {
  return route({
    method: 'POST',
    path: '/tokenize',
    abilities: ['tokenization'],
    operationId: 'tokenize',
    summary: 'Tokenize texts',
    description: `Selects the protocol by the field ${FIELDS}. Texts are never truncated.`,
    request: (): Node => ({
      anyOf: [toSchema(teiTokenizeRequest), toSchema(vllmTokenizeRequest)],
    }),
    response: z.union([teiTokenizeResponse, vllmTokenizeResponse]),
    examples,
    errors: ['BODY_INVALID', ...MODEL_ERRORS, 'INPUT_EMPTY', 'LIST_TOO_LONG', 'NOT_FOUND'],
    admissionError: models.admissionError,
    handler: (call: ServiceRequest) => {
      requireOneProtocol(call.body);
      return isVllm(call.body)
        ? vllmTokenize(call, models, options)
        : teiTokenize(call, models, options, parseBody(teiTokenizeRequest, call));
    },
  });
}

/** Errors in the format of the protocol of the request; text-embeddings-inference if it cannot be told. */
function errorsOf(vllmErrors: ErrorFormat): ErrorFormat {
  const choose = (body: unknown) => (isVllm(body) ? vllmErrors : teiErrors);
  return { ...teiErrors, byBody: { formats: [teiErrors, vllmErrors], choose } };
}

function isVllm(body: unknown): boolean {
  return hasField(body, VLLM_FIELDS) && !hasField(body, TEI_FIELDS);
}

/** @throws ServiceError BODY_INVALID: the fields select no protocol, or both */
function requireOneProtocol(body: unknown): void {
  const isTei = hasField(body, TEI_FIELDS);
  if (isTei !== hasField(body, VLLM_FIELDS)) return;
  const problem = isTei ? `expected only one of ${FIELDS}` : `expected ${FIELDS}, found neither`;
  throw new ServiceError('BODY_INVALID', `body: ${problem}. Send one of the fields`);
}

/** Null counts as a missing field. */
function hasField(body: unknown, names: readonly string[]): boolean {
  if (typeof body !== 'object' || body === null) return false;
  const fields = new Map(Object.entries(body));
  return names.some((name) => fields.get(name) != null);
}
