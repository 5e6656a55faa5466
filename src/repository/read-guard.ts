import path from 'node:path';
import { ModelFileError, readText } from '../models/files';
import { GUARD_JSON, parseGuardFile } from '../tasks/guard/file';
import type { FoundGuard } from '../tasks/guard/state';
import { withoutPaths } from '../without-paths';

/** A hundred checks with as many patterns take less. */
const MOST_BYTES = 4 * 2 ** 20;

/**
 * The file of a guard.
 *
 * @param directory of models
 * @param file its path; null: `guard.json` in the directory, which may be missing
 */
export function readGuard(directory: string, file: string | null): FoundGuard {
  const folder = file === null ? directory : path.dirname(file);
  const name = file === null ? GUARD_JSON : path.basename(file);
  try {
    const text = readText(folder, name, MOST_BYTES);
    if (text !== null) return { file: parseGuardFile(text, name) };
    return file === null ? null : { problem: `${name}: not found` };
  } catch (error) {
    const { message } = error as Error;
    const isExpected = error instanceof ModelFileError;
    const code = (error as NodeJS.ErrnoException).code;
    return { problem: isExpected ? withoutPaths(message) : `${name}: cannot be read: ${code}` };
  }
}
