import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { AddonMissing, findAddon } from '../native/addon';

const SCRIPTS = path.resolve(__dirname, '../../scripts');
const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Compiles the addon; resolves with an exit code. */
export function buildNative(): Promise<number> {
  return runScript('build-native.mjs', 'inherit');
}

/** Fetches LibTorch, and prints its folder; resolves with an exit code. */
export function installLibtorch(): Promise<number> {
  return runScript('libtorch/resolve.mjs', 'inherit');
}

/**
 * Fetches LibTorch where nothing else is missing: a service that was asked for can do nothing without.
 * What cannot be fetched is left for the loading of the model to explain.
 */
export async function installWhatIsMissing(): Promise<number> {
  try {
    findAddon();
  } catch (error) {
    // Standard output is the log's.
    if (error instanceof AddonMissing && error.lacksLibtorch)
      return runScript('libtorch/resolve.mjs', 'ignore');
  }
  return 0;
}

/** In a process of its own, which says what it does, and ends with this one. */
async function runScript(name: string, stdout: 'inherit' | 'ignore'): Promise<number> {
  const script = path.join(SCRIPTS, name);
  const child = spawn(process.execPath, [script], { stdio: ['ignore', stdout, 'inherit'] });
  const pass = (signal: NodeJS.Signals) => child.kill(signal);
  for (const signal of ENDING_SIGNALS) process.on(signal, pass);
  const [code] = (await once(child, 'close')) as [number | null];
  for (const signal of ENDING_SIGNALS) process.off(signal, pass);
  return code ?? 1;
}
