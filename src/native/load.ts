import path from 'node:path';
import type { NativeBinding } from './binding';

const ROOT = path.resolve(__dirname, '../..');
/** Absolute path of the addon. */
export const ADDON = path.join(ROOT, 'build/native/Release/libtorch_serve.node');

let loaded: NativeBinding | undefined;

/**
 * The addon, opened at the first call.
 *
 * @throws Error with numbered advice when it cannot be opened.
 */
export function loadBinding(): NativeBinding {
  loaded ??= openAddon();
  return loaded;
}

function openAddon(): NativeBinding {
  prepareOpenMp();
  let binding: NativeBinding;
  try {
    binding = require(ADDON) as NativeBinding;
  } catch (error) {
    throw new Error(advice(error as NodeJS.ErrnoException), { cause: error });
  }
  // process.exit() and an uncaught exception run no clean-up hooks of the environment, only this
  // event; afterwards the process destroys what our threads would still be using.
  process.once('exit', () => binding.stopAll());
  return binding;
}

/**
 * To be called before the addon is opened anywhere in the process: libgomp reads its settings once,
 * when it is loaded, that is with the addon. Its default is to spin
 * at the end of every parallel section for as long as a core can be had, which collapses as soon as
 * anything else wants that core; a short spin costs next to nothing on an idle machine.
 */
export function prepareOpenMp(): void {
  if (process.env.OMP_WAIT_POLICY === undefined) process.env.GOMP_SPINCOUNT ??= '1000';
}

function advice(error: NodeJS.ErrnoException): string {
  const reason = error.message.split('\n')[0] ?? error.message;
  if (error.code === 'MODULE_NOT_FOUND') {
    return 'The native addon is not built. 1. Run `npx libtorch-serve build`. 2. Start again.';
  }
  return [
    `The native addon cannot be opened: ${reason}.`,
    '1. If Node.js was upgraded or LibTorch was moved, run `npx libtorch-serve build` again.',
    '2. In a container, the LibTorch libraries must lie beside the addon.',
    `3. This process is ${process.platform}-${process.arch}, Node.js ${process.version}: the addon must be built on the same.`,
  ].join(' ');
}
