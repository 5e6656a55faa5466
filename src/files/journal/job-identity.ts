import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { UsageError } from '../file-errors';
import type { JournalHeader } from './journal';

/** What a run has in common with one that goes on with it. */
export type JobIdentity = Omit<JournalHeader, 'columns'>;

const BLOCK_BYTES = 1024 * 1024;

/** Files that a model is loaded from, by what is in them; their names begin in the folder of them all. */
export function hashFiles(files: readonly string[]): Promise<JournalHeader['model']> {
  const parts = files.map((file) => path.dirname(file).split(path.sep));
  const folder = parts.reduce((common, one) => {
    const end = common.findIndex((part, index) => part !== one[index]);
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
 * @param before what the run that was ended began with
 * @throws UsageError that names what has changed since
 */
export function requireSameJob(before: JobIdentity, now: JobIdentity): void {
  const fail = (problem: string): never => {
    throw new UsageError(`--resume: ${problem}: --overwrite begins anew`);
  };
  for (const [name, value] of Object.entries(now.options)) {
    const [was, is] = [JSON.stringify(before.options[name]), JSON.stringify(value)];
    if (was !== is) fail(`the run began with ${name} ${was}, not ${is}`);
  }
  const hashOf = (files: JournalHeader['model'], name: string) =>
    files.find((file) => file.name === name)?.sha256;
  for (const { name } of [...before.model, ...now.model]) {
    if (hashOf(before.model, name) === hashOf(now.model, name)) continue;
    fail(`${name}: the model has changed since the run began`);
  }
  for (const [index, { path: place, size, modified }] of before.inputs.entries()) {
    const input = now.inputs[index];
    if (input?.path !== place) fail(`${place}: was input ${index + 1} of the run, and is not now`);
    if (input?.size !== size || input.modified !== modified) {
      fail(`${place}: has changed since the run began`);
    }
  }
  const added = now.inputs[before.inputs.length];
  if (added) fail(`${added.path}: was no input of the run`);
}
