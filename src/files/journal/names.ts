import { statSync } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { UsageError } from '../file-errors';
import { type FileOptions, PIPE } from '../formats';
import type { Input } from '../inputs';

/** Where a run writes: each file has its name only once the run has finished. */
export interface Names {
  readonly output: string;
  readonly rejects: string;
  readonly journal: string;
}

/** null: it goes into a pipe. */
export function namesOf({ output, rejects }: FileOptions): Names | null {
  if (output === PIPE) return null;
  return { output, rejects: rejects as string, journal: `${output}.journal` };
}

export const partial = (file: string): string => `${file}.partial`;

/** @throws UsageError where a file would be written over an input, over another output, or over no file */
export function requireWritable(
  { output, rejects, summary }: FileOptions,
  inputs: readonly Input[],
): void {
  const taken = new Map(inputs.map(({ path: place, name }) => [place, `the input ${name}`]));
  for (const [name, file] of Object.entries({ output, rejects, summary })) {
    if (file === null || (name === 'output' && file === PIPE)) continue;
    const flag = `--${name}`;
    const place = path.resolve(file);
    const other = taken.get(place);
    if (other !== undefined) throw new UsageError(`${flag}: ${file} is ${other}`);
    taken.set(place, flag);
    const folder = statSync(path.dirname(place), { throwIfNoEntry: false });
    if (!folder?.isDirectory()) throw new UsageError(`${flag}: ${file}: there is no such folder`);
    const there = statSync(place, { throwIfNoEntry: false });
    if (there && !there.isFile()) {
      throw new UsageError(`${flag}: ${file} is no file: for pipes and devices use - and >`);
    }
  }
}

/** @throws UsageError where something is in the way of a new run */
export async function requireFree({ output, rejects, journal }: Names): Promise<void> {
  if (await exists(journal)) {
    throw new UsageError(
      `${output}: a run that was ended is there: --resume goes on with it, --overwrite begins anew`,
    );
  }
  for (const file of [output, rejects]) {
    if (await exists(file))
      throw new UsageError(`${file}: is there already: --overwrite replaces it`);
  }
}

/**
 * Gives the files of a finished run their names; what has its name already is left.
 *
 * @param rejected rows in the rejects
 * @throws UsageError where somebody has taken the output away
 */
export async function publish({ output, rejects }: Names, rejected: number): Promise<void> {
  if (rejected === 0) {
    await rm(partial(rejects), { force: true });
    await rm(rejects, { force: true });
  } else {
    await rename(partial(rejects), rejects).catch(ignoreMissing);
  }
  await rename(partial(output), output).catch(ignoreMissing);
  if (!(await exists(output))) {
    throw new UsageError(
      `${output}: the run has finished, but its output is gone: --overwrite begins anew`,
    );
  }
  await syncFolder(output);
  await syncFolder(rejects);
}

/** Writes a file that is there as a whole, or not at all. */
export async function writeWhole(file: string, content: string): Promise<void> {
  const handle = await open(partial(file), 'w');
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(partial(file), file);
  await syncFolder(file);
}

/** A new name is on the disk only once its folder is. */
export async function syncFolder(file: string): Promise<void> {
  const folder = await open(path.dirname(path.resolve(file)), 'r');
  await folder.sync().finally(() => folder.close());
}

async function exists(file: string): Promise<boolean> {
  return (await stat(file).catch(ignoreMissing)) !== undefined;
}

export function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
