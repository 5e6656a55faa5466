import { z } from 'zod';
import { mapInTimeSlices } from '../../lib/time-slice';
import type { TextInput } from '../../native/engine';
import { classify } from '../../services/classify';
import { admissionErrorOf, requireModel } from '../../services/inference';
import type { TextClassifier } from '../../tasks/capabilities';
import { rankLabels } from '../../tasks/classification';
import type { ServedModel } from '../../tasks/served-model';
import { MODEL_ERRORS } from '../openapi/error-descriptions';
import { TRUNCATED_HEADER } from '../openapi/responses';
import type { ProtocolOptions } from '../protocol';
import { type Route, route } from '../route';
import {
  boolean,
  checked,
  type ElementProblem,
  expected,
  findListProblem,
  object,
} from '../validation/fields';
import { withTokenCount } from './input-too-long';
import {
  computeHeaders,
  countCharacters,
  requireBatchSize,
  requireNotEmpty,
  TRUNCATION_FIELDS,
  truncationOf,
} from './tei-fields';

const INPUTS = 'a string, a pair of strings or a batch [[string], [string, string], ...]';
const TEXT_SCHEMA = { type: 'string', minLength: 1 };
const PAIR_SCHEMA = { type: 'array', items: TEXT_SCHEMA, minItems: 1, maxItems: 2 };

interface Inputs {
  readonly texts: readonly TextInput[];
  readonly isBatch: boolean;
}

const inputs = checked(findInputsProblem, (value): Inputs => {
  if (typeof value === 'string') return { texts: [{ text: value }], isBatch: false };
  const isList = isBatch(value);
  const sequences = (isList ? value : [value]) as readonly (readonly string[])[];
  return { texts: sequences.map(toInput), isBatch: isList };
}).meta({
  description: 'A text, a text pair, or a batch of both',
  anyOf: [TEXT_SCHEMA, PAIR_SCHEMA, { type: 'array', items: PAIR_SCHEMA, minItems: 1 }],
});

const request = object({
  inputs,
  ...TRUNCATION_FIELDS,
  raw_scores: boolean()
    .default(false)
    .describe('Whether to return the outputs of the model without an activation'),
});

const predictions = z.array(z.object({ score: z.number(), label: z.string() }));
const response = z.union([predictions, z.array(predictions)]);

const examples = {
  request: { inputs: 'A warm, funny film.' },
  response: [
    { score: 0.9823, label: 'POSITIVE' },
    { score: 0.0177, label: 'NEGATIVE' },
  ],
};

/** POST /predict: classifies a text, a text pair or a batch; the response of a batch is a list of lists. */
export function predict(
  served: ServedModel<TextClassifier>,
  { listLength, responseLimit }: ProtocolOptions,
): Route {
  return route({
    method: 'POST',
    path: '/predict',
    abilities: ['text-classification'],
    operationId: 'teiPredict',
    summary: 'Classify a text, a text pair or a batch',
    request,
    response,
    examples,
    errors: [...MODEL_ERRORS, 'INPUT_EMPTY', 'INPUT_TOO_LONG', 'LIST_TOO_LONG'],
    headers: TRUNCATED_HEADER,
    admissionError: admissionErrorOf(served.model),
    handler: async (call, body) => {
      const { texts, isBatch } = body.inputs;
      requireBatchSize(texts, listLength);
      requireNotEmpty(texts.map(emptyOrFirst), 'inputs', isBatch);
      const { labels } = requireModel(served.model).metadata;
      const truncation = truncationOf(body);
      const elements = texts.map(({ text, pair }) => (pair === undefined ? text : null));
      const input = { elements, isList: isBatch, prompt: () => '' };
      const { predictions, inferences } = await withTokenCount(call, served, input, () =>
        classify(call, served, {
          inputs: texts.map((text) => ({ ...text, ...truncation })),
          field: isBatch ? 'inputs' : null,
          responseLimit,
        }),
      );
      const scoreFunction = body.raw_scores ? 'none' : null;
      const ranked = await mapInTimeSlices(predictions, (prediction) =>
        rankLabels(labels, prediction, { scoreFunction }),
      );
      return {
        body: isBatch ? ranked : (ranked[0] as object),
        inferences,
        headers: computeHeaders(
          call.startedAt,
          inferences,
          countCharacters(texts.flatMap(({ text, pair }) => [text, pair ?? ''])),
        ),
      };
    },
  });
}

/** A text of the input, an empty one if the input has one. */
function emptyOrFirst({ text, pair = text }: TextInput): string {
  return pair === '' ? pair : text;
}

function findInputsProblem(value: unknown): ElementProblem | null {
  if (typeof value === 'string') return null;
  if (!Array.isArray(value)) return { message: expected(INPUTS)({ input: value }), path: [] };
  if (!isBatch(value)) return findSequenceProblem(value);
  return findListProblem(value, INPUTS, findSequenceProblem);
}

/** Problem of an array of one or two strings. */
function findSequenceProblem(value: unknown): ElementProblem | null {
  if (!Array.isArray(value)) {
    return { message: 'expected an array of one or two strings', path: [] };
  }
  if (value.length !== 1 && value.length !== 2) {
    return { message: `expected one or two strings, found ${value.length}`, path: [] };
  }
  const invalid = value.findIndex((text) => typeof text !== 'string');
  return invalid < 0 ? null : { message: 'expected a string', path: [invalid] };
}

/** An array is a batch if it is empty or its first element is an array: `["a", "b"]` is a text pair. */
function isBatch(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && (value.length === 0 || Array.isArray(value[0]));
}

function toInput([text, pair]: readonly string[]): TextInput {
  return pair === undefined ? { text: text as string } : { text: text as string, pair };
}
