/** What is loaded of an ELF file, by readelf (of binutils). */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const SECTION =
  /^ +\[ *\d+\] (?<name>\S+) +(?<type>\S+) +(?<address>\w{16}) (?<offset>\w+) (?<size>\w+) \w+ +(?<flags>[A-Zop]*) /;

/** SHA-256 of each section that is loaded, by its address and name. */
export function loadedSections(file: string): Readonly<Record<string, string>> {
  const bytes = readFileSync(file);
  const options = { encoding: 'utf8' } as const;
  const lines = execFileSync('readelf', ['--section-headers', '--wide', file], options).split('\n');
  const sections = lines
    .map((line) => SECTION.exec(line)?.groups)
    .filter((groups) => groups !== undefined);
  return Object.fromEntries(
    sections
      .filter(({ flags }) => flags?.includes('A'))
      .map(({ name, type, address, offset, size }) => {
        const start = Number.parseInt(offset ?? '', 16);
        const length = type === 'NOBITS' ? 0 : Number.parseInt(size ?? '', 16);
        const hash = createHash('sha256').update(bytes.subarray(start, start + length));
        return [`${address} ${name} ${size}`, hash.digest('hex')];
      }),
  );
}
