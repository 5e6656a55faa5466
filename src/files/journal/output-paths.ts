import { statSync } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { UsageError } from '../file-errors';
import { type FileOptions, STANDARD_STREAM } from '../formats';
import type { InputFile } from '../input-files';

/** Paths of the output files. Until the job finishes, files have the suffix `.partial`. */
export interface OutputPaths {
  readonly output: string;
  readonly rejects: string;
  readonly journal: string;
}

/** Returns the paths of a job; null for standard output. */
export function outputPathsOf({ output, rejects }: FileOptions): OutputPaths | null {
  if (output === STANDARD_STREAM) return null;
  return { output, rejects: rejects as string, journal: `${output}.journal` };
}

export const partialPath = (file: string): string => `${file}.partial`;

/** @throws UsageError if an output path is an input, another output, or not a regular file */
export function requireWritable(
  { output, rejects, summary }: FileOptions,
  inputs: readonly InputFile[],
): void {
  const taken = new Map(inputs.map((input) => [input.path, `the input ${input.name}`]));
  for (const [name, file] of Object.entries({ output, rejects, summary })) {
    if (file === null || (name === 'output' && file === STANDARD_STREAM)) continue;
    const flag = `--${name}`;
    const absolute = path.resolve(file);
    const conflict = taken.get(absolute);
    if (conflict !== undefined) throw new UsageError(`${flag}: ${file} is also ${conflict}`);
    taken.set(absolute, flag);
    const folder = statSync(path.dirname(absolute), { throwIfNoEntry: false });
    if (!folder?.isDirectory()) throw new UsageError(`${flag}: ${file}: folder not found`);
    const existing = statSync(absolute, { throwIfNoEntry: false });
    if (existing && !existing.isFile()) {
      throw new UsageError(
        `${flag}: ${file}: expected a regular file. For pipes and devices use - and >`,
      );
    }
  }
}

/** @throws UsageError if the output of another job exists */
export async function requireNoOutput({ output, rejects, journal }: OutputPaths): Promise<void> {
  if (await exists(journal)) {
    throw new UsageError(
      `${output}: output of an interrupted job. Continue with --resume, or start again with --overwrite`,
    );
  }
  for (const file of [output, rejects]) {
    if (await exists(file))
      throw new UsageError(`${file}: file exists. Replace it with --overwrite`);
  }
}

/**
 * Renames the partial files of a finished job to their final names. Idempotent.
 *
 * @param rejected number of rejected rows; without any, the file of rejects is removed
 * @throws UsageError if the output is missing
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
      `${output}: the job has finished, but the output is missing. Start again with --overwrite`,
    );
  }
  await syncParentFolder(output);
  await syncParentFolder(rejects);
}

/** Writes a file atomically. @param mode permissions of the file */
export async function writeFileAtomically(
  file: string,
  content: string,
  mode = 0o666,
): Promise<void> {
  const handle = await open(partialPath(file), 'w', mode);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(partialPath(file), file);
  await syncParentFolder(file);
}

/** Synchronizes the folder of a file, which makes a rename durable. */
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
