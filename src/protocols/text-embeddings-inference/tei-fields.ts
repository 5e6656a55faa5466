import { z } from 'zod';
import { countCodePoints } from '../../lib/code-points';
import type { Inference, TextInput } from '../../native/engine';
import type { TextOrIds } from '../../services/embed';
import { ServiceError } from '../../serving/errors';
import { timingsOf } from '../../serving/request-context';
import {
  checked,
  expected,
  findStringProblem,
  findTextInputsProblem,
  string,
  textInputsSchema,
  toTextInputs,
} from '../validation/fields';

/** Texts to embed; `requireNotEmpty` rejects empty ones. */
export const inputs = checked(
  (value) => findTextInputsProblem(value, findStringProblem),
  (value) => toTextInputs(value, String),
).meta({
  description: 'A text, a list of token IDs, or a list of both',
  ...textInputsSchema({ type: 'string', minLength: 1 }),
});

/** Fields of truncation. */
export const TRUNCATION_FIELDS = {
  truncate: z
    .boolean({ error: expected('true, false or null') })
    .nullish()
    .describe(
      'false: reject texts longer than the model allows (422). Default: truncate them. Token IDs are never truncated',
    ),
  truncation_direction: z
    .preprocess(
      (value) => (typeof value === 'string' ? value.toLowerCase() : value),
      z.enum(['left', 'right'], { error: expected('"left" or "right"') }),
    )
    .optional()
    .describe('The end that is truncated. Default: as the tokenizer specifies'),
};

export const prompt_name = string()
  .nullish()
  .describe('Name of a prompt of the model, prepended to each text. Default: its default prompt');

const truncationSchema = z.object(TRUNCATION_FIELDS);

export function truncationOf({
  truncate,
  truncation_direction: direction,
}: z.output<typeof truncationSchema>): Pick<TextInput, 'truncation' | 'truncationSide'> {
  return {
    ...(truncate === false && { truncation: 'do_not_truncate' }),
    ...(direction && { truncationSide: direction }),
  };
}

/**
 * Rejects an empty list, and empty elements, with the message of text-embeddings-inference.
 *
 * @param isList whether the field is a list; false: `elements` has its only value
 * @throws ServiceError INPUT_EMPTY
 */
export function requireNotEmpty(
  elements: readonly { readonly length: number }[],
  field: string,
  isList: boolean,
): void {
  const index = elements.findIndex(({ length }) => length === 0);
  if (elements.length > 0 && index < 0) return;
  const path = isList && index >= 0 ? `${field}[${index}]` : field;
  throw new ServiceError('INPUT_EMPTY', `Input validation error: \`${path}\` cannot be empty`);
}

/** Number of code points of texts, and of IDs in lists of token IDs. */
export function countCharacters(elements: readonly TextOrIds[]): number {
  return elements.reduce<number>((sum, element) => {
    const isText = typeof element === 'string';
    return sum + (isText ? countCodePoints(element, 0, element.length) : element.length);
  }, 0);
}

/** @throws ServiceError LIST_TOO_LONG, with the message of text-embeddings-inference */
export function requireBatchSize(list: readonly unknown[], limit: number): void {
  if (list.length <= limit) return;
  const message = `batch size ${list.length} > maximum allowed batch size ${limit}`;
  throw new ServiceError('LIST_TOO_LONG', message);
}

/**
 * Headers of text-embeddings-inference.
 *
 * @param startedAt `performance.now()` when the request arrived
 * @param characters see `countCharacters`
 */
export function computeHeaders(
  startedAt: number,
  inferences: readonly Inference[],
  characters: number,
) {
  const total = performance.now() - startedAt;
  const queued = timingsOf(inferences)?.queueMs ?? 0;
  return {
    'X-Compute-Type': 'cpu',
    'X-Compute-Characters': characters,
    'X-Total-Time': Math.round(total),
    'X-Compute-Time': Math.max(0, Math.round(total - queued)),
  };
}
