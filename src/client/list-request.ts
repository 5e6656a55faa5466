import { ResponseError } from './client-errors';
import { isTimeout } from './retry';

/** Outcome of one element of a source. */
export type Outcome<Element, Result> = {
  /** Index of the element in the source, from 0. */
  readonly index: number;
  /** The element, as read from the source. */
  readonly input: Element;
} & (
  | { readonly ok: true; readonly result: Result }
  /** Permanent error of this element: a retry would fail as well. */
  | { readonly ok: false; readonly error: Error }
);

export interface ListItem<Element, Result> {
  readonly index: number;
  readonly input: Element;
  /** JSON of the element in the request body. */
  readonly json: string;
  outcome?: Outcome<Element, Result>;
}

/** Requests for the lists of one source. */
export interface ListRequest<Result> {
  /** Name of the list in the body, which the server uses in error messages: `texts[3]: …`. */
  readonly field: string;
  readonly send: (elements: readonly string[]) => Promise<readonly Result[]>;
  /** JSON of the last element with a result; null if none. */
  lastAnswered: string | null;
}

type Items<Element, Result> = readonly ListItem<Element, Result>[];

const NOT_LOADED = 'Model is not loaded.';
const OVERRUN = 'The model ran longer than';

/**
 * Sends a list and sets the outcome of each item. If the server rejects the list because of a named element, that
 * element gets the error and the rest is sent again. A list that is too large is split in halves, and a list that
 * failed without a named element is sent one element at a time.
 *
 * @throws errors that concern no element: server unreachable, rejected after all retries, missing API key. A timeout
 * (`isTimeout`) is thrown only if the server does not respond to any request.
 */
export async function sendList<Element, Result>(
  items: Items<Element, Result>,
  request: ListRequest<Result>,
): Promise<void> {
  if (items.length === 0) return;
  try {
    const results = await request.send(items.map(({ json }) => json));
    if (results.length !== items.length) {
      throw new Error(`expected ${items.length} results, received ${results.length}`);
    }
    for (const [i, item] of items.entries()) {
      const { index, input, json } = item;
      item.outcome = { index, input, ok: true, result: results[i] as Result };
      request.lastAnswered = json;
    }
  } catch (error) {
    if (isServerTimeout(error)) await requireResponsive(request, items.length, error);
    for (const part of splitAfter(error, items, request.field)) await sendList(part, request);
  }
}

/** A timeout, except if the server reports that the model ran too long on this input. */
function isServerTimeout(error: unknown): error is Error {
  return isTimeout(error) && !(error instanceof ResponseError && error.detail.startsWith(OVERRUN));
}

/**
 * Distinguishes a slow element from a server that does not respond, by sending an element that succeeded before.
 *
 * @throws `error`, or the error of that request
 */
async function requireResponsive<Result>(
  { lastAnswered, send }: ListRequest<Result>,
  length: number,
  error: Error,
): Promise<void> {
  if (lastAnswered !== null) await send([lastAnswered]);
  else if (length === 1) throw error; // no element has succeeded yet
}

/** Sets the outcomes of failed items and returns the lists to send next. @throws `error` if it concerns no element */
function splitAfter<Element, Result>(
  error: unknown,
  items: Items<Element, Result>,
  field: string,
): readonly Items<Element, Result>[] {
  const named = error instanceof ResponseError ? findNamed(error, field, items.length) : null;
  // A timeout concerns all elements of the list.
  if (named !== null && (items.length === 1 || !isTimeout(error))) {
    // The server counts within the list, the caller within the source.
    const detail = `${field}[${items[named.index]?.index}]${named.rest}`;
    setError(items[named.index], new ResponseError({ ...(error as ResponseError), detail }));
    return [items.filter((_, i) => i !== named.index)];
  }
  if (!mayConcernElement(error)) throw error;
  if (items.length === 1) {
    setError(items[0], error);
    return [];
  }
  if (error instanceof ResponseError && error.status === 413) {
    const middle = items.length >> 1;
    return [items.slice(0, middle), items.slice(middle)];
  }
  return items.map((item) => [item]);
}

/** Index of the element that an error message names, and the rest of the message after `texts[17]`. */
function findNamed({ detail }: ResponseError, field: string, count: number) {
  const [, digits, rest = ''] = new RegExp(`^${field}\\[(\\d+)\\](.*)$`, 's').exec(detail) ?? [];
  const index = Number(digits ?? Number.NaN);
  return index < count ? { index, rest } : null;
}

/** Returns whether the error of a request with one element can be caused by that element. */
function mayConcernElement(error: unknown): error is Error {
  if (isTimeout(error)) return true;
  if (!(error instanceof ResponseError)) return false;
  return error.status === 413 || (error.status === 500 && error.detail !== NOT_LOADED);
}

function setError<Element, Result>(
  item: ListItem<Element, Result> | undefined,
  error: Error,
): void {
  if (item) item.outcome = { index: item.index, input: item.input, ok: false, error };
}
