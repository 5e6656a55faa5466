/** Builds for another platform than this machine's, in a folder of their own each: build/linux-arm64. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildNative, configureNative } from './build-native.mjs';
import { THIS_PLATFORM } from './libtorch/location.cjs';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

/** The platforms that can be compiled for: a toolchain file of CMake's, and what both compilers call them. */
const PLATFORMS = {
  'linux-arm64': {
    toolchain: path.join(ROOT, 'native/cmake/linux-arm64.cmake'),
    compiler: 'aarch64-linux-gnu-g++',
    rustTarget: 'aarch64-unknown-linux-gnu',
    advice: {
      compiler: 'apt-get install g++-aarch64-linux-gnu',
      rust:
        'rustup target add aarch64-unknown-linux-gnu, or, on Debian, dpkg --add-architecture arm64 && ' +
        'apt-get update && apt-get install rustc-web libstd-rust-web-dev:arm64',
    },
  },
};

/** Debian's compiler, which one of rustup's hides. */
const SYSTEMS_RUSTC = '/usr/bin/rustc';

export function crossFolder(platform) {
  return path.join(ROOT, 'build', platform);
}

/** What compiles Rust for a platform: { rustc, target }. Throws an Error that says what is missing. */
export function rustOf(platform) {
  if (platform === THIS_PLATFORM) return { rustc: process.env.RUSTC ?? 'rustc' };
  const { rustTarget: target, advice } = find(platform);
  const candidates = process.env.RUSTC ? [process.env.RUSTC] : ['rustc', SYSTEMS_RUSTC];
  const rustc = candidates.find((name) => hasLibrary(name, target));
  if (!rustc) {
    const tried = candidates.join(', ');
    throw new Error(`no Rust has a library for ${target} (tried ${tried}): ${advice.rust}`);
  }
  return { rustc, target };
}

/**
 * Builds CMake targets for a platform; what is built lies in `crossFolder`. Rejects with an Error that says
 * what is missing.
 */
export async function crossBuild(platform, targets = ['libtorch_serve']) {
  const { toolchain, compiler, advice } = find(platform);
  if (spawnSync(compiler, ['--version'], { stdio: 'ignore' }).status !== 0) {
    throw new Error(`there is no ${compiler}: ${advice.compiler}`);
  }
  const folder = crossFolder(platform);
  const definitions = { CMAKE_TOOLCHAIN_FILE: toolchain, RUSTC: rustOf(platform).rustc };
  await configureNative(folder, definitions, platform);
  for (const target of targets) await buildNative(target, folder, platform);
}

function find(platform) {
  const found = PLATFORMS[platform];
  if (!found) {
    const known = Object.keys(PLATFORMS).join(', ');
    throw new Error(`${platform} is compiled for on such a machine only (from here: ${known})`);
  }
  return found;
}

function hasLibrary(rustc, target) {
  const args = ['--print', 'target-libdir', '--target', target];
  const { status, stdout } = spawnSync(rustc, args, { encoding: 'utf8' });
  if (status !== 0) return false;
  const folder = stdout.trim();
  return fs.existsSync(folder) && fs.readdirSync(folder).some((name) => name.startsWith('libstd-'));
}
