import { statSync } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { UsageError } from '../file-errors';
import { type FileOptions, STANDARD_STREAM } from '../formats';
import type { InputFile } from '../input-files';

/** Where a run writes: each file has its name only once the run has finished. */
export interface OutputPaths {
  readonly output: string;
  readonly rejects: string;
  readonly journal: string;
}

/** null: it goes into a pipe. */
export function outputPathsOf({ output, rejects }: FileOptions): OutputPaths | null {
  if (output === STANDARD_STREAM) return null;
  return { output, rejects: rejects as string, journal: `${output}.journal` };
}

export const partialPath = (file: string): string => `${file}.partial`;

/** @throws UsageError where a file would be written over an input, over another output, or over no file */
export function requireWritable(
  { output, rejects, summary }: FileOptions,
  inputs: readonly InputFile[],
): void {
  const taken = new Map(inputs.map(({ path: place, name }) => [place, `the input ${name}`]));
  for (const [name, file] of Object.entries({ output, rejects, summary })) {
    if (file === null || (name === 'output' && file === STANDARD_STREAM)) continue;
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
export async function requireNoOutput({ output, rejects, journal }: OutputPaths): Promise<void> {
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
export async function publishOutput(
  { output, rejects }: OutputPaths,
  rejected: number,
): Promise<void> {
  if (rejected === 0) {
    await rm(partialPath(rejects), { force: true });
    await rm(rejects, { force: true });
  } else {
    await rename(partialPath(rejects), rejects).catch(ignoreNotFound);
  }
  await rename(partialPath(output), output).catch(ignoreNotFound);
  if (!(await exists(output))) {
    throw new UsageError(
      `${output}: the run has finished, but its output is gone: --overwrite begins anew`,
    );
  }
  await syncParentFolder(output);
  await syncParentFolder(rejects);
}

/** Writes a file that is there as a whole, or not at all. */
export async function writeFileAtomically(file: string, content: string): Promise<void> {
  const handle = await open(partialPath(file), 'w');
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(partialPath(file), file);
  await syncParentFolder(file);
}

/** A new name is on the disk only once its folder is. */
export async function syncParentFolder(file: string): Promise<void> {
  const folder = await open(path.dirname(path.resolve(file)), 'r');
  await folder.sync().finally(() => folder.close());
}

async function exists(file: string): Promise<boolean> {
  return (await stat(file).catch(ignoreNotFound)) !== undefined;
}

export function ignoreNotFound(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
