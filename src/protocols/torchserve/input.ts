import { isUtf8 } from 'node:buffer';
import { parse as parseContentType } from 'content-type';
import { ServiceError } from '../../serving/errors';
import { parseJson } from '../../serving/json';
import type { ServiceRequest } from '../../serving/service-request';
import { describePath, findListProblem, findNumberProblem } from '../validation/fields';
import { type Fields, readMultipart, readUrlEncoded } from './forms';

/** In which a form, or an object, has the input, in the order in which handlers look for it. */
const FIELDS = ['data', 'body'];

/**
 * What a request of /predictions brings, as TorchServe gives it to a handler: of a form its field, JSON
 * parsed, and any other body as it is.
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

/** A text, or an object with one. @param place in the body; empty: it is the whole. @throws ServiceError */
export function textOf(value: unknown, place: string): string {
  if (typeof value === 'string') return value;
  if (Buffer.isBuffer(value)) {
    if (isUtf8(value)) return value.toString();
    throw invalid(place, 'is not valid UTF-8');
  }
  // Handlers of Hugging Face models name it `text`.
  const field = within(value, [...FIELDS, 'text']);
  if (typeof field === 'string') return field;
  throw invalid(place, 'expected a text, or an object with one as "data"');
}

/**
 * A window: JSON, an array of numbers or an object with one.
 *
 * @param place in the body; empty: it is the whole
 * @param length that it has to have
 * @throws ServiceError
 */
export function signalOf(value: unknown, place: string, length: number): readonly number[] {
  const isText = typeof value === 'string' || Buffer.isBuffer(value);
  const json = isText ? parseJson(Buffer.from(value)) : value;
  const signal = Array.isArray(json) ? json : within(json, FIELDS);
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

/** @throws ServiceError BODY_INVALID: there is none */
function fieldOf(form: Fields): Buffer {
  for (const name of FIELDS) {
    const value = form.get(name);
    if (value !== undefined) return value;
  }
  throw invalid('', 'expected a field "data" or "body"');
}

function within(value: unknown, names: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  const name = names.find((one) => Object.hasOwn(value, one));
  return name && (value as Record<string, unknown>)[name];
}

function invalid(place: string, problem: string): ServiceError {
  return new ServiceError('BODY_INVALID', `${place || 'body'}: ${problem}`);
}
