/**
 * Begins to open the addon, for its effect alone: `import './native/open-early'`, before all else.
 *
 * LibTorch registers its operators when it is loaded, which takes longer than loading all of our
 * JavaScript. A thread does it meanwhile. Not a worker_threads Worker, which takes 40 ms and more to
 * start and would still have to be waited for at an early exit.
 */
import path from 'node:path';
import { ADDON, prepareOpenMp } from './load';

/** native/opener */
interface Opener {
  /** Begins to open a library, on a thread; returns at once. */
  open(file: string): void;
  /** Returns when that thread has ended. */
  wait(): void;
}

/**
 * Whether the command line looks like one that serves. To know takes reading it, and loading what
 * reads it is half of what can be done meanwhile; a wrong guess costs time and nothing else.
 */
function looksLikeServing(args: readonly string[]): boolean {
  const asksForText = args.some((arg) => /^(--help|-h|--version|-v)$/.test(arg));
  return !asksForText && args.some((arg) => /^(sentiment|eeg)$/.test(arg));
}

function openEarly(): void {
  let opener: Opener;
  try {
    opener = require(path.join(path.dirname(ADDON), 'libtorch_serve_opener.node')) as Opener;
  } catch {
    return; // built together with the addon: `loadBinding` meets the same error, and has advice
  }
  prepareOpenMp();
  opener.open(ADDON);
  process.once('exit', () => opener.wait());
}

if (looksLikeServing(process.argv.slice(2))) openEarly();
