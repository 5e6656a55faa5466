import { z } from 'zod';
import { embeddingsToJson } from '../../native/addon';
import { ServiceError } from '../../serving/errors';
import type { EmbeddingMetadata } from '../../tasks/capabilities';
import type { PromptNames } from '../../tasks/embeddings';
import {
  type EncodedVector,
  encodeVector,
  VECTOR_DTYPES,
  type VectorDtype,
} from '../../tasks/vector-dtypes';
import {
  checked,
  type ElementProblem,
  expected,
  findStringProblem,
  findTextInputsProblem,
  string,
  textInputsSchema,
  toTextInputs,
} from './fields';

/** Number of dimensions to which embeddings are truncated. */
export const dimensionCount = () =>
  z
    .int({ error: expected('a whole number') })
    .positive({ error: 'expected at least 1' })
    .nullish()
    .describe('Truncate embeddings to this number of dimensions');

/** A number format of embeddings. */
export const vectorDtype = () =>
  z
    .enum(VECTOR_DTYPES, { error: expected(`one of ${VECTOR_DTYPES.join(', ')}`) })
    .describe('Number format. int8 and uint8 need a model with normalized embeddings');

/** Role of a text, by which task and prompt are chosen. */
export type TextRole = 'query' | 'document' | 'classification' | 'clustering';

/**
 * Task names of jina-embeddings-v3, and prompt names of sentence-transformers models. The first prompt that a model has
 * is used. sentence-transformers adds empty prompts `query` and `document` to models with `search_query`.
 */
const NAMES_OF_ROLES: Readonly<
  Record<TextRole, { readonly task: string; readonly prompts: readonly string[] }>
> = {
  query: { task: 'retrieval.query', prompts: ['search_query', 'query'] },
  document: { task: 'retrieval.passage', prompts: ['search_document', 'document', 'passage'] },
  classification: { task: 'classification', prompts: ['classification'] },
  clustering: { task: 'separation', prompts: ['clustering', 'separation'] },
};

/** Task of a model with LoRA adapters of several tasks. */
export const adapterTask = () =>
  string()
    .nullish()
    .describe(
      'Task of a model with LoRA adapters of several tasks, as `tasks` of `GET /info` lists them. Prepends the prompt of the task. Default: `adapter` in model.json, otherwise none',
    );

/** Encoding with the task or the prompt of a role. A model without such a name gets the texts as they are. */
export function encodingFor(
  role: TextRole | null,
  { prompts, tasks }: Pick<EmbeddingMetadata, 'prompts' | 'tasks'>,
): PromptNames {
  if (role === null) return {};
  const names = NAMES_OF_ROLES[role];
  if (tasks.includes(names.task)) return { task: names.task };
  return { promptName: names.prompts.find((name) => Object.hasOwn(prompts, name)) };
}

const ROLES = Object.keys(NAMES_OF_ROLES) as readonly TextRole[];

/**
 * Encoding with a task of Jina's API. If the model has no tasks, a task of a role such as `retrieval.query` selects its
 * prompt of the role.
 *
 * @throws ServiceError BODY_INVALID: the model has neither tasks nor such a prompt
 */
export function encodingForTask(
  task: string,
  metadata: Pick<EmbeddingMetadata, 'prompts' | 'tasks'>,
): PromptNames {
  if (metadata.tasks.length > 0) return { task };
  const role = ROLES.find((each) => NAMES_OF_ROLES[each].task === task);
  const encoding = encodingFor(role ?? null, metadata);
  return encoding.promptName == null ? { task } : encoding;
}

/**
 * Checks the number formats of a request before inference.
 *
 * @param normalizes whether the embeddings are normalized
 * @param field name of the format in the request
 * @param normalizeField field of the request that normalizes embeddings; null: no such field
 * @throws ServiceError BODY_INVALID: a format needs normalized embeddings
 */
export function requireVectorDtypes(
  dtypes: readonly VectorDtype[],
  normalizes: boolean,
  field: string,
  normalizeField: string | null,
): void {
  const dtype = dtypes.find((each) => each === 'int8' || each === 'uint8');
  if (normalizes || dtype === undefined) return;
  const formats = 'float, binary or ubinary';
  const fix = normalizeField
    ? `Set "${normalizeField}" to true, or use ${formats}`
    : `This model does not normalize. Use ${formats}`;
  throw new ServiceError('BODY_INVALID', `${field}: ${dtype} needs normalized embeddings. ${fix}`);
}

/** Converts embeddings to a number format. `requireVectorDtypes` checks the format. */
export function encodeVectors(
  vectors: readonly Float32Array[],
  dtype: VectorDtype,
): readonly EncodedVector[] {
  return dtype === 'float' ? vectors : vectors.map((vector) => encodeVector(vector, dtype));
}

/** Base64 of the bytes of embeddings: little-endian float32, or a byte for each integer. */
export function vectorToBase64({ buffer, byteOffset, byteLength }: EncodedVector): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

/** JSON arrays of embeddings. */
export async function vectorsToJson(
  vectors: readonly EncodedVector[],
): Promise<readonly (string | Buffer)[]> {
  const isFloat = (vector: EncodedVector): vector is Float32Array => vector instanceof Float32Array;
  return vectors.every(isFloat)
    ? embeddingsToJson(vectors)
    : vectors.map((vector) => JSON.stringify([...vector]));
}

/** A text in a request of Jina. */
interface TextObject {
  readonly text: string;
}

const TEXT_SCHEMA = {
  anyOf: [
    { type: 'string', minLength: 1 },
    {
      type: 'object',
      properties: { text: { type: 'string', minLength: 1 } },
      required: ['text'],
    },
  ],
};

/** `input` of POST /v1/embeddings: texts of OpenAI or Jina, or token IDs. No text and no list is empty. */
export const embeddingInput = checked(
  (value) => findEmptyListProblem(value) ?? findTextInputsProblem(value, findTextProblem),
  (value) =>
    toTextInputs(value, (text) => (typeof text === 'string' ? text : (text as TextObject).text)),
).meta({
  description: 'A text, a list of token IDs, or a list of both. Jina: texts as {"text": string}',
  ...textInputsSchema(TEXT_SCHEMA),
});

function findEmptyListProblem(value: unknown): ElementProblem | null {
  if (!Array.isArray(value)) return null;
  const message = 'cannot be an empty list';
  if (value.length === 0) return { message, path: [] };
  const index = value.findIndex((element) => Array.isArray(element) && element.length === 0);
  return index < 0 ? null : { message, path: [index] };
}

function findTextProblem(value: unknown): ElementProblem | null {
  if (typeof value !== 'object' || value === null) return findStringOrEmptyProblem(value, []);
  if ('image' in value) {
    return { message: 'is not supported. Send texts', path: ['image'] };
  }
  if ('text' in value) return findStringOrEmptyProblem(value.text, ['text']);
  return { message: 'expected a string, or an object with a string "text"', path: [] };
}

/** @param path of the value within its element */
function findStringOrEmptyProblem(
  value: unknown,
  path: readonly PropertyKey[],
): ElementProblem | null {
  const isEmpty = value === '';
  const problem = isEmpty ? 'cannot be an empty string' : findStringProblem(value)?.message;
  return problem === undefined ? null : { message: problem, path };
}
