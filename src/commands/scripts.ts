import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { AddonMissing, findAddon } from '../native/find-addon';

const FOLDER = path.resolve(__dirname, '../../scripts');
const SCRIPTS = {
  /** Compiles the addon. */
  build: 'build-native.mjs',
  /** Fetches LibTorch, and prints its folder. */
  install: 'libtorch/resolve.mjs',
};
const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Fetches LibTorch where nothing else is missing: a service that was asked for can do nothing without.
 * What cannot be fetched is left for the loading of the model to explain.
 *
 * @returns an exit code
 */
export async function installLibtorchIfMissing(): Promise<number> {
  try {
    findAddon();
  } catch (error) {
    // Standard output is the log's.
    if (error instanceof AddonMissing && error.lacksLibtorch) return runScript('install', 'ignore');
  }
  return 0;
}

/**
 * Runs a script in a process of its own, which says what it does, and ends with this one.
 *
 * @returns its exit code
 */
export async function runScript(
  name: keyof typeof SCRIPTS,
  stdout: 'inherit' | 'ignore' = 'inherit',
): Promise<number> {
  const script = path.join(FOLDER, SCRIPTS[name]);
  const child = spawn(process.execPath, [script], { stdio: ['ignore', stdout, 'inherit'] });
  const pass = (signal: NodeJS.Signals) => child.kill(signal);
  for (const signal of ENDING_SIGNALS) process.on(signal, pass);
  const [code] = (await once(child, 'close')) as [number | null];
  for (const signal of ENDING_SIGNALS) process.off(signal, pass);
  return code ?? 1;
}
