/** The scripts of the supply chain, as programs. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './service';

export const CHECK = path.join(ROOT, 'scripts', 'check-supply-chain.mjs');

/** Folders of native/ with a Cargo.toml. */
const CRATES = ['.', 'ffi/errors', 'ffi/headers', 'guard', 'tokenizers'];

/** Copies the manifests of our crates to `target`, each with an empty library. */
export function copyManifests(target: string): void {
  for (const crate of CRATES) {
    const manifest = path.join(ROOT, 'native', crate, 'Cargo.toml');
    const library = /^path = "(.*)"$/m.exec(readFileSync(manifest, 'utf8'))?.[1] ?? 'src/lib.rs';
    const file = path.join(target, crate, library);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, '');
    cpSync(manifest, path.join(target, crate, 'Cargo.toml'));
  }
}

export interface LockEntry {
  version: string;
  license?: string;
  integrity?: string;
  resolved?: string;
  hasInstallScript?: boolean;
  readonly dev?: boolean;
  readonly name?: string;
}

export interface Lock {
  readonly packages: Record<string, LockEntry>;
}

export interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export async function runScript(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Result> {
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env } });
  const text = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (chunk: string) => {
      text[stream] += chunk;
    });
  }
  const [code] = (await once(child, 'close')) as [number];
  return { code, ...text };
}
