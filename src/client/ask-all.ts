import type { Outcome } from './ask-list';
import { type AllOptions, type AllSettings, type AllSource, Flow, type ListRoute } from './flow';

const RETRIES = 20;

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
  // A string would be iterable, too, of its characters.
  const isSource = typeof source === 'object' && source !== null;
  if (!isSource || !(Symbol.asyncIterator in source || Symbol.iterator in source)) {
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

function withDefaults(options: AllOptions): AllSettings {
  const { concurrency = 4, batchSize = 32, ordered = true, retries = RETRIES } = options;
  const { lookAhead = 4 * concurrency * batchSize } = options;
  for (const [name, value] of Object.entries({ concurrency, batchSize, lookAhead })) {
    if (Number.isSafeInteger(value) && value >= 1) continue;
    throw new RangeError(`${name}: expected a whole number, at least 1, received ${value}`);
  }
  return { ...options, concurrency, batchSize, lookAhead, ordered, retries };
}
