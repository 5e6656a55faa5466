import { statSync } from 'node:fs';
import path from 'node:path';
import { redactPaths } from '../lib/redact-paths';
import { fileIdentity, ModelFileError, readText } from '../models/files';
import { GUARD_JSON, parseGuardFile } from '../tasks/guard/guard-file';
import type { GuardSource } from '../tasks/guard/guard-state';

/** A hundred checks with as many patterns take less. */
const MAX_BYTES = 4 * 2 ** 20;

/**
 * The file of a guard.
 *
 * @param directory of models
 * @param file its path; null: `guard.json` in the directory, which may be missing
 */
export function readGuardPolicy(directory: string, file: string | null): GuardSource {
  const { folder, name } = guardPathOf(directory, file);
  try {
    const text = readText(folder, name, MAX_BYTES);
    if (text !== null) return { file: parseGuardFile(text, name) };
    return file === null ? null : { problem: `${name}: not found` };
  } catch (error) {
    const { message } = error as Error;
    const isExpected = error instanceof ModelFileError;
    const code = (error as NodeJS.ErrnoException).code;
    return { problem: isExpected ? redactPaths(message) : `${name}: cannot be read: ${code}` };
  }
}

/** Something that changes with the file; empty: there is none. */
export function guardPolicyStamp(directory: string, file: string | null): string {
  const { folder, name } = guardPathOf(directory, file);
  const place = path.join(folder, name);
  return statSync(place, { throwIfNoEntry: false }) ? fileIdentity(place) : '';
}

function guardPathOf(directory: string, file: string | null) {
  if (file === null) return { folder: directory, name: GUARD_JSON };
  return { folder: path.dirname(file), name: path.basename(file) };
}
