import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { UsageError } from '../file-errors';
import type { JournalHeader } from './journal';

/** Properties that a resumed job must share with the interrupted job. */
export type JobIdentity = Omit<JournalHeader, 'columns'>;

const BLOCK_BYTES = 1024 * 1024;

/** SHA-256 of model files, with their paths relative to the common folder. */
export function hashFiles(files: readonly string[]): Promise<JournalHeader['model']> {
  const parts = files.map((file) => path.dirname(file).split(path.sep));
  const folder = parts.reduce((common, path) => {
    const end = common.findIndex((part, index) => part !== path[index]);
    return end < 0 ? common : common.slice(0, end);
  }, parts[0] ?? []);
  return Promise.all(
    files.map(async (file) => {
      const hash = createHash('sha256');
      await pipeline(createReadStream(file, { highWaterMark: BLOCK_BYTES }), hash);
      return {
        name: path.relative(folder.join(path.sep) || path.sep, file),
        sha256: hash.digest('hex'),
      };
    }),
  );
}

/**
 * Compares a job with the interrupted job.
 *
 * @throws UsageError that names the first difference
 */
export function requireSameJob(before: JobIdentity, now: JobIdentity): void {
  const fail = (problem: string): never => {
    throw new UsageError(`--resume: ${problem}. Start again with --overwrite`);
  };
  for (const [name, value] of Object.entries(now.options)) {
    const [was, is] = [JSON.stringify(before.options[name]), JSON.stringify(value)];
    if (was !== is) fail(`the job was started with ${name} ${was}, not ${is}`);
  }
  const hashOf = (files: JournalHeader['model'], name: string) =>
    files.find((file) => file.name === name)?.sha256;
  for (const { name } of [...before.model, ...now.model]) {
    if (hashOf(before.model, name) === hashOf(now.model, name)) continue;
    fail(`${name}: model file changed since the job was started`);
  }
  for (const [index, { path: file, size, modified }] of before.inputs.entries()) {
    const input = now.inputs[index];
    if (input?.path !== file)
      fail(`${file}: expected as input ${index + 1}, as in the started job`);
    if (input?.size !== size || input.modified !== modified) {
      fail(`${file}: file changed since the job was started`);
    }
  }
  const added = now.inputs[before.inputs.length];
  if (added) fail(`${added.path}: not an input of the started job`);
}
