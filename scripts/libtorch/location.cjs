/**
 * Which LibTorch this wants, and where it lies on this machine. Of CommonJS, because the services ask
 * too, and synchronously, before they open the addon (src/native/find-addon.ts).
 *
 * libtorch.json is the lock file: for each platform the wheels, with their hashes, and the libraries
 * that are kept of them. The CUDA libraries are among these because libtorch_cpu.so of this build names
 * them as needed; they are loaded and never used. The wheels of linux-arm64 have run under emulation only
 * (`npm run test:arm64`).
 */
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const { version: LIBTORCH_VERSION, platforms: PLATFORMS } = JSON.parse(
  fs.readFileSync(path.join(__dirname, 'libtorch.json'), 'utf8'),
);

/** Of the headers the one that says the version is always there; this one stands for all others. */
const VERSION_HEADER = 'include/torch/headeronly/version.h';
const HEADER = 'include/ATen/core/Tensor.h';

/** The libraries that any LibTorch has, wherever it comes from. */
const LEAST = ['libtorch_cpu.so', 'libc10.so'];

const THIS_PLATFORM = `${process.platform}-${process.arch}`;

/** The entry for a platform; throws with the list of those there are. */
function findPlatform(name = THIS_PLATFORM) {
  const platform = PLATFORMS[name];
  if (!platform) {
    throw new Error(
      `no LibTorch is known for ${name} (known: ${Object.keys(PLATFORMS).join(', ')}); ` +
        'set LIBTORCH to a folder with its include/ and lib/',
    );
  }
  return { name, ...platform };
}

/**
 * The folder that LIBTORCH names, which is for the machine this runs on, else the one of the per-user cache.
 *
 * @param platform another one, for which a build is made: linux-arm64, …
 * @param withHeaders it is to be compiled with: a prebuilt addon needs no headers, and they are not kept then
 * @returns { folder, isNamed, problem }: problem says why it is no usable LibTorch; undefined: it is one
 */
function locateLibtorch({ platform = THIS_PLATFORM, withHeaders = false } = {}) {
  const named = platform === THIS_PLATFORM ? process.env.LIBTORCH : undefined;
  if (named) {
    const folder = path.resolve(named);
    const problem = problemOf(folder, { withHeaders });
    return { folder, isNamed: true, problem: problem && `LIBTORCH=${named}: ${problem}` };
  }
  const { name, libraries } = findPlatform(platform);
  const folder = path.join(cacheRoot(), `libtorch-${LIBTORCH_VERSION}-${name}`);
  const hasLicences = fs.existsSync(path.join(folder, 'licenses')); // not in what earlier versions fetched
  const problem =
    problemOf(folder, { libraries, withHeaders }) ??
    (hasLicences ? undefined : 'it has no licenses/');
  return { folder, isNamed: false, problem };
}

function cacheRoot() {
  const base = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache');
  return path.join(base, 'libtorch-serve');
}

/** Why the folder is no usable LibTorch of the pinned version, or undefined. */
function problemOf(folder, { libraries = LEAST, withHeaders }) {
  const needed = [...libraries.map((name) => `lib/${name}`), VERSION_HEADER];
  if (withHeaders) needed.push(HEADER);
  for (const file of needed) {
    if (!fs.existsSync(path.join(folder, file))) return `${file} is not there`;
  }
  const text = fs.readFileSync(path.join(folder, VERSION_HEADER), 'utf8');
  const version = ['MAJOR', 'MINOR', 'PATCH']
    .map((part) => new RegExp(`define TORCH_VERSION_${part} (\\d+)`).exec(text)?.[1])
    .join('.');
  if (version !== LIBTORCH_VERSION) {
    return `this is LibTorch ${version}, expected ${LIBTORCH_VERSION}`;
  }
  return undefined;
}

module.exports = {
  LIBTORCH_VERSION,
  PLATFORMS,
  THIS_PLATFORM,
  VERSION_HEADER,
  findPlatform,
  locateLibtorch,
  problemOf,
};
