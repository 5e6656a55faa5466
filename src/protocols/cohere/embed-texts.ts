import { ServiceError } from '../../serving/errors';
import {
  checked,
  type ElementProblem,
  findListProblem,
  findStringProblem,
} from '../validation/fields';

/** Separator of the text parts of an input, as in vLLM. */
const PART_SEPARATOR = '\n';

interface TextPart {
  readonly text: string;
}

interface ContentInput {
  readonly content: readonly TextPart[];
}

const TEXT_PART = {
  type: 'object',
  properties: { type: { const: 'text' }, text: { type: 'string' } },
  required: ['type', 'text'],
};

/** Fields with the texts of a request. Null and an empty list of images count as missing fields. */
export const TEXT_FIELDS = {
  texts: optional(
    (value) => findListProblem(value, 'an array of texts', findStringProblem),
    (value) => value as readonly string[],
  ).meta({ description: 'Texts to embed', type: 'array', items: { type: 'string' }, minItems: 1 }),
  inputs: optional(
    (value) => findListProblem(value, 'an array of inputs', findInputProblem),
    (value) => (value as readonly ContentInput[]).map(joinParts),
  ).meta({
    description:
      'Texts to embed, instead of `texts`. The text parts of an input are joined by a newline',
    type: 'array',
    minItems: 1,
    items: {
      type: 'object',
      properties: { content: { type: 'array', items: TEXT_PART, minItems: 1 } },
      required: ['content'],
    },
  }),
  images: optional(
    (value) =>
      Array.isArray(value) && value.length === 0
        ? null
        : { message: 'is not supported. Send texts', path: [] },
    () => null,
  ).meta({ description: 'Not supported', type: 'array', maxItems: 0 }),
};

/**
 * Texts of a request, and the name of their field.
 *
 * @throws ServiceError BODY_INVALID: none of the fields has a text, or both fields have texts
 */
export function textsOf({
  texts,
  inputs,
}: {
  readonly texts?: readonly string[] | null | undefined;
  readonly inputs?: readonly string[] | null | undefined;
}): { readonly elements: readonly string[]; readonly field: 'texts' | 'inputs' } {
  if (inputs?.length && texts?.length) {
    throw new ServiceError('BODY_INVALID', 'texts, inputs: send one of the fields, not both');
  }
  if (inputs?.length) return { elements: inputs, field: 'inputs' };
  if (texts?.length) return { elements: texts, field: 'texts' };
  const field = inputs && !texts ? 'inputs' : 'texts';
  const problem = inputs || texts ? 'expected at least one text' : 'is required';
  throw new ServiceError('BODY_INVALID', `${field}: ${problem}`);
}

/** Schema of a field that can be missing or null. */
function optional<Output>(
  findProblem: (value: unknown) => ElementProblem | null,
  read: (value: unknown) => Output,
) {
  return checked(
    (value) => (value == null ? null : findProblem(value)),
    (value) => (value == null ? null : read(value)),
  ).optional();
}

function joinParts({ content }: ContentInput): string {
  return content.map(({ text }) => text).join(PART_SEPARATOR);
}

function findInputProblem(value: unknown): ElementProblem | null {
  const content = (value as Partial<ContentInput> | null)?.content;
  const problem = findListProblem(content, 'an array of content parts', findPartProblem);
  if (problem) return { ...problem, path: ['content', ...problem.path] };
  if (content?.length === 0)
    return { message: 'expected at least one text part', path: ['content'] };
  return null;
}

function findPartProblem(value: unknown): ElementProblem | null {
  if (typeof value !== 'object' || value === null) {
    return { message: 'expected an object with "type" and "text"', path: [] };
  }
  const { type, text } = value as { readonly type?: unknown; readonly text?: unknown };
  if (type === 'image_url' || type === 'image') {
    return { message: 'images are not supported. Send text parts', path: ['type'] };
  }
  if (type !== 'text') return { message: 'expected "text"', path: ['type'] };
  const problem = findStringProblem(text);
  return problem && { ...problem, path: ['text'] };
}
