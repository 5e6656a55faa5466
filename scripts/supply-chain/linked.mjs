/** What is linked into the addon without being a crate of Cargo.lock: Oniguruma, Rust's library. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/** Oniguruma is in C, in the crate onig_sys. */
export function onigurumaVersion(crates) {
  const { folder } = crates.find(({ name }) => name === 'onig_sys');
  const header = fs.readFileSync(path.join(folder, 'oniguruma/src/oniguruma.h'), 'utf8');
  return ['MAJOR', 'MINOR', 'TEENY']
    .map((part) => new RegExp(`define ONIGURUMA_VERSION_${part}\\s+(\\d+)`).exec(header)[1])
    .join('.');
}

export function rustVersion() {
  return /^rustc (\S+)/.exec(rustc('--version'))[1];
}

/** Path of the notices of Rust's library; undefined where the toolchain came without its documents. */
export function rustNotices() {
  const file = path.join(
    rustc('--print', 'sysroot').trim(),
    'share/doc/rust/COPYRIGHT-library.html',
  );
  return fs.existsSync(file) ? file : undefined;
}

function rustc(...args) {
  const run = spawnSync('rustc', args, { encoding: 'utf8' });
  if (run.error || run.status !== 0) throw new Error(`rustc: ${run.error?.message ?? run.stderr}`);
  return run.stdout;
}
