import { statSync } from 'node:fs';
import path from 'node:path';
import { UsageError } from '../errors';
import { PIPE } from '../formats';
import type { Input } from '../inputs/expand';
import type { Options } from '../options';

/** @throws UsageError where a file would be written over an input, over another output, or over no file */
export function requireWritable(options: Options, inputs: readonly Input[]): void {
  const { output, rejects, summary } = options;
  const outputs = [
    ['--output', output === PIPE ? null : output],
    ['--rejects', rejects],
    ['--summary', summary],
  ] as const;
  const taken = new Map(inputs.map(({ path: place, name }) => [place, `the input ${name}`]));
  for (const [flag, file] of outputs) {
    if (file === null) continue;
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
