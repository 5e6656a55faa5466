import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { AddonMissing, findAddon } from '../native/find-addon';

const FOLDER = path.resolve(__dirname, '../../scripts');
const SCRIPTS = {
  /** Compiles the addon. */
  build: 'build-native.mjs',
  /** Downloads LibTorch and prints its folder. */
  install: 'libtorch/resolve.mjs',
};
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Downloads LibTorch if only LibTorch is missing. The load error of the model reports any other problem.
 *
 * @returns exit code
 */
export async function installLibtorchIfMissing(): Promise<number> {
  try {
    findAddon();
  } catch (error) {
    // Standard output is reserved for the log.
    if (error instanceof AddonMissing && error.lacksLibtorch) return runScript('install', 'ignore');
  }
  return 0;
}

/**
 * Runs a script in a child process and forwards signals to it.
 *
 * @returns exit code of the script
 */
export async function runScript(
  name: keyof typeof SCRIPTS,
  stdout: 'inherit' | 'ignore' = 'inherit',
): Promise<number> {
  const script = path.join(FOLDER, SCRIPTS[name]);
  const child = spawn(process.execPath, [script], { stdio: ['ignore', stdout, 'inherit'] });
  const forward = (signal: NodeJS.Signals) => child.kill(signal);
  for (const signal of SIGNALS) process.on(signal, forward);
  const [code] = (await once(child, 'close')) as [number | null];
  for (const signal of SIGNALS) process.off(signal, forward);
  return code ?? 1;
}
