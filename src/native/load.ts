import { type Addon, findAddon, withAdvice } from './addon';
import type { NativeBinding } from './binding';
import { ExpectedError } from './engine-error';

/** native/node/preloader.cc */
export interface Preloader {
  /** Begins to open libraries in this order, on a thread; returns at once. Once in a process. */
  open(...files: readonly string[]): void;
  /** Returns when that thread has ended. */
  wait(): void;
  /** Opens a library that is no addon. */
  load(file: string): void;
}

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
  const { file, preloader, libtorch } = findAddon();
  let binding: NativeBinding;
  try {
    if (libtorch) requirePreloader(preloader).load(libtorch);
    binding = require(file) as NativeBinding;
  } catch (error) {
    throw Object.assign(new ExpectedError(advice(error as Error, libtorch)), { cause: error });
  }
  // process.exit() and an uncaught exception run no clean-up hooks of the environment, only this
  // event; afterwards the process destroys what our threads would still be using.
  process.once('exit', () => binding.stopAll());
  return binding;
}

export function requirePreloader(file: Addon['preloader']): Preloader {
  return require(file) as Preloader;
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

function advice(error: Error, libtorch: Addon['libtorch']): string {
  const reason = error.message.split('\n')[0] ?? error.message;
  const start = `The native addon cannot be opened: ${reason}.`;
  if (libtorch !== null) {
    return withAdvice(
      start,
      'If it names a version that is not found, the C or C++ library of this system is too old for the prebuilt addon: run `npx libtorch-serve build` here.',
      `If it names a file, LibTorch is not as it was fetched: remove the folder of ${libtorch}, and run \`npx libtorch-serve install\`.`,
    );
  }
  return withAdvice(
    start,
    'If Node.js was upgraded or LibTorch was moved, run `npx libtorch-serve build` again.',
    'In a container, the LibTorch libraries must lie beside the addon.',
    `This process is ${process.platform}-${process.arch}, Node.js ${process.version}: the addon must be built on the same.`,
  );
}
