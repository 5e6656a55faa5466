import { isUtf8 } from 'node:buffer';
import { parse as parseContentType } from 'content-type';
import { ServiceError } from '../../serving/errors';
import { parseJson } from '../../serving/json';
import type { ServiceRequest } from '../../serving/service-request';
import { describePath, findListProblem, findNumberProblem } from '../validation/fields';
import { type Fields, readMultipart, readUrlEncoded } from './forms';

/** Fields of a form or an object that may contain the input, by priority. */
const FIELDS = ['data', 'body'];

/**
 * Reads the input of a request as TorchServe passes it to a handler: the field of a form, parsed JSON, or the bytes of
 * any other body.
 *
 * @throws ServiceError BODY_INVALID
 */
export function readInput(call: ServiceRequest): unknown {
  const bytes = call.body as Buffer;
  const type = call.header('content-type') ?? '';
  switch (parseContentType(type).type) {
    case 'application/json':
      return parseJson(bytes);
    case 'application/x-www-form-urlencoded':
      return fieldOf(readUrlEncoded(bytes, FIELDS));
    case 'multipart/form-data':
      return fieldOf(readMultipart(bytes, type, FIELDS));
    default:
      return bytes;
  }
}

/** A text, or the text in an object. @param place field in the body; empty: the whole body. @throws ServiceError */
export function textOf(value: unknown, place: string): string {
  if (typeof value === 'string') return value;
  if (Buffer.isBuffer(value)) {
    if (isUtf8(value)) return value.toString();
    throw invalid(place, 'is not valid UTF-8');
  }
  // Handlers of Hugging Face models call the field `text`.
  const field = fieldIn(value, [...FIELDS, 'text']);
  if (typeof field === 'string') return field;
  throw invalid(place, 'expected a text, or an object with one as "data"');
}

/**
 * A signal: JSON with an array of numbers, or an object with such an array.
 *
 * @param place field in the body; empty: the whole body
 * @param length expected number of samples
 * @throws ServiceError
 */
export function signalOf(value: unknown, place: string, length: number): readonly number[] {
  const isText = typeof value === 'string' || Buffer.isBuffer(value);
  const json = isText ? parseJson(Buffer.from(value)) : value;
  const signal = Array.isArray(json) ? json : fieldIn(json, FIELDS);
  const problem = findListProblem(
    signal,
    'an array of numbers, or an object with one as "data"',
    findNumberProblem,
  );
  if (problem) throw invalid(place + describePath(problem.path), problem.message);
  const numbers = signal as readonly number[];
  if (numbers.length === length) return numbers;
  throw new ServiceError(
    'INPUT_LENGTH',
    `${place || 'body'}: expected exactly ${length} numbers, found ${numbers.length}`,
  );
}

/** @throws ServiceError BODY_INVALID: the form has no such field */
function fieldOf(form: Fields): Buffer {
  for (const name of FIELDS) {
    const value = form.get(name);
    if (value !== undefined) return value;
  }
  throw invalid('', 'expected a field "data" or "body"');
}

function fieldIn(value: unknown, names: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  const name = names.find((one) => Object.hasOwn(value, one));
  return name && (value as Record<string, unknown>)[name];
}

function invalid(place: string, problem: string): ServiceError {
  return new ServiceError('BODY_INVALID', `${place || 'body'}: ${problem}`);
}
