// What a process did with files while it loaded models, as strace saw it.
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Names that `scripts/load.cjs` asks for around each load; there are no such files. */
const BEGIN = '/a-load-begins';
const END = '/a-load-ends';

/** Calls that only look, or say where they are. */
const LOOKS = new Set(
  'access faccessat faccessat2 stat lstat fstat newfstatat statx statfs fstatfs readlink readlinkat getcwd'.split(
    ' ',
  ),
);
const OPENS = new Set(['open', 'openat', 'openat2']);
const WRITES = /O_(WRONLY|RDWR|CREAT|TRUNC|APPEND|TMPFILE)/;

/** The command that runs `command` and writes what it does with files into `file`. */
export function traced(file: string, command: readonly string[]): readonly string[] {
  const options = ['-f', '--seccomp-bpf', '-qq', '-y', '-e', 'trace=%file', '-e', 'signal=none'];
  return ['strace', ...options, '-o', file, ...command];
}

export interface Deeds {
  /** Loads that were seen. */
  readonly loads: number;
  /** Files that were opened to be read: as they were named and, where they could be, as they are. */
  readonly read: ReadonlySet<string>;
  /** All else that is not looking: a line each. */
  readonly others: readonly string[];
}

/** @param skipped so many loads at first, which open what the loading needs itself */
export function deedsOf(file: string, skipped: number): Deeds {
  const read = new Set<string>();
  const others: string[] = [];
  let loads = 0;
  let isLoading = false;
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const call = /^\d+\s+(\w+)\(/.exec(line)?.[1];
    if (line.includes(`"${BEGIN}"`)) isLoading = ++loads > skipped;
    else if (line.includes(`"${END}"`)) isLoading = false;
    else if (isLoading && call && !LOOKS.has(call)) {
      const name = /"([^"]*)"/.exec(line)?.[1] ?? '';
      if (OPENS.has(call) && !WRITES.test(line)) {
        read.add(path.resolve(name));
        const real = /= \d+<(.*)>$/.exec(line)?.[1];
        if (real) read.add(real);
      } else others.push(line);
    }
  }
  return { loads, read, others };
}
