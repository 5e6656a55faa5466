import path from 'node:path';
import type { z } from 'zod';
import { parseModelJson, readModelText } from '../../models/json';
import { lookAt, ModelFileError } from '../../models/look';
import { printable } from '../../printable';

/** `<file>: <key>: <what is wrong, what was expected>`, files relative to the model directory. */
export class ModelDirectoryError extends Error {
  override readonly name = 'ModelDirectoryError';
}

/**
 * In bytes; null: there is no such file.
 *
 * @throws ModelDirectoryError where it is not to be read
 */
export function sizeOf(directory: string, name: string): number | null {
  return named(name, () => lookAt(directory, name));
}

/**
 * Absolute paths of those of `names` that are there.
 *
 * @throws ModelDirectoryError where one is not to be read
 */
export function filesThere(directory: string, names: readonly string[]): readonly string[] {
  return names
    .filter((name) => sizeOf(directory, name) !== null)
    .map((name) => path.join(directory, name));
}

export function readJson<Schema extends z.ZodType>(
  directory: string,
  name: string,
  schema: Schema,
): z.output<Schema> {
  const text = named(name, () => readModelText(directory, name));
  if (text === null) throw new ModelDirectoryError(`${name}: not found in ${directory}`);
  return check(
    name,
    schema,
    named(name, () => parseModelJson(text)),
  );
}

function named<Result>(name: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ModelFileError)) throw error;
    throw new ModelDirectoryError(`${name}: ${error.message}`);
  }
}

export function check<Schema extends z.ZodType>(
  name: string,
  schema: Schema,
  content: unknown,
): z.output<Schema> {
  const result = schema.safeParse(content);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const key = issue?.path.length ? `${issue.path.join('.')}: ` : '';
  throw new ModelDirectoryError(printable(`${name}: ${key}${issue?.message}`));
}
