import { z } from 'zod';
import { mapInTimeSlices } from '../../lib/time-slice';
import type { TextInput } from '../../native/engine';
import { classify } from '../../services/classify';
import { admissionErrorOf, requireListLength, requireModel } from '../../services/inference';
import type { ServiceResponse } from '../../serving/request-context';
import type { ServiceRequest } from '../../serving/service-request';
import type { TextClassifier } from '../../tasks/capabilities';
import { rankLabels, SCORE_FUNCTIONS } from '../../tasks/classification';
import type { ServedModel } from '../../tasks/served-model';
import type { ZeroShotClassifier } from '../../tasks/zero-shot/zero-shot-classifier';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import { TRUNCATED_HEADER, toSchema } from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import { parseBody, type Route, route } from '../route';
import {
  checked,
  type ElementProblem,
  expected,
  findListProblem,
  object,
} from '../validation/fields';
import {
  classifyWithLabels,
  hasCandidateLabels,
  labelScores,
  zeroShotExamples,
  zeroShotRequest,
  zeroShotResponse,
} from './zero-shot-classification';

/** A text or a text pair, as in the pipelines of transformers. */
interface TextObject {
  readonly text: string;
  readonly text_pair?: string | null;
}

const TEXT_SCHEMAS = [
  { type: 'string' },
  {
    type: 'object',
    properties: { text: { type: 'string' }, text_pair: { type: ['string', 'null'] } },
    required: ['text'],
  },
];

const inputs = checked(
  (value) =>
    Array.isArray(value) ? findListProblem(value, '', findTextProblem) : findTextProblem(value),
  (value) => {
    const isList = Array.isArray(value);
    const elements = (isList ? value : [value]) as readonly (string | TextObject)[];
    return { texts: elements.map(toInput), isList };
  },
).meta({
  description: 'A text, a text pair, or a list of both',
  anyOf: [...TEXT_SCHEMAS, { type: 'array', items: { anyOf: TEXT_SCHEMAS } }],
});

const request = object({
  inputs,
  parameters: object({
    function_to_apply: z
      .enum(SCORE_FUNCTIONS, { error: expected('"softmax", "sigmoid" or "none"') })
      .nullish()
      .describe('Activation of the outputs. Default: as the model specifies'),
    top_k: z
      .int({ error: expected('a whole number') })
      .positive({ error: 'expected at least 1' })
      .nullish()
      .describe('Maximum number of labels in the response. Default: all'),
  }).nullish(),
});

const response = z.array(labelScores);

const examples = {
  request: { inputs: 'A warm, funny film.', parameters: { top_k: 1 } },
  response: [[{ label: 'POSITIVE', score: 0.9823 }]],
};
const COMMON = {
  method: 'POST',
  errors: [...MODEL_ERRORS, 'LIST_TOO_LONG'],
  headers: TRUNCATED_HEADER,
} as const;

/**
 * The text-classification task: labels by descending score. The response is a list of lists also for a single text:
 * clients of Hugging Face use its first element. Empty texts are allowed, as in the pipelines of transformers.
 *
 * @param suffix of the operation ID
 */
export function textClassification(
  [path, suffix]: readonly [path: string, suffix: string],
  served: ServedModel<TextClassifier>,
  options: ProtocolOptions,
): Route {
  return route({
    ...COMMON,
    path,
    operationId: `textClassification${suffix}`,
    schemaName: 'huggingFaceClassification',
    summary: 'Classify texts',
    request,
    response,
    examples,
    admissionError: admissionErrorOf(served.model),
    handler: (call, body) => classifyTexts(call, body, served, options),
  });
}

/**
 * The text-classification task and, for bodies with candidate labels, the zero-shot-classification task. The response
 * of the latter is a list for a single text and a list of lists for a list of texts.
 *
 * @param suffix of the operation ID
 */
export function textOrZeroShotClassification(
  [path, suffix]: readonly [path: string, suffix: string],
  served: ServedModel<TextClassifier>,
  entailment: ServedModel<ZeroShotClassifier>,
  options: ProtocolOptions,
): Route {
  return route({
    ...COMMON,
    path,
    operationId: `textClassification${suffix}`,
    schemaName: 'huggingFaceZeroShot',
    summary: 'Classify texts, with the labels of the model or with candidate labels',
    request: () => toSchema(z.union([zeroShotRequest, request])),
    response: z.union([zeroShotResponse, response]),
    examples: zeroShotExamples,
    errors: [...COMMON.errors, 'BODY_INVALID'],
    admissionError: admissionErrorOf(served.model),
    handler: async (call) => {
      if (!hasCandidateLabels(call.body)) {
        return classifyTexts(call, parseBody(request, call), served, options);
      }
      return classifyWithLabels(call, entailment, options);
    },
  });
}

async function classifyTexts(
  call: ServiceRequest,
  { inputs, parameters }: z.output<typeof request>,
  served: ServedModel<TextClassifier>,
  { listLength, responseLimit }: ProtocolOptions,
): Promise<ServiceResponse> {
  const { texts, isList } = inputs;
  requireListLength(texts, 'inputs', listLength);
  const { labels } = requireModel(served.model).metadata;
  const { predictions, inferences } = await classify(call, served, {
    inputs: texts,
    field: isList ? 'inputs' : null,
    responseLimit,
  });
  const ranking = { scoreFunction: parameters?.function_to_apply, topK: parameters?.top_k };
  const body = await mapInTimeSlices(predictions, (prediction) =>
    rankLabels(labels, prediction, ranking),
  );
  return { body, inferences };
}

function findTextProblem(value: unknown): ElementProblem | null {
  if (typeof value === 'string') return null;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const what = 'a string, or an object with "text" and "text_pair"';
    return { message: expected(what)({ input: value }), path: [] };
  }
  const { text, text_pair: pair = null } = value as Record<string, unknown>;
  if (typeof text !== 'string') {
    return { message: expected('a string')({ input: text }), path: ['text'] };
  }
  if (pair === null || typeof pair === 'string') return null;
  return { message: 'expected a string', path: ['text_pair'] };
}

function toInput(value: string | TextObject): TextInput {
  if (typeof value === 'string') return { text: value };
  const { text, text_pair: pair = null } = value;
  return pair === null ? { text } : { text, pair };
}
