import { z } from 'zod';
import { admissionErrorOf } from '../../services/inference';
import { zeroShot } from '../../services/zero-shot';
import type { ServiceResponse } from '../../serving/request-context';
import type { ServiceRequest } from '../../serving/service-request';
import type { ServedModel } from '../../tasks/served-model';
import type { ZeroShotClassifier } from '../../tasks/zero-shot/zero-shot-classifier';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import { parseBody, type Route, route } from '../route';
import {
  checked,
  expected,
  findListProblem,
  findStringProblem,
  object,
} from '../validation/fields';
import { ZERO_SHOT_FIELDS } from '../validation/zero-shot-fields';

const ZERO_SHOT_INPUTS = 'a string or an array of strings';

export const zeroShotRequest = object({
  inputs: checked(
    (value) => {
      if (typeof value === 'string') return null;
      return Array.isArray(value)
        ? findListProblem(value, ZERO_SHOT_INPUTS, findStringProblem)
        : { message: expected(ZERO_SHOT_INPUTS)({ input: value }), path: [] };
    },
    (value) => ({
      texts: (Array.isArray(value) ? value : [value]) as readonly string[],
      isList: Array.isArray(value),
    }),
  ).meta({
    description: 'A text, or a list of texts',
    anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
  }),
  parameters: object(ZERO_SHOT_FIELDS),
});

export const labelScores = z.array(z.object({ label: z.string(), score: z.number() }));
export const zeroShotResponse = z.union([labelScores, z.array(labelScores)]);

export const zeroShotExamples = {
  request: {
    inputs: 'A warm, funny film.',
    parameters: { candidate_labels: ['comedy', 'drama'] },
  },
  response: [
    { label: 'comedy', score: 0.8512 },
    { label: 'drama', score: 0.1488 },
  ],
};

/**
 * The zero-shot-classification task of a model without labels of its own.
 *
 * @param suffix of the operation ID
 */
export function zeroShotClassification(
  [path, suffix]: readonly [path: string, suffix: string],
  served: ServedModel<ZeroShotClassifier>,
  options: ProtocolOptions,
): Route {
  return route({
    method: 'POST',
    path,
    operationId: `zeroShotClassification${suffix}`,
    schemaName: 'huggingFaceZeroShotOnly',
    summary: 'Classify texts with candidate labels',
    request: zeroShotRequest,
    response: zeroShotResponse,
    examples: zeroShotExamples,
    errors: [...MODEL_ERRORS, 'LIST_TOO_LONG'],
    headers: TRUNCATED_HEADER,
    admissionError: admissionErrorOf(served.model),
    handler: (call) => classifyWithLabels(call, served, options),
  });
}

/** The response is a list for a single text and a list of lists for a list of texts. */
export async function classifyWithLabels(
  call: ServiceRequest,
  served: ServedModel<ZeroShotClassifier>,
  { listLength }: ProtocolOptions,
): Promise<ServiceResponse> {
  const { inputs, parameters } = parseBody(zeroShotRequest, call);
  const { predictions, inferences } = await zeroShot(call, served, {
    texts: inputs.texts,
    labels: parameters.candidate_labels,
    template: parameters.hypothesis_template,
    isMultiLabel: parameters.multi_label,
    field: 'parameters.candidate_labels',
    listLength,
  });
  return { body: inputs.isList ? predictions : (predictions[0] as object), inferences };
}

/** Whether a request of a model with several tasks is one of zero-shot classification. */
export function hasCandidateLabels(body: unknown): boolean {
  const { parameters } = (body ?? {}) as { readonly parameters?: unknown };
  return typeof parameters === 'object' && parameters !== null && 'candidate_labels' in parameters;
}
