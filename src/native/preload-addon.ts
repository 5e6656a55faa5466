/**
 * Opens the addon on a native thread, as a side effect of `import './native/preload-addon'`. Import it first.
 *
 * LibTorch registers its operators when it is loaded, which takes longer than loading all JavaScript of the service.
 * A worker_threads Worker takes at least 40 ms to start and would delay an early exit.
 */
import { type Preloader, prepareOpenMp, requirePreloader } from './addon';
import { type AddonFiles, findAddon } from './find-addon';

/**
 * Guesses whether the command line starts a service. Loading the argument parser takes half of the time that
 * preloading saves. A wrong guess costs only time.
 */
function isServeCommand(args: readonly string[]): boolean {
  const printsText = args.some((arg) => /^(--help|-h|--version|-v)$/.test(arg));
  return !printsText && args.some((arg) => /^(sentiment|eeg)$/.test(arg));
}

function preloadAddon(): void {
  let addon: AddonFiles;
  let preloader: Preloader;
  try {
    addon = findAddon();
    preloader = requirePreloader(addon.preloader);
  } catch {
    return; // `openAddon` throws the same error with advice
  }
  prepareOpenMp();
  preloader.open(...(addon.libtorch ? [addon.libtorch] : []), addon.file);
  process.once('exit', () => preloader.wait());
}

if (isServeCommand(process.argv.slice(2))) preloadAddon();
