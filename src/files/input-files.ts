import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { glob } from 'tinyglobby';
import { RunError, UsageError } from './file-errors';
import { STANDARD_STREAM } from './formats';

/** An input and, where it is a file, what it would not be the same without. */
export interface InputFile {
  /** As a person names it. */
  readonly name: string;
  /** Absolute; null: standard input. */
  readonly path: string | null;
  /** Bytes. */
  readonly size: number;
  /** When it was last written, in ns. */
  readonly modified: string;
}

/**
 * The files behind paths and patterns, in the order in which they were written, those of one pattern
 * in the order of their names.
 *
 * @throws UsageError
 */
export async function expandInputs(written: readonly string[]): Promise<readonly InputFile[]> {
  const inputs: InputFile[] = [];
  const seen = new Map<string, string>();
  for (const one of written) {
    const isFile = one === STANDARD_STREAM || statSync(one, { throwIfNoEntry: false });
    for (const name of isFile ? [one] : await filesOf(one)) inputs.push(describe(name));
  }
  for (const { path: place, name } of inputs) {
    const real = place === null ? STANDARD_STREAM : realpathSync(place);
    const earlier = seen.get(real);
    if (earlier !== undefined) throw new UsageError(`${name}: is named twice, also as ${earlier}`);
    seen.set(real, name);
  }
  return inputs;
}

async function filesOf(pattern: string): Promise<readonly string[]> {
  if (!/[*?[{(]/.test(pattern)) throw new UsageError(`${pattern}: there is no such file`);
  const options = { onlyFiles: true, expandDirectories: false, absolute: path.isAbsolute(pattern) };
  const files = await glob(pattern, options);
  if (files.length === 0) throw new UsageError(`${pattern}: no file is named like that`);
  return files.sort();
}

function describe(name: string): InputFile {
  if (name === STANDARD_STREAM) return { name, path: null, size: 0, modified: '' };
  const stat = statSync(name, { bigint: true });
  if (stat.isDirectory()) throw new UsageError(`${name}: is a folder: name its files, ${name}/*`);
  const [size, modified] = [Number(stat.size), String(stat.mtimeNs)];
  return { name, path: path.resolve(name), size, modified };
}

/** @throws RunError where a file is no longer what it was when it was expanded */
export function requireUnmodified({ path: place, name, size, modified }: InputFile): void {
  if (place === null) return;
  const now = statSync(place, { bigint: true, throwIfNoEntry: false });
  if (now && Number(now.size) === size && String(now.mtimeNs) === modified) return;
  throw new RunError(`${name}: has changed while it was read`);
}
