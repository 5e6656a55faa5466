import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(__dirname, '../..');
const FILE = 'libtorch_serve.node';
const PRELOADER = 'libtorch_serve_preloader.node';

/** Platform name in the package names of prebuilt addons, such as linux-x64. */
export const PLATFORM = `${process.platform}-${process.arch}`;
export const PREBUILT_PACKAGE = `@libtorch-serve/${PLATFORM}`;

/** Paths of the files of the addon. */
export interface AddonFiles {
  readonly file: string;
  /** Built from native/node/preloader.cc. */
  readonly preloader: string;
  /** LibTorch library that is opened before the addon; null: the addon locates LibTorch through its rpath. */
  readonly libtorch: string | null;
}

/** Exports of scripts/libtorch/location.cjs. */
interface LibtorchLocation {
  readonly LIBTORCH_VERSION: string;
  locateLibtorch(): { readonly folder: string; readonly problem: string | undefined };
}

/** package.json of a package with a prebuilt addon. */
interface PrebuiltManifest {
  readonly version: string;
  /** Minimum versions of system libraries. */
  readonly needs?: { readonly glibc?: string };
}

/** The addon is missing or does not run on this system. The message contains numbered advice. */
export class AddonMissing extends Error {
  override readonly name = 'AddonMissing';
  /** Only LibTorch is missing. It can be downloaded. */
  readonly lacksLibtorch: boolean;

  constructor(message: string, { lacksLibtorch = false } = {}) {
    super(message);
    this.lacksLibtorch = lacksLibtorch;
  }
}

/** Formats `Problem. 1. First fix. 2. Second fix.` */
export function withAdvice(problem: string, ...advice: readonly string[]): string {
  return [problem, ...advice.map((sentence, index) => `${index + 1}. ${sentence}`)].join(' ');
}

/**
 * Locates the addon compiled in this checkout, or the prebuilt addon of the package for this platform.
 *
 * @throws AddonMissing
 */
export function findAddon(): AddonFiles {
  const local = path.join(ROOT, 'build/native/Release');
  if (existsSync(path.join(local, FILE))) return { ...filesOf(local), libtorch: null };
  const folder = findPrebuilt();
  const { locateLibtorch, LIBTORCH_VERSION } = require(
    path.join(ROOT, 'scripts/libtorch/location.cjs'),
  ) as LibtorchLocation;
  const { folder: libtorch, problem } = locateLibtorch();
  if (problem) {
    const message = withAdvice(
      `LibTorch ${LIBTORCH_VERSION} is not installed: ${problem}.`,
      'Run `npx libtorch-serve install`, which downloads it once for all projects of this user.',
      'Without a network: set LIBTORCH to a folder with its include/ and lib/.',
    );
    throw new AddonMissing(message, { lacksLibtorch: true });
  }
  return { ...filesOf(folder), libtorch: path.join(libtorch, 'lib', 'libtorch_cpu.so') };
}

function filesOf(folder: string) {
  return { file: path.join(folder, FILE), preloader: path.join(folder, PRELOADER) };
}

/** Folder of the package with the prebuilt addon. Its version must equal the version of libtorch-serve. */
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
      `The native addon is not built, and the prebuilt package ${PREBUILT_PACKAGE} is not installed.`,
      `${install} (\`--omit=optional\` skips it).`,
    );
  }
  const prebuilt = readManifest(file);
  if (prebuilt.version !== own.version) {
    throw missing(
      `${PREBUILT_PACKAGE} has version ${prebuilt.version}, but libtorch-serve has version ${own.version}.`,
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

/** Version of the GNU C library; undefined: another C library (musl) or another operating system. */
function glibcOfProcess(): string | undefined {
  // The report would resolve host names, which is slow.
  Object.assign(process.report, { excludeNetwork: true });
  const { header } = process.report.getReport() as {
    readonly header: { readonly glibcVersionRuntime?: string };
  };
  return header.glibcVersionRuntime;
}

/**
 * Describes why the C library of a system cannot run an addon; undefined: it can.
 *
 * @param needed minimum version of the GNU C library; undefined: any C library
 * @param found version of the GNU C library; undefined: another C library
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
