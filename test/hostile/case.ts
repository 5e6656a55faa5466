import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FIXTURES } from '../helpers/service';

/** A model folder that must not load, made from a good one. */
export interface HostileCase {
  readonly name: string;
  readonly service: 'sentiment' | 'eeg';
  /** Under test/fixtures: what the folder is a copy of. null: it is empty. */
  readonly base: string | null;
  /** Of a signal model: its file. Default: eeg_model.pt. */
  readonly file?: string;
  /** Makes it hostile. `folder` holds nothing but a copy of `base`, and lies in a folder of its own. */
  readonly make: (folder: string) => void;
  /** Longer than others may take, where it ends at the limit of a run. */
  readonly mostMs?: number;
  /** request: it loads, and each request fails. Default: load. */
  readonly failsAt?: 'load' | 'request';
  /** The load error: it names the file, and the key where there is one. */
  readonly error: RegExp;
}

export type Damage = readonly [name: string, make: (folder: string) => void, error: RegExp];

export function textCases(base: string, damages: readonly Damage[]): readonly HostileCase[] {
  return damages.map(([name, make, error]) => ({
    name,
    service: 'sentiment',
    base: path.join('models', base),
    make,
    error,
  }));
}

/** Copies the good model, then damages the copy. */
export function build({ base, make }: HostileCase, folder: string): void {
  if (base !== null) cpSync(path.join(FIXTURES, base), folder, { recursive: true });
  make(folder);
}

// biome-ignore lint/suspicious/noExplicitAny: what is edited here has no type: that is the point.
export type Json = any;

/** Rewrites a JSON file of the folder; what `edit` returns, if anything, takes its place. */
export function editJson(file: string, edit: (content: Json) => unknown) {
  return (folder: string): void => {
    const place = path.join(folder, file);
    const content: Json = JSON.parse(readFileSync(place, 'utf8'));
    const instead = edit(content);
    writeFileSync(place, JSON.stringify(instead === undefined ? content : instead));
  };
}

export function replace(file: string, content: string | Buffer) {
  return (folder: string): void => writeFileSync(path.join(folder, file), content);
}

/** `[[[…` as text, of this depth. */
export function deep(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth);
}

/** A regular expression for a text as it stands. */
export function exactly(text: string): RegExp {
  return new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
}
