import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(__dirname, '../..');
const FILE = 'libtorch_serve.node';
const PRELOADER = 'libtorch_serve_preloader.node';

/** This machine, as packages of prebuilt addons are named after it. */
export const PLATFORM = `${process.platform}-${process.arch}`;
export const PREBUILT_PACKAGE = `@libtorch-serve/${PLATFORM}`;

/** Paths of what makes up the addon. */
export interface Addon {
  readonly file: string;
  /** native/node/preloader.cc */
  readonly preloader: string;
  /** To be opened before the addon; null: it finds its LibTorch by itself. */
  readonly libtorch: string | null;
}

/** scripts/libtorch/location.cjs */
interface LibtorchLocation {
  readonly LIBTORCH_VERSION: string;
  locateLibtorch(): { readonly folder: string; readonly problem: string | undefined };
}

/** package.json of a package with a prebuilt addon; `needs`: the oldest version of each. */
interface PrebuiltManifest {
  readonly version: string;
  readonly needs?: { readonly glibc?: string };
}

/** Why there is no addon to be opened, with numbered advice. */
export class AddonMissing extends Error {
  override readonly name = 'AddonMissing';
  /** All is there but LibTorch, which can be fetched. */
  readonly lacksLibtorch: boolean;

  constructor(message: string, { lacksLibtorch = false } = {}) {
    super(message);
    this.lacksLibtorch = lacksLibtorch;
  }
}

/** `What is wrong. 1. Do this. 2. Or that.` */
export function withAdvice(problem: string, ...advice: readonly string[]): string {
  return [problem, ...advice.map((sentence, index) => `${index + 1}. ${sentence}`)].join(' ');
}

/**
 * The addon that was compiled here, else the prebuilt one of the package for this platform.
 *
 * @throws AddonMissing
 */
export function findAddon(): Addon {
  const local = path.join(ROOT, 'build/native/Release');
  if (existsSync(path.join(local, FILE))) return { ...filesOf(local), libtorch: null };
  const folder = findPrebuilt();
  const { locateLibtorch, LIBTORCH_VERSION } = require(
    path.join(ROOT, 'scripts/libtorch/location.cjs'),
  ) as LibtorchLocation;
  const { folder: libtorch, problem } = locateLibtorch();
  if (problem) {
    const message = withAdvice(
      `LibTorch ${LIBTORCH_VERSION} is not on this machine: ${problem}.`,
      'Run `npx libtorch-serve install`, which fetches it once for all projects of this user.',
      'Without a network: name a folder with its include/ and lib/ in LIBTORCH.',
    );
    throw new AddonMissing(message, { lacksLibtorch: true });
  }
  return { ...filesOf(folder), libtorch: path.join(libtorch, 'lib', 'libtorch_cpu.so') };
}

function filesOf(folder: string) {
  return { file: path.join(folder, FILE), preloader: path.join(folder, PRELOADER) };
}

/** Folder of the package with the prebuilt addon, which has to be of our own version. */
function findPrebuilt(): string {
  const own = readManifest(path.join(ROOT, 'package.json'));
  const compile = 'Or compile it: `npx libtorch-serve build`.';
  const install = `Run \`npm install ${PREBUILT_PACKAGE}@${own.version}\``;
  const missing = (...message: [string, ...string[]]) =>
    new AddonMissing(withAdvice(...message, compile));
  let file: string;
  try {
    file = require.resolve(`${PREBUILT_PACKAGE}/package.json`, { paths: [ROOT] });
  } catch {
    throw missing(
      `The native addon is not built, and ${PREBUILT_PACKAGE}, which has it prebuilt, is not installed.`,
      `${install} (\`--omit=optional\` leaves it out).`,
    );
  }
  const prebuilt = readManifest(file);
  if (prebuilt.version !== own.version) {
    throw missing(
      `${PREBUILT_PACKAGE} is of version ${prebuilt.version}, and libtorch-serve of ${own.version}.`,
      `${install}.`,
    );
  }
  const problem = describeLibcProblem(prebuilt.needs?.glibc, glibcOfProcess());
  if (problem) throw missing(problem, 'Use a newer system, or its image.');
  return path.dirname(file);
}

function readManifest(file: string): PrebuiltManifest {
  return JSON.parse(readFileSync(file, 'utf8')) as PrebuiltManifest;
}

/** Undefined: it is another C library (musl), or another system. */
function glibcOfProcess(): string | undefined {
  // Names of hosts are none of our business, and looking them up takes time.
  Object.assign(process.report, { excludeNetwork: true });
  const { header } = process.report.getReport() as {
    readonly header: { readonly glibcVersionRuntime?: string };
  };
  return header.glibcVersionRuntime;
}

/**
 * Why an addon does not run with the C library of a system; undefined: it does.
 *
 * @param needed the oldest version; undefined: any C library will do
 * @param found undefined: it is none of GNU's
 */
export function describeLibcProblem(
  needed: string | undefined,
  found: string | undefined,
): string | undefined {
  if (needed === undefined) return undefined;
  const start = `The prebuilt addon needs the GNU C library ${needed} or newer;`;
  if (found === undefined) return `${start} this system has another C library (musl, as Alpine).`;
  const isOld = found.localeCompare(needed, 'en', { numeric: true }) < 0;
  return isOld ? `${start} this system has ${found}.` : undefined;
}
