import { type AllOptions, type AllSource, withDefaults } from './all-options';
import type { Outcome } from './ask-list';
import { Flow, type ListRoute } from './flow';

/**
 * Asks for every element of a source, several requests at a time, and gives their outcomes. The source is
 * read only as far ahead as `lookAhead` says; it is closed, and what is under way dropped, when the
 * iterator is left early.
 *
 * @throws TypeError, RangeError: the source or an option is none. The iterator rejects with what ends
 * everything: the source's own error, the signal's reason, a service that is not there or refuses for
 * longer than `retries` and `retryForMs` allow, 401, 404, a model that is not loaded, NoAnswerError where
 * the service does not answer. All outcomes of elements before come first (with `ordered: false`: of all
 * requests that were answered).
 */
export function askAll<Element, Result>(
  route: ListRoute<Element, Result>,
  source: AllSource<Element>,
  options: AllOptions,
): AsyncIterableIterator<Outcome<Element, Result>> {
  if (!isIterable(source)) {
    throw new TypeError('source: expected an iterable or an async iterable of elements');
  }
  const flow = new Flow(route, source, withDefaults(options));
  const outcomes = flow.outcomes();
  return {
    next: () => outcomes.next(),
    return: () => {
      flow.leave(); // a generator would first wait for the outcome that is being waited for
      return outcomes.return(undefined);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** A string would be, too, of its characters. */
function isIterable(source: unknown): boolean {
  if (typeof source !== 'object' || source === null) return false;
  return Symbol.asyncIterator in source || Symbol.iterator in source;
}
