/** Fuzzers of native/tokenizers and native/guard. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { sum } from '../suite.mjs';
import { FOLDER, fuzz, ROOT } from './libfuzzer.mjs';

const CRATE = path.join(ROOT, 'native/tokenizers/fuzz');
const TARGET_DIR = path.join(FOLDER, 'rust');

/** Targets and their dictionaries. */
export const TARGETS = {
  early_truncation: 'texts',
  encode: 'texts',
  text_variants: 'texts',
  safetensors: undefined,
  sentencepiece: undefined,
  tokenizer_files: 'tokenizer_files',
};

/** What cargo-fuzz gives to the compiler. libFuzzer itself is built from the crate libfuzzer-sys. */
const RUSTFLAGS = [
  '-Cpasses=sancov-module',
  '-Cllvm-args=-sanitizer-coverage-level=4',
  '-Cllvm-args=-sanitizer-coverage-inline-8bit-counters',
  '-Cllvm-args=-sanitizer-coverage-pc-table',
  '-Cllvm-args=-sanitizer-coverage-trace-compares',
  '-Zsanitizer=address',
  '-Cforce-frame-pointers',
  '--cfg fuzzing',
];

/**
 * @param seconds for each target; 0 only runs the kept inputs
 * @param only names of targets, default: all
 * @returns how many targets passed and failed
 */
export async function run({ seconds, only = Object.keys(TARGETS) }) {
  const programs = build();
  return sum(only.map((name) => fuzz(target(name, programs), seconds)));
}

function target(name, programs) {
  const dictionary = TARGETS[name] && path.join(CRATE, 'dictionaries', `${TARGETS[name]}.dict`);
  const owner = name === 'text_variants' ? path.join(ROOT, 'native/guard/fuzz') : CRATE;
  const corpus = path.join(owner, 'corpus', name);
  return { name, program: path.join(programs, name), corpus, dictionary };
}

/** @returns the folder of the programs */
function build() {
  const version = spawnSync('rustc', ['-vV'], { encoding: 'utf8' }).stdout ?? '';
  const host = /^host: (.*)$/m.exec(version)?.[1];
  if (!host) throw new Error('rustc is not on this machine');
  // Naming the target keeps build scripts and macros free of the counters.
  const args = ['build', '--release', '--locked', '--quiet', '--target', host];
  const result = spawnSync('cargo', [...args, '--target-dir', TARGET_DIR], {
    cwd: CRATE,
    stdio: 'inherit',
    // -Zsanitizer is for nightly compilers, or for those that are told so.
    env: { ...process.env, RUSTC_BOOTSTRAP: '1', RUSTFLAGS: RUSTFLAGS.join(' ') },
  });
  if (result.status !== 0)
    throw new Error('the fuzzers of native/tokenizers could not be built, see above');
  const programs = path.join(TARGET_DIR, host, 'release');
  if (!fs.existsSync(programs)) throw new Error(`${programs} is not there`);
  return programs;
}
