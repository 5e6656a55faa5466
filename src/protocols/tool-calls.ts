import { decodedJson } from './json-text';

/**
 * What a language model calls a tool with: arguments of a function, the input of a custom tool, and whatever
 * another type of tool has, each without the escapes of JSON. Names of tools are those of the request.
 *
 * @param calls of a message of OpenAI, or LiteLLM's, in any form
 */
export function textsOfCalls(calls: readonly unknown[]): readonly string[] {
  return calls.flatMap((call) =>
    entriesOf(call)
      .filter(([key]) => !NAMES.includes(key))
      .flatMap(([, called]) => (typeof called === 'object' ? fieldsOf(called) : [called]))
      .flatMap(textOf),
  );
}

/** @param called of a call: `{ name, arguments }`. An argument may be an object of JSON in place of its text. */
export function textsOfCalled(called: unknown): readonly string[] {
  return fieldsOf(called).flatMap(textOf);
}

const NAMES = ['id', 'type', 'index', 'name'];

function fieldsOf(called: unknown): readonly unknown[] {
  return entriesOf(called).flatMap(([key, value]) => (NAMES.includes(key) ? [] : [value]));
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

function textOf(value: unknown): readonly string[] {
  if (value === null || value === undefined || typeof value === 'boolean') return [];
  return [decodedJson(typeof value === 'string' ? value : JSON.stringify(value))];
}
