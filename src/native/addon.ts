import { printable } from '../lib/printable';
import type { Dtype, NativeBinding, ProductNumbers, ProgramReport } from './binding';
import { EngineError, ExpectedError } from './engine-error';
import { type AddonFiles, findAddon, withAdvice } from './find-addon';

/** Exports of the preloader, native/node/preloader.cc. */
export interface Preloader {
  /** Starts a thread that opens the libraries in this order. Call it at most once per process. */
  open(...files: readonly string[]): void;
  /** Blocks until the thread of `open` has ended. */
  wait(): void;
  /** Opens a library that is not an addon. */
  load(file: string): void;
}

let loaded: NativeBinding | undefined;

/**
 * Returns the addon. The first call opens it.
 *
 * @throws ExpectedError with numbered advice
 */
export function addon(): NativeBinding {
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
    throw Object.assign(new ExpectedError(loadAdvice(error as Error, libtorch)), { cause: error });
  }
  // process.exit() and uncaught exceptions skip the clean-up hooks of the environment and only emit this event.
  // Afterwards the process destroys objects that native threads still use.
  process.once('exit', () => binding.stopAll());
  return binding;
}

export function requirePreloader(file: AddonFiles['preloader']): Preloader {
  return require(file) as Preloader;
}

/**
 * Limits the time that idle OpenMP threads spin. Call it before the addon is opened anywhere in the process:
 * libgomp reads its settings when it is loaded. By default, libgomp spins at the end of every parallel section
 * until another thread needs the core, and throughput collapses on shared cores.
 */
export function prepareOpenMp(): void {
  if (process.env.OMP_WAIT_POLICY === undefined) process.env.GOMP_SPINCOUNT ??= '1000';
}

function loadAdvice(error: Error, libtorch: AddonFiles['libtorch']): string {
  const reason = error.message.split('\n')[0] ?? error.message;
  const start = `The native addon cannot be opened: ${reason}.`;
  if (libtorch !== null) {
    return withAdvice(
      start,
      'If the message names a version that is not found, the C or C++ library of this system is too old for the prebuilt addon: run `npx libtorch-serve build` here.',
      `If the message names a file, the installed LibTorch is damaged: remove the folder of ${libtorch}, and run \`npx libtorch-serve install\`.`,
    );
  }
  return withAdvice(
    start,
    'If Node.js was upgraded or LibTorch was moved, run `npx libtorch-serve build` again.',
    'In a container, the LibTorch libraries must be in the folder of the addon.',
    `This process runs on ${process.platform}-${process.arch} with Node.js ${process.version}: build the addon for the same platform and version.`,
  );
}

/**
 * Returns why this processor does not support a number format, or undefined.
 *
 * @param settingNames names in the message: by default the options of the embedded API
 */
export function findDtypeProblem(
  dtype: Dtype,
  attentionDtype: ProductNumbers = 'auto',
  settingNames: readonly [dtype: string, attentionDtype: string] = ['dtype', 'attentionDtype'],
): string | undefined {
  const problem = addon().dtypeProblem(dtype, attentionDtype);
  if (!problem) return undefined;
  const isDtype = addon().dtypeProblem(dtype, 'auto') !== '';
  const name = settingNames[isDtype ? 0 : 1];
  const value = isDtype ? dtype : attentionDtype;
  return `${name}: ${value} cannot be used on this processor: ${problem}. Unset ${name}`;
}

/**
 * Sets the environment variable INSTRUCTION_SET, which limits the instruction set of the kernels. Call it before the
 * first computation: the native code reads the variable once. No LibTorch thread reads the environment at this time.
 *
 * @param limit null: keeps the environment variable
 * @returns why this machine does not support the limit; empty: it does
 */
export function limitInstructions(limit: string | null): string {
  const binding = addon();
  if (limit !== null) process.env.INSTRUCTION_SET = limit;
  return binding.instructionsProblem();
}

/**
 * Describes a TorchScript or torch.export file without running it.
 *
 * @throws EngineError MODEL_LOAD_FAILED: the file cannot be read
 */
export function inspectProgram(path: string, allowedOperators: readonly string[]): ProgramReport {
  try {
    return addon().inspectProgram(path, allowedOperators);
  } catch (error) {
    throw new EngineError('MODEL_LOAD_FAILED', printable((error as Error).message));
  }
}

/**
 * Serializes embeddings as JSON arrays, such as `[0.25,-1e-07]`, on a native thread. Each number has the fewest
 * digits that parse to the same float32.
 *
 * @param vectors embeddings with the same number of dimensions
 */
export async function embeddingsToJson(
  vectors: readonly Float32Array[],
): Promise<readonly Buffer[]> {
  const columns = vectors[0]?.length ?? 0;
  if (columns === 0) return [];
  const values = new Float32Array(vectors.length * columns);
  for (const [index, vector] of vectors.entries()) values.set(vector, index * columns);
  const { text, ends } = await addon().rowsToJson(values, columns);
  return Array.from(ends, (end, index) => text.subarray(ends[index - 1] ?? 0, end));
}
