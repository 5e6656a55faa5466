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

export function rustVersion(rustc) {
  return /^rustc (\S+)/.exec(run(rustc, '--version'))[1];
}

/** Where the notices of Rust's library are, as rustup and as Debian install them. */
const NOTICES = [
  'rust/COPYRIGHT-library.html',
  'libstd-rust-dev/copyright',
  'libstd-rust-web-dev/copyright',
];

/** Path of the notices of Rust's library; undefined where the toolchain came without its documents. */
export function rustNotices(rustc) {
  const folder = path.join(run(rustc, '--print', 'sysroot').trim(), 'share/doc');
  return NOTICES.map((name) => path.join(folder, name)).find((file) => fs.existsSync(file));
}

function run(rustc, ...args) {
  const { error, status, stdout, stderr } = spawnSync(rustc, args, { encoding: 'utf8' });
  if (error || status !== 0) throw new Error(`${rustc}: ${error?.message ?? stderr}`);
  return stdout;
}
