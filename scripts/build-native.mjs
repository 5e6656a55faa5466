/**
 * Build the addon: check the prerequisites, find LibTorch, let cmake-js configure and build.
 * Everything below is incremental: with nothing changed it takes seconds.
 *
 * Usage: node scripts/build-native.mjs [CMake target, default: the addon]
 */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { resolveLibtorch } from './libtorch/resolve.mjs';
import { missingPrerequisites } from './prerequisites.mjs';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
export const BUILD_FOLDER = path.join(ROOT, 'build/native');

/**
 * Build one CMake target; rejects with an Error that has a readable message.
 *
 * @param folder another one than of the addon that is used, configured before
 * @param platform of the folder, where it is not this machine's
 */
export async function buildNative(target = 'libtorch_serve', folder = BUILD_FOLDER, platform) {
  const args = [`--target=${target}`, `--parallel=${os.availableParallelism()}`];
  await cmakeJs(folder, ['build', ...args], platform);
}

/** Only configure, in a folder of its own. definitions: CMake variables; platform: as of buildNative. */
export async function configureNative(folder, definitions, platform) {
  const defines = Object.entries(definitions).map(([name, value]) => `--CD${name}=${value}`);
  await cmakeJs(folder, ['configure', ...defines], platform);
}

async function cmakeJs(folder, args, platform) {
  const missing = missingPrerequisites();
  if (missing.length > 0) {
    throw new Error(`the build needs what is not on this machine:\n  - ${missing.join('\n  - ')}`);
  }
  const run = spawnSync(
    process.execPath,
    [
      createRequire(import.meta.url).resolve('cmake-js/bin/cmake-js'),
      ...args,
      '--log-level=warn',
      '--config=Release',
      `--out=${folder}`,
      `--CDLIBTORCH=${await resolveLibtorch({ platform, withHeaders: true })}`,
    ],
    { cwd: ROOT, stdio: 'inherit' },
  );
  if (run.error) throw run.error;
  if (run.status !== 0) throw new Error('the native build failed, see above');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await buildNative(process.argv[2]);
  } catch (error) {
    console.error(`build:native: ${error.message}`);
    process.exitCode = 1;
  }
}
