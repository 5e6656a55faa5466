import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { redactPaths } from '../lib/redact-paths';
import { fileIdentity, ModelFileError, readText } from '../models/files';
import { GUARD_JSON, parseGuardFile } from '../tasks/guard/guard-file';
import type { GuardSource } from '../tasks/guard/guard-state';

/** Maximum size of a guardrail policy. */
const MAX_BYTES = 4 * 2 ** 20;

/**
 * Reads the guardrail policy.
 *
 * @param paths paths of models and model repositories
 * @param file path of the policy; null: `guard.json` in the first of `paths` that contains it
 */
export function readGuardPolicy(paths: readonly string[], file: string | null): GuardSource {
  const { folder, name } = guardPathOf(paths, file);
  if (folder === '') return null;
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

/** Stamp that changes with the policy file; empty: no file. */
export function guardPolicyStamp(paths: readonly string[], file: string | null): string {
  const { folder, name } = guardPathOf(paths, file);
  if (folder === '') return '';
  const policy = path.join(folder, name);
  return statSync(policy, { throwIfNoEntry: false }) ? fileIdentity(policy) : '';
}

/** Folder and name of the policy. Folder '': no path contains a policy. */
function guardPathOf(paths: readonly string[], file: string | null) {
  if (file !== null) return { folder: path.dirname(file), name: path.basename(file) };
  const folder = paths.find((one) => existsSync(path.join(one, GUARD_JSON))) ?? '';
  return { folder, name: GUARD_JSON };
}
