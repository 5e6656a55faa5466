/**
 * Format check and lint of C++ and Rust.
 *
 *   npm run check:native               clang-tidy reads what changed since the base, and what includes it
 *   npm run check:native -- all        every file
 *   npm run check:native -- all deep   the static analyzer follows calls into large functions, too
 *
 * The base is CHECK_BASE, a commit; by default where this branch left origin's main, and on main
 * itself the commit before.
 *
 * clang-format and clang-tidy differ from version to version, so the pinned ones are fetched with
 * pip into build/check; rustfmt and clippy come with the Rust toolchain.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUILD_FOLDER, configureNative } from './build-native.mjs';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const FOLDER = path.join(ROOT, 'build/check');
const TOOLS = path.join(FOLDER, 'tools');
const REQUIREMENTS = path.join(ROOT, 'scripts/check-native.txt');
const FUZZERS = ['--manifest-path', path.join(ROOT, 'native/tokenizers/fuzz/Cargo.toml')];
const SHALLOW = ['-Xclang', '-analyzer-config', '-Xclang', 'mode=shallow'];
const WANTED = new Set(process.argv.slice(2));
const CRATE = ['--manifest-path', path.join(ROOT, 'native/Cargo.toml')];

function run(what, command, args, options = {}) {
  console.log(`check: ${what}`);
  const result = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit', ...options });
  if (result.error) throw new Error(`${what}: ${result.error.message}`);
  if (result.status !== 0) throw new Error(`${what} found something, see above`);
}

/** Every C++ file of native/, headers included, but what git ignores: cargo's folder has links back into the tree. */
function cppFiles() {
  const files = git('ls-files', '--cached', '--others', '--exclude-standard', '--', 'native')
    .split('\n')
    .filter((name) => /\.(cc|h)$/.test(name) && fs.existsSync(path.join(ROOT, name)))
    .sort();
  if (files.length === 0) throw new Error('native: git knows no C++ file (not a checkout?)');
  return files;
}

function installTools() {
  const stamp = path.join(TOOLS, '.installed');
  const wanted = fs.readFileSync(REQUIREMENTS, 'utf8');
  if (fs.existsSync(stamp) && fs.readFileSync(stamp, 'utf8') === wanted) return;
  fs.rmSync(TOOLS, { recursive: true, force: true });
  const args = [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--require-hashes',
    '--no-deps',
    '--target',
    TOOLS,
  ];
  run('fetching clang-format and clang-tidy', 'python3', [...args, '-r', REQUIREMENTS]);
  fs.writeFileSync(stamp, wanted);
}

/** Leaves one command for each file: clang-tidy reads a file once for each target that it is part of. */
function onceEach(database) {
  const commands = JSON.parse(fs.readFileSync(database, 'utf8'));
  // The last of a file wins, so the first target of a file is named last.
  const byFile = new Map(commands.toReversed().map((command) => [command.file, command]));
  fs.writeFileSync(database, JSON.stringify([...byFile.values()], null, 1));
}

function git(...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : '';
}

/** The commit since which files are read; empty where there is none: then all are. */
function baseCommit() {
  const { CHECK_BASE } = process.env;
  if (CHECK_BASE) return git('rev-parse', '--verify', `${CHECK_BASE}^{commit}`);
  const common = git('merge-base', 'HEAD', 'origin/main');
  if (common && common !== git('rev-parse', 'HEAD')) return common;
  return git('rev-parse', '--verify', '--quiet', 'HEAD^');
}

/** The sources that changed since the base, or that include a header that did. */
function changedSources(files) {
  const base = baseCommit();
  if (!base) return files.filter(isSource);
  const names = git('diff', '--name-only', base, '--', 'native', 'CMakeLists.txt', '.clang-tidy');
  const untracked = git('ls-files', '--others', '--exclude-standard', '--', 'native');
  const changed = new Set(`${names}\n${untracked}`.split('\n').filter(Boolean));
  if (changed.has('.clang-tidy')) return files.filter(isSource);
  // Headers change what includes them, through headers as well.
  const includes = new Map(files.map((file) => [file, includedBy(file)]));
  const affected = new Set(files.filter((file) => changed.has(file)));
  for (let size = -1; size !== affected.size; ) {
    size = affected.size;
    const headers = [...affected].filter((file) => file.endsWith('.h'));
    for (const [file, names] of includes) {
      if (headers.some((header) => names.some((name) => header.endsWith(`/${name}`))))
        affected.add(file);
    }
  }
  return [...affected].filter(isSource).sort();
}

const isSource = (file) => file.endsWith('.cc');

/** What a file includes, as it names it. */
function includedBy(file) {
  const text = fs.readFileSync(path.join(ROOT, file), 'utf8');
  return [...text.matchAll(/^#include "([^"]+)"/gm)].map(([, name]) => name);
}

/** clang-tidy over sources, as many at once as there are cores. */
async function lintCpp() {
  const files = cppFiles();
  const sources = WANTED.has('all') ? files.filter(isSource) : changedSources(files);
  if (sources.length === 0) return console.log('check: clang-tidy: nothing changed since the base');
  // A build of its own: clang cannot read the compiler's precompiled header.
  await configureNative(FOLDER, {
    CMAKE_DISABLE_PRECOMPILE_HEADERS: 'ON',
    FUZZ: 'ON',
    RUST_TARGET_DIR: process.env.CARGO_TARGET_DIR, // the headers that clippy had cxx make
  });
  run('headers of the Rust bridges', 'cmake', ['--build', FOLDER, '--target', 'rust_ffi_headers']);
  onceEach(path.join(FOLDER, 'compile_commands.json'));
  const cores = String(os.availableParallelism());
  const depth = WANTED.has('deep') ? [] : SHALLOW;
  const analysis = depth.map((argument) => `--extra-arg=${argument}`);
  const tidy = path.join(TOOLS, 'clang_tidy/data/bin/clang-tidy');
  run(
    `clang-tidy, ${sources.length} files`,
    'xargs',
    ['-0', '-n', '1', '-P', cores, tidy, '--quiet', '-p', FOLDER, ...analysis],
    { input: sources.join('\0'), stdio: ['pipe', 'inherit', 'inherit'] },
  );
}

try {
  process.env.CARGO_TARGET_DIR = path.join(BUILD_FOLDER, 'rust'); // shared with the build
  installTools();
  run('clang-format', path.join(TOOLS, 'clang_format/data/bin/clang-format'), [
    '--dry-run',
    '-Werror',
    ...cppFiles(),
  ]);
  run('rustfmt', 'cargo', ['fmt', '--check', '--all', ...CRATE]);
  run('rustfmt of the fuzzers', 'cargo', ['fmt', '--check', ...FUZZERS]);
  run('clippy', 'cargo', [
    'clippy',
    '--quiet',
    '--locked',
    '--workspace',
    '--all-targets',
    ...CRATE,
    '--',
    '-D',
    'warnings',
  ]);
  await lintCpp();
} catch (error) {
  console.error(`check:native: ${error.message}`);
  process.exitCode = 1;
}
