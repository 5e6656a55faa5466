import { readdirSync } from 'node:fs';
import path from 'node:path';
import { gliner2ArchitectureOf } from '../../src/models/gliner2/directory';
import { readFixture } from './golden';
import { FIXTURES } from './service';

const ROOT = 'gliner2';

/** Names, or names with descriptions. */
export type Labels = readonly string[] | Readonly<Record<string, string>>;

/** Results of gliner2, written by test/parity/gliner2_golden.py. */
export interface GoldenGliner2 {
  readonly texts: readonly string[];
  readonly entities: readonly {
    readonly text: number;
    readonly labels: Labels;
    readonly threshold: number;
    /** Start and end in code points, score, by label. */
    readonly entities: Readonly<Record<string, readonly (readonly [number, number, number])[]>>;
  }[];
  readonly classes: readonly {
    readonly text: number;
    readonly task: string;
    readonly labels: Labels;
    readonly prompt: string | null;
    readonly softmax: readonly number[];
    readonly sigmoid: readonly number[];
  }[];
}

export const GLINER2_MODELS = readdirSync(path.join(FIXTURES, ROOT));

export function readGliner2Golden(name: string): GoldenGliner2 {
  return readFixture<GoldenGliner2>(ROOT, name, 'golden.json');
}

export function gliner2Folder(name: string): string {
  return path.join(FIXTURES, ROOT, name);
}

export function isSpanModel(name: string): boolean {
  return gliner2ArchitectureOf(gliner2Folder(name)) === 'span';
}

/** Expects numbers within the tolerance of golden tests. */
export function expectClose(
  found: ArrayLike<number> | undefined,
  expected: readonly number[],
): void {
  expect(found).toHaveLength(expected.length);
  for (const [index, value] of expected.entries()) {
    expect(Math.abs((found?.[index] as number) - value)).toBeLessThanOrEqual(1e-5);
  }
}
