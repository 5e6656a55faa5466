import { z } from 'zod';
import { ServiceError } from '../../serving/errors';
import { describeFirstIssue, expected } from '../validation/fields';

/** Parameters of a list. */
export interface PageRequest {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  /** ID of the last element of the previous page; undefined: the first page. */
  readonly after?: string | undefined;
}

/**
 * Reads the query of a list.
 *
 * @param maxLimit maximum number of elements of a page
 * @param defaultLimit number of elements without `limit`
 * @throws ServiceError REQUEST_INVALID
 */
export function readPage(
  query: URLSearchParams,
  maxLimit: number,
  defaultLimit: number,
): PageRequest {
  const limitProblem = { error: () => `expected a whole number from 1 to ${maxLimit}` };
  const limit = z.coerce.number(limitProblem).int(limitProblem).min(1, limitProblem);
  const schema = z.object({
    limit: limit.max(maxLimit, limitProblem).default(defaultLimit),
    order: z.enum(['asc', 'desc'], { error: expected('"asc" or "desc"') }).default('desc'),
    after: z.string().optional(),
  });
  const names = ['limit', 'order', 'after'].filter((name) => query.has(name));
  const { data, error } = schema.safeParse(
    Object.fromEntries(names.map((name) => [name, query.get(name)])),
  );
  if (error) throw new ServiceError('REQUEST_INVALID', describeFirstIssue(error));
  return data;
}

/** A page of a list in the format of OpenAI. */
export interface Page<Item> {
  readonly object: 'list';
  readonly data: readonly Item[];
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
}

/**
 * Selects a page.
 *
 * @param records in order of creation
 * @throws ServiceError REQUEST_INVALID: `after` is not in the list
 */
export function pageOf<Item extends { readonly id: string }, Shown>(
  records: readonly Item[],
  { limit, order, after }: PageRequest,
  show: (record: Item) => Shown,
): Page<Shown> {
  const ordered = order === 'desc' ? records.toReversed() : records;
  const last = after === undefined ? -1 : ordered.findIndex(({ id }) => id === after);
  if (after !== undefined && last < 0) {
    throw new ServiceError('REQUEST_INVALID', 'after: no element of the list has this ID');
  }
  const page = ordered.slice(last + 1, last + 1 + limit);
  return {
    object: 'list',
    data: page.map(show),
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
    has_more: last + 1 + limit < ordered.length,
  };
}

/** Schema of a page. */
export function pageSchema(item: z.ZodType) {
  return z.object({
    object: z.literal('list'),
    data: z.array(item),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  });
}

/** Documentation of the query. */
export const PAGE_DESCRIPTION =
  'Query: `limit` (number of elements), `after` (ID of the last element of the previous page), `order` (`asc` or `desc` ' +
  'by creation; default: `desc`).';
