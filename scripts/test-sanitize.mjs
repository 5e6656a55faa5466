/**
 * The native code under sanitizers; the last line is `N passed, N failed`.
 *
 *   native   C++ suites with AddressSanitizer, UndefinedBehaviorSanitizer and LeakSanitizer
 *   service  both services, the addon built with the same, some hundreds of requests of all kinds
 *   threads  the suites of engine/ and gemm/ with ThreadSanitizer
 *   quick    what of `native` needs no LibTorch: engine/ and gemm/; and the threads of both, in tsan_test
 *
 * Usage: node scripts/test-sanitize.mjs [part …], default: native service threads
 *
 * Builds into build/sanitize; build/native stays as it is. GCC's runtime is expected. LibTorch,
 * Rust's and Node's code is not instrumented; what they allocate is watched all the same.
 */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUILD_FOLDER, buildNative, configureNative } from './build-native.mjs';
import { runGoogleTest } from './google-test.mjs';
import { runService } from './sanitize/service.mjs';
import { runSuite, sum } from './suite.mjs';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const FOLDER = path.join(ROOT, 'build/sanitize');
const LEAKS = path.join(ROOT, 'scripts/sanitize/leaks.txt');

/** Another exit code than a failed test's. */
const OPTIONS = {
  ASAN_OPTIONS: 'exitcode=99:detect_stack_use_after_return=1',
  UBSAN_OPTIONS: 'exitcode=99:print_stacktrace=1',
  LSAN_OPTIONS: `exitcode=99:suppressions=${LEAKS}:print_suppressions=0`,
  TSAN_OPTIONS: 'exitcode=99',
};

const PARTS = {
  native: () => runSuites('address,undefined', ['scheduler_test', 'kernels_test', 'backend_test']),
  quick: async () => {
    await configureNative(BUILD_FOLDER, {});
    await buildNative('tsan_test');
    const threads = runGoogleTest(path.join(BUILD_FOLDER, 'test', 'tsan_test'), OPTIONS);
    return sum([threads, await runSuites('address,undefined', ['scheduler_test', 'kernels_test'])]);
  },
  threads: () => runSuites('thread', ['scheduler_test', 'kernels_test']),
  service: async () => {
    const folder = await build('address,undefined', ['libtorch_serve']);
    const results = [];
    for (const name of ['sentiment', 'eeg']) {
      results.push(await runService(name, { root: ROOT, folder, options: OPTIONS }));
    }
    return sum(results);
  },
};

/** The folder of a build with these sanitizers, in which the targets are up to date. */
async function build(sanitizers, targets) {
  const folder = path.join(FOLDER, sanitizers.replace(',', '-'));
  // Rust's library is the same one, and takes minutes.
  const RUST_TARGET_DIR = path.join(BUILD_FOLDER, 'rust');
  await configureNative(folder, { SANITIZE: sanitizers, RUST_TARGET_DIR });
  for (const target of targets) await buildNative(target, folder);
  return folder;
}

async function runSuites(sanitizers, suites) {
  const folder = await build(sanitizers, suites);
  return sum(suites.map((suite) => runGoogleTest(path.join(folder, 'test', suite), OPTIONS)));
}

const given = process.argv.slice(2);
await runSuite('sanitize', PARTS, given.length > 0 ? given : ['native', 'service', 'threads']);
