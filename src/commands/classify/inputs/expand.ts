import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { glob } from 'tinyglobby';
import { UsageError } from '../errors';
import { PIPE } from '../formats';

/** An input and, where it is a file, what it would not be the same without. */
export interface Input {
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
export async function expandInputs(written: readonly string[]): Promise<readonly Input[]> {
  const names: string[] = [];
  for (const one of written) {
    if (one === PIPE || statSync(one, { throwIfNoEntry: false })) names.push(one);
    else names.push(...(await filesOf(one)));
  }
  const inputs = names.map(describe);
  const seen = new Map<string, string>();
  for (const { path: place, name } of inputs) {
    const real = place === null ? PIPE : realpathSync(place);
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

function describe(name: string): Input {
  if (name === PIPE) return { name, path: null, size: 0, modified: '' };
  const stat = statSync(name, { bigint: true });
  if (stat.isDirectory()) throw new UsageError(`${name}: is a folder: name its files, ${name}/*`);
  return {
    name,
    path: path.resolve(name),
    size: Number(stat.size),
    modified: String(stat.mtimeNs),
  };
}
