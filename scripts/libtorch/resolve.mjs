/**
 * Find LibTorch: LIBTORCH, else the per-user cache, else the pinned wheels through pip.
 *
 * The cache entry is made in a folder of its own and renamed into place when complete, so an
 * interrupted or corrupt download leaves nothing that a later build would take for LibTorch.
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { currentPlatform, LIBTORCH_VERSION } from './platforms.mjs';

const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const HERE = path.dirname(fileURLToPath(import.meta.url));

/** Folder of LibTorch, with include/ and lib/. Rejects with an Error that says what to do. */
export async function resolveLibtorch() {
  const own = process.env.LIBTORCH;
  if (own) {
    const folder = path.resolve(own);
    const problem = problemOf(folder);
    if (problem) throw new Error(`LIBTORCH=${own}: ${problem}`);
    return folder;
  }
  const platform = currentPlatform();
  const cache = path.join(cacheRoot(), `libtorch-${LIBTORCH_VERSION}-${platform.name}`);
  if (problemOf(cache, platform.libraries)) await download(platform, cache);
  return cache;
}

function cacheRoot() {
  const base =
    process.env.XDG_CACHE_HOME ||
    path.join(os.homedir(), process.platform === 'darwin' ? 'Library/Caches' : '.cache');
  return path.join(base, 'libtorch-serve');
}

/** Why the folder is no usable LibTorch of the pinned version, or undefined. */
function problemOf(folder, libraries = [`libtorch_cpu.${suffix()}`, `libc10.${suffix()}`]) {
  for (const name of libraries) {
    if (!fs.existsSync(path.join(folder, 'lib', name))) return `lib/${name} is not there`;
  }
  const header = path.join(folder, 'include/torch/headeronly/version.h');
  if (!fs.existsSync(header)) return 'include/torch/headeronly/version.h is not there';
  const text = fs.readFileSync(header, 'utf8');
  const version = ['MAJOR', 'MINOR', 'PATCH']
    .map((part) => new RegExp(`define TORCH_VERSION_${part} (\\d+)`).exec(text)?.[1])
    .join('.');
  if (version !== LIBTORCH_VERSION) {
    return `this is LibTorch ${version}, expected ${LIBTORCH_VERSION}`;
  }
  return undefined;
}

function suffix() {
  return process.platform === 'darwin' ? 'dylib' : 'so';
}

async function download(platform, target) {
  const root = path.dirname(target);
  fs.mkdirSync(root, { recursive: true });
  removeLeftovers(root);
  const work = path.join(root, `.partial-${process.pid}`);
  const wheels = path.join(work, 'wheels');
  fs.mkdirSync(wheels, { recursive: true });
  try {
    console.log(`LibTorch ${LIBTORCH_VERSION}: downloading the pinned wheels (about 550 MB, once)`);
    await python(
      ['-m', 'pip', ...pipArguments(platform, wheels)],
      'pip could not download LibTorch',
    );
    console.log('LibTorch: unpacking');
    const built = path.join(work, 'libtorch');
    await python(
      [path.join(HERE, 'unpack.py'), wheels, built, ...platform.libraries],
      'LibTorch could not be unpacked',
    );
    const problem = problemOf(built, platform.libraries);
    if (problem) throw new Error(`the downloaded LibTorch is not usable: ${problem}`);
    if (problemOf(target, platform.libraries)) {
      fs.rmSync(target, { recursive: true, force: true });
      fs.renameSync(built, target); // else: another build was faster, and its result is in use
    }
  } finally {
    fs.rmSync(work, { recursive: true, force: true });
  }
}

/** The tags are pinned too, so the local Python's own version does not matter. */
function pipArguments(platform, folder) {
  return [
    'download',
    '--require-hashes',
    '--no-deps',
    '--only-binary=:all:',
    '--implementation=cp',
    '--python-version=3.12',
    '--abi=cp312',
    '--abi=none',
    ...platform.pipPlatforms.map((tag) => `--platform=${tag}`),
    `--dest=${folder}`,
    `--requirement=${path.join(HERE, `${platform.name}.txt`)}`,
  ];
}

/** Runs Python; a signal that would end this process ends it first, so that the caller can tidy up. */
function python(args, complaint) {
  const advice = `or set LIBTORCH to an unpacked LibTorch ${LIBTORCH_VERSION}`;
  return new Promise((resolve, reject) => {
    const child = spawn('python3', args, { stdio: ['inherit', 'inherit', 'pipe'] });
    let complaints = '';
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      process.stderr.write(chunk);
      complaints += chunk;
    });
    const pass = (signal) => child.kill(signal);
    for (const signal of ENDING_SIGNALS) process.on(signal, pass);
    const settle = (problem) => {
      for (const signal of ENDING_SIGNALS) process.off(signal, pass);
      if (problem) reject(new Error(`${complaint}: ${problem}; ${advice}`));
      else resolve();
    };
    child.once('error', (error) => settle(error.message));
    child.once('close', (status, signal) => {
      if (signal) settle(`interrupted by ${signal}`);
      else if (complaints.includes('DO NOT MATCH THE HASHES'))
        settle('a wheel is not the pinned one, its SHA-256 is another (see above)');
      else settle(status === 0 ? undefined : 'see above');
    });
  });
}

/** Folders of builds that were killed outright: their process is gone. */
function removeLeftovers(root) {
  for (const name of fs.readdirSync(root)) {
    const pid = /^\.partial-(\d+)$/.exec(name)?.[1];
    if (pid && !isAlive(Number(pid)))
      fs.rmSync(path.join(root, name), { recursive: true, force: true });
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
