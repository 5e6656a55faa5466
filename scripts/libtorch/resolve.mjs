/**
 * Find LibTorch: LIBTORCH, else the per-user cache, else the pinned wheels of a Python package index.
 *
 * Usage: node scripts/libtorch/resolve.mjs     fetches it if it is not there, and prints its folder
 *
 * What was fetched of a wheel stays when the process ends, and is taken up by the next one. The cache
 * entry itself is made beside its place and renamed into it when complete.
 */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { claim } from './claim.mjs';
import { download, verify } from './download.mjs';
import { Http } from './http.mjs';
import { findPlatform, LIBTORCH_VERSION, locateLibtorch, problemOf } from './location.cjs';
import { findWheel } from './package-index.mjs';
import { Progress } from './progress.mjs';
import { readSettings } from './settings.mjs';
import { unpack } from './unpack.mjs';

/**
 * Folder of LibTorch, with lib/ and what `locateLibtorch` says of include/. Rejects with an Error that
 * says what to do.
 *
 * @param wanted as of `locateLibtorch`
 */
export async function resolveLibtorch(wanted = {}) {
  const { folder, isNamed, problem } = locateLibtorch(wanted);
  if (!problem) return folder;
  if (isNamed) throw new Error(problem);
  fs.mkdirSync(path.dirname(folder), { recursive: true });
  const giveBack = await claim(`${folder}.claim`, () =>
    console.error('LibTorch: another process is fetching it; waiting'),
  );
  try {
    // Whoever had the claim before may have done it.
    const { problem: stillThere } = locateLibtorch(wanted);
    if (stillThere && fs.existsSync(folder))
      console.error(`LibTorch: fetching it again: ${stillThere}`);
    if (stillThere) await fetchInto(folder, wanted);
  } catch (error) {
    throw new Error(
      `LibTorch could not be fetched: ${error.message}; ` +
        `or set LIBTORCH to an unpacked LibTorch ${LIBTORCH_VERSION}`,
      { cause: error },
    );
  } finally {
    giveBack();
  }
  return folder;
}

async function fetchInto(folder, { platform: name, withHeaders = false }) {
  const platform = findPlatform(name);
  const work = `${folder}.partial`;
  fs.mkdirSync(work, { recursive: true });
  const wheels = await fetchWheels(platform, work);
  console.error('LibTorch: unpacking');
  const built = path.join(work, 'unpacked');
  fs.rmSync(built, { recursive: true, force: true });
  const libraries = new Set(platform.libraries);
  for (const wheel of wheels) {
    for (const name of await unpack(wheel, built, { libraries, withHeaders }))
      libraries.delete(name);
  }
  if (libraries.size > 0) throw new Error(`the wheels hold no ${[...libraries].join(', ')}`);
  const problem = problemOf(built, { libraries: platform.libraries, withHeaders });
  if (problem) throw new Error(`what the wheels hold is not usable: ${problem}`);
  fs.rmSync(folder, { recursive: true, force: true });
  fs.renameSync(built, folder);
  fs.rmSync(work, { recursive: true });
  console.error(`LibTorch: ready in ${folder}`);
}

/** Paths of the wheels, each of them verified. */
async function fetchWheels({ wheels }, work) {
  const settings = readSettings();
  const http = new Http(settings);
  const total = wheels.reduce((sum, { size }) => sum + size, 0);
  const progress = new Progress(total);
  progress.say(
    `LibTorch ${LIBTORCH_VERSION}: fetching ${Math.ceil(total / 1e6)} MB, once for all projects of this user`,
  );
  let done = 0;
  const files = [];
  try {
    for (const wheel of wheels) {
      const report = (bytes) => progress.report(done + bytes);
      files.push(await fetchWheel(wheel, work, { settings, http, progress, report }));
      done += wheel.size;
      report(0);
    }
  } finally {
    await http.close();
  }
  return files;
}

async function fetchWheel(wheel, work, { settings, http, progress, report }) {
  const target = path.join(work, wheel.file);
  const { file, url } = await findWheel(wheel, settings, http);
  if (file) {
    fs.copyFileSync(file, target);
    await verify(target, wheel, file);
  } else {
    const onPause = (reason) =>
      progress.say(`LibTorch: the download broke off (${reason}); going on`);
    await download(url, target, wheel, { http, onBytes: report, onPause });
  }
  return target;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    console.log(await resolveLibtorch());
  } catch (error) {
    console.error(`libtorch: ${error.message}`);
    process.exitCode = 1;
  }
}
