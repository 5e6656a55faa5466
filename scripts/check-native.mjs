/**
 * Format check and lint of C++ and Rust.
 *
 *   npm run check:native [-- deep]
 *
 * Of clang-tidy's time half is its static analyzer's, which follows paths through a function and into
 * what it calls. Into all of that only `deep`; otherwise into small functions.
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
const FUZZERS = ['--manifest-path', path.join(ROOT, 'native/hf/fuzz/Cargo.toml')];
const SHALLOW = ['-Xclang', '-analyzer-config', '-Xclang', 'mode=shallow'];
const CRATE = ['--manifest-path', path.join(ROOT, 'native/hf/Cargo.toml')];

function run(what, command, args, options = {}) {
  console.log(`check: ${what}`);
  const result = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit', ...options });
  if (result.error) throw new Error(`${what}: ${result.error.message}`);
  if (result.status !== 0) throw new Error(`${what} found something, see above`);
}

/** Every C++ file of native/, headers included. */
function cppFiles() {
  return fs
    .readdirSync(path.join(ROOT, 'native'), { recursive: true })
    .filter((name) => /\.(cc|h)$/.test(name) && !name.includes('target/'))
    .map((name) => path.join('native', name))
    .sort();
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

/** clang-tidy over every source, as many at once as there are cores. */
async function lintCpp() {
  // A build of its own: clang cannot read the compiler's precompiled header.
  await configureNative(FOLDER, { CMAKE_DISABLE_PRECOMPILE_HEADERS: 'ON', FUZZ: 'ON' });
  onceEach(path.join(FOLDER, 'compile_commands.json'));
  const sources = cppFiles().filter((name) => name.endsWith('.cc'));
  const cores = String(os.availableParallelism());
  const depth = process.argv[2] === 'deep' ? [] : SHALLOW;
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
  run('rustfmt', 'cargo', ['fmt', '--check', ...CRATE]);
  run('rustfmt of the fuzzers', 'cargo', ['fmt', '--check', ...FUZZERS]);
  run('clippy', 'cargo', [
    'clippy',
    '--quiet',
    '--locked',
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
