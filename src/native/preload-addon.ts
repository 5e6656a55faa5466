/**
 * Begins to open the addon, for its effect alone: `import './native/open-early'`, before all else.
 *
 * LibTorch registers its operators when it is loaded, which takes longer than loading all of our
 * JavaScript. A thread does it meanwhile. Not a worker_threads Worker, which takes 40 ms and more to
 * start and would still have to be waited for at an early exit.
 */
import { type Addon, findAddon } from './addon';
import { type Preloader, prepareOpenMp, requirePreloader } from './load';

/**
 * Whether the command line looks like one that serves. To know takes reading it, and loading what
 * reads it is half of what can be done meanwhile; a wrong guess costs time and nothing else.
 */
function isServeCommand(args: readonly string[]): boolean {
  const asksForText = args.some((arg) => /^(--help|-h|--version|-v)$/.test(arg));
  return !asksForText && args.some((arg) => /^(sentiment|eeg)$/.test(arg));
}

function preloadAddon(): void {
  let addon: Addon;
  let preloader: Preloader;
  try {
    addon = findAddon();
    preloader = requirePreloader(addon.preloader);
  } catch {
    return; // `loadBinding` meets the same error, and has advice
  }
  prepareOpenMp();
  preloader.open(...(addon.libtorch ? [addon.libtorch] : []), addon.file);
  process.once('exit', () => preloader.wait());
}

if (isServeCommand(process.argv.slice(2))) preloadAddon();
