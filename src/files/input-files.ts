import { type BigIntStats, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { glob } from 'tinyglobby';
import { RunError, UsageError } from './file-errors';
import { STANDARD_STREAM } from './formats';

/** Input of a batch command. Size and modification time detect changes during the run. */
export interface InputFile {
  /** Name from the command line or the pattern. */
  readonly name: string;
  /** Absolute path; null for standard input. */
  readonly path: string | null;
  /** Size in bytes. */
  readonly size: number;
  /** Modification time in ns since 1970; empty for standard input. */
  readonly modified: string;
}

/**
 * Expands paths and glob patterns to files, in command-line order. The files of a pattern are sorted by name.
 *
 * @throws UsageError if a file is missing, a folder, or listed twice
 */
export async function expandInputs(names: readonly string[]): Promise<readonly InputFile[]> {
  const inputs: InputFile[] = [];
  const seen = new Map<string, string>();
  for (const pattern of names) {
    const isFile = pattern === STANDARD_STREAM || statSync(pattern, { throwIfNoEntry: false });
    for (const name of isFile ? [pattern] : await expandPattern(pattern)) {
      inputs.push(statInput(name));
    }
  }
  for (const { path: file, name } of inputs) {
    const real = file === null ? STANDARD_STREAM : realpathSync(file);
    const earlier = seen.get(real);
    if (earlier !== undefined)
      throw new UsageError(`${name}: duplicate input, also listed as ${earlier}. Remove one`);
    seen.set(real, name);
  }
  return inputs;
}

async function expandPattern(pattern: string): Promise<readonly string[]> {
  if (!/[*?[{(]/.test(pattern)) throw new UsageError(`${pattern}: file not found`);
  const options = { onlyFiles: true, expandDirectories: false, absolute: path.isAbsolute(pattern) };
  const files = await glob(pattern, options);
  if (files.length === 0) throw new UsageError(`${pattern}: no file matches this pattern`);
  return files.sort();
}

function statInput(name: string): InputFile {
  if (name === STANDARD_STREAM) return { name, path: null, size: 0, modified: '' };
  const stat = statSync(name, { bigint: true });
  if (stat.isDirectory())
    throw new UsageError(`${name}: expected a file, found a folder. Use ${name}/*`);
  return describe(name, stat);
}

/** Null if the path is not a file. */
export function statIfFile(name: string): InputFile | null {
  const stat = statSync(name, { bigint: true, throwIfNoEntry: false });
  return stat?.isFile() ? describe(name, stat) : null;
}

function describe(name: string, stat: BigIntStats): InputFile {
  const [size, modified] = [Number(stat.size), String(stat.mtimeNs)];
  return { name, path: path.resolve(name), size, modified };
}

/** @throws RunError if size or modification time of a file have changed since `expandInputs` */
export function requireUnmodified({ path: file, name, size, modified }: InputFile): void {
  if (file === null) return;
  const now = statSync(file, { bigint: true, throwIfNoEntry: false });
  if (now && Number(now.size) === size && String(now.mtimeNs) === modified) return;
  throw new RunError(
    `${name}: file changed while it was read. Run the command again with --overwrite`,
  );
}
