import { ResponseError } from './client-errors';
import { isTimeout } from './retry';

/** What became of one element of a source. */
export type Outcome<Element, Result> = {
  /** Of the element in its source, from 0. */
  readonly index: number;
  /** The element, as the source gave it. */
  readonly input: Element;
} & (
  | { readonly ok: true; readonly result: Result }
  /** Why the service has no answer for this element: asking again would not help. */
  | { readonly ok: false; readonly error: Error }
);

export interface ListItem<Element, Result> {
  readonly index: number;
  readonly input: Element;
  /** As it stands in the list. */
  readonly json: string;
  outcome?: Outcome<Element, Result>;
}

/** How the lists of one source are asked for. */
export interface ListRequest<Result> {
  /** The list's name in the body, by which the service names an element: `texts[3]: …`. */
  readonly field: string;
  readonly send: (elements: readonly string[]) => Promise<readonly Result[]>;
  /** The last element that was answered, as JSON; null: none was. */
  lastAnswered: string | null;
}

const NOT_LOADED = 'Model is not loaded.';
const OVERRUN = 'The model ran longer than';

/**
 * Gives each item its outcome. A list is refused whole where one element is bad: that one, which the
 * service names, gets its error, and the others are sent again without it. Where it names none, a list
 * that is too large (for a proxy) is sent in halves, and one that failed or ran out of time one by one.
 *
 * @throws what says nothing of an element: the service is not there, does not answer, refuses for too
 * long, wants a key. What `isTimeout` holds for is thrown only where the service does not answer.
 */
export async function sendList<Element, Result>(
  items: readonly ListItem<Element, Result>[],
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
    if (isNoAnswer(error)) await requireAnswers(request, items.length, error);
    for (const part of partsAfter(error, items, request.field)) await sendList(part, request);
  }
}

/** Not where the service says that the model ran for too long: that is about what it ran on. */
function isNoAnswer(error: unknown): error is Error {
  return isTimeout(error) && !(error instanceof ResponseError && error.detail.startsWith(OVERRUN));
}

/**
 * A list that is not answered in time may hold an element that takes too long, or the service answers
 * nothing at all: then it does not answer an element either that it has answered before.
 *
 * @throws error, or what asking for that element ends with
 */
async function requireAnswers<Result>(
  { lastAnswered, send }: ListRequest<Result>,
  length: number,
  error: Error,
): Promise<void> {
  if (lastAnswered !== null) await send([lastAnswered]);
  else if (length === 1) throw error; // nothing tells whose fault it is
}

type Items<Element, Result> = readonly ListItem<Element, Result>[];

/** What is still to be asked, in which lists, after a list ended with `error`. @throws error */
function partsAfter<Element, Result>(
  error: unknown,
  items: Items<Element, Result>,
  field: string,
): readonly Items<Element, Result>[] {
  const named = error instanceof ResponseError ? namedElement(error, field, items.length) : null;
  // A deadline that has passed is the matter of all of them, whoever is named.
  if (named !== null && (items.length === 1 || !isTimeout(error))) {
    // The service counts from the start of the list, the caller from that of the source.
    const detail = `${field}[${items[named.index]?.index}]${named.rest}`;
    blame(items[named.index], new ResponseError({ ...(error as ResponseError), detail }));
    return [items.filter((_, i) => i !== named.index)];
  }
  if (!mayBeOfAnElement(error)) throw error;
  if (items.length === 1) {
    blame(items[0], error);
    return [];
  }
  if (error instanceof ResponseError && error.status === 413) {
    const middle = items.length >> 1;
    return [items.slice(0, middle), items.slice(middle)];
  }
  return items.map((item) => [item]);
}

interface Named {
  readonly index: number;
  /** Behind the element's name, such as `[17]: expected a number`. */
  readonly rest: string;
}

function namedElement({ detail }: ResponseError, field: string, count: number): Named | null {
  const [, digits, rest = ''] = new RegExp(`^${field}\\[(\\d+)\\](.*)$`, 's').exec(detail) ?? [];
  const index = Number(digits ?? Number.NaN);
  return index < count ? { index, rest } : null;
}

/** Of a request for one element alone, this is about the element. */
function mayBeOfAnElement(error: unknown): error is Error {
  if (isTimeout(error)) return true;
  if (!(error instanceof ResponseError)) return false;
  return error.status === 413 || (error.status === 500 && error.detail !== NOT_LOADED);
}

function blame<Element, Result>(item: ListItem<Element, Result> | undefined, error: Error): void {
  if (item) item.outcome = { index: item.index, input: item.input, ok: false, error };
}
