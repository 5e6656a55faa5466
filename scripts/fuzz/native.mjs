/** Fuzzers of native/backend: pickles, files of torch.save, checkpoints, configurations, archives. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { BUILD_FOLDER, buildNative, configureNative } from '../build-native.mjs';
import { sum } from '../suite.mjs';
import { FOLDER, fuzz, ROOT } from './libfuzzer.mjs';

const BUILD = path.join(FOLDER, 'native');
const SOURCE = path.join(ROOT, 'native/fuzz');

export const TARGETS = [
  'pickle',
  'torch_save',
  'checkpoint',
  'model_config',
  'torchscript_archive',
  'exported',
];

/** Debian's clang 14 is what it is tried with; any later one will do. */
const COMPILERS = [process.env.FUZZ_CXX, 'clang++', ...versions(14, 22)];

function versions(first, last) {
  return Array.from({ length: last - first + 1 }, (_, index) => `clang++-${first + index}`);
}

/**
 * @param seconds for each target; 0 only runs the kept inputs
 * @param only names of targets, default: all
 * @returns how many targets passed and failed
 */
export async function run({ seconds, only = TARGETS }) {
  await configureNative(BUILD, {
    CMAKE_CXX_COMPILER: compiler(),
    FUZZ: 'ON',
    SANITIZE: 'address,undefined',
    // Rust's library is the same one, and takes minutes.
    RUST_TARGET_DIR: path.join(BUILD_FOLDER, 'rust'),
  });
  await buildNative('fuzzers', BUILD);
  return sum(only.map((name) => fuzz(target(name), seconds)));
}

function target(name) {
  const dictionary = path.join(SOURCE, 'dictionaries', `${name}.dict`);
  return {
    name,
    program: path.join(BUILD, 'fuzz', `fuzz_${name}`),
    corpus: path.join(SOURCE, 'corpus', name),
    dictionary: fs.existsSync(dictionary) ? dictionary : undefined,
  };
}

/** One that can link libFuzzer. */
function compiler() {
  const input =
    'extern "C" int LLVMFuzzerTestOneInput(const char *, unsigned long) { return 0; }\n';
  const args = ['-fsanitize=fuzzer,address', '-x', 'c++', '-', '-o', '/dev/null'];
  const found = COMPILERS.find(
    (name) =>
      name && spawnSync(name, args, { input, stdio: ['pipe', 'ignore', 'ignore'] }).status === 0,
  );
  if (found) return found;
  throw new Error(
    'the fuzzers of native/backend need clang with libFuzzer: apt-get install clang libclang-rt-14-dev' +
      ' (FUZZ_CXX names another clang++)',
  );
}
