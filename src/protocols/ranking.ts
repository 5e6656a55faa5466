import { z } from 'zod';
import type { Inference, InferOptions, TextInput } from '../native/engine';
import { ServiceError } from '../serving/errors';
import type { PairScore, PairScorer } from '../tasks/abilities';
import { ANALYSIS_ERRORS, type LegacyOperation } from './openapi/legacy-operation';
import { runList } from './route';
import {
  checked,
  type ElementProblem,
  expected,
  findListProblem,
  string,
} from './validation/fields';

/** `model` of a body; see `ModelResolver`. */
export const modelName = () =>
  string().nullish().describe('Default: the default model. Ignored below the address of a model');

/** What the schemas of several protocols say alike. */
export const topN = () =>
  z
    .int({ error: expected('a whole number') })
    .positive({ error: 'expected at least 1' })
    .nullish()
    .describe('So many documents, the best ones; default: all');

/** A list of documents, each a string or an object with one. */
export const documentList = () =>
  checked(findDocumentsProblem, (value) =>
    (value as readonly (string | TextObject)[]).map((one) =>
      typeof one === 'string' ? one : one.text,
    ),
  ).meta({
    description: 'Documents, each a string or {"text": string}',
    type: 'array',
    minItems: 1,
    items: {
      anyOf: [
        { type: 'string' },
        { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      ],
    },
  });

interface TextObject {
  readonly text: string;
}

function findDocumentsProblem(value: unknown): ElementProblem | null {
  const problem = findListProblem(value, 'an array of documents', (one) => {
    if (typeof one === 'string' || typeof (one as TextObject | null)?.text === 'string')
      return null;
    return { message: 'expected a string, or an object with a string "text"', path: [] };
  });
  if (problem || (value as readonly unknown[]).length > 0) return problem;
  return { message: 'expected at least one document', path: [] };
}

const NO_SUCH_MODEL = 'There is no such model: the message lists the models.';

/** What ranking routes may answer but 200, where their protocol says nothing else. */
export const RANKING_ERRORS: LegacyOperation['errors'] = {
  ...ANALYSIS_ERRORS,
  400: 'The deadline is no number of milliseconds, or the model has several labels.',
  404: NO_SUCH_MODEL,
};

/**
 * Runs the model on pairs, all of them one request to the queue.
 *
 * @param field of the body that holds the documents, for what the engine says of one of them
 * @throws ServiceError REQUEST_INVALID: a model of several labels says nothing by which documents are ranked
 * @throws EngineError, ElementError
 */
export async function scorePairs(
  model: PairScorer,
  pairs: readonly TextInput[],
  options: InferOptions,
  field: string | null,
): Promise<{
  readonly answers: readonly PairScore[];
  readonly inferences: readonly Inference[];
}> {
  const { length } = model.metadata.labels;
  if (length === 1) return runList(model, pairs, options, field);
  throw new ServiceError(
    'REQUEST_INVALID',
    `The model has ${length} labels, and ranks by none: the Open Inference Protocol gives the scores of all.`,
  );
}

/** Of a model with one label. */
export function scoreOf({ scores }: PairScore): number {
  return scores[0] as number;
}

export function tokensOf(inferences: readonly Inference[]): number {
  return inferences.reduce((sum, { tokens }) => sum + tokens, 0);
}
