/** The scripts of the supply chain, as programs. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { ROOT } from './service';

export const CHECK = path.join(ROOT, 'scripts', 'check-supply-chain.mjs');

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
