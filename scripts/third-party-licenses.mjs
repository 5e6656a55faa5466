/**
 * The licences that have to go along with a release or an image: of the crates linked into the addon, of
 * Rust's library, of LibTorch with the libraries beside it, of the npm packages that a service runs with
 * or that are in its pages.
 *
 * Usage: npm run licenses [-- FILE] [--platform PLATFORM]
 *
 * FILE: default build/native/Release/THIRD_PARTY_LICENSES. PLATFORM: linux-arm64, …, default: this machine's.
 */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { rustOf } from './cross.mjs';
import { findPlatform, THIS_PLATFORM } from './libtorch/location.cjs';
import { resolveLibtorch } from './libtorch/resolve.mjs';
import { crates, libraries, npmPackages } from './supply-chain/components.mjs';
import { rustNotices, rustVersion } from './supply-chain/linked.mjs';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const DEFAULT = path.join(ROOT, 'build/native/Release/THIRD_PARTY_LICENSES');
const LICENCE_FILE = /^(licen[cs]e|copying|notice|copyright)/i;
const LIBRARIES = `Libraries beside the addon, out of the wheels of PyTorch and NVIDIA, unchanged but for the
symbol tables of libtorch_cpu and libc10, which container images leave out. Those under the GPL with the
runtime exception are GCC's (text: https://www.gnu.org/licenses/gpl-3.0.txt; source: gcc.gnu.org).

`;
const LINE = `\n${'-'.repeat(72)}\n\n`;

/** Paths of licence files in a folder and its folders. */
function licenceFiles(folder) {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && LICENCE_FILE.test(entry.name))
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name))
    .filter((file) => !/\.(rs|c|h|py)$/.test(file))
    .sort();
}

/** A section: a heading, and the texts in a folder or why there is none. */
function section(heading, folder, { files = licenceFiles(folder), none }) {
  const texts = files.map(
    (file) => `${path.relative(folder, file)}:\n\n${fs.readFileSync(file, 'utf8').trim()}\n`,
  );
  return [`${heading}\n`, ...(texts.length > 0 ? texts : [`${none}\n`])].join('\n');
}

function npmSections() {
  return npmPackages(ROOT)
    .filter(({ ships, key }) => ships && fs.existsSync(path.join(ROOT, key)))
    .map(({ key, name, version, licence }) => {
      const folder = path.join(ROOT, key);
      const files = licenceFiles(folder).filter(
        (file) => !path.relative(folder, file).includes('node_modules'),
      );
      const none = 'Its package holds no licence text.';
      return section(`${name} ${version} (${licence})`, folder, { files, none });
    });
}

function crateSections() {
  return crates(ROOT)
    .filter(({ ships }) => ships)
    .map(({ name, version, licence, folder, repository }) => {
      const none = `Its archive holds no licence text. Source: ${repository ?? 'crate registry'}`;
      return section(`${name} ${version} (${licence})`, folder, { none });
    });
}

function rustSection(rustc) {
  const file = rustNotices(rustc);
  const text = file ? textOf(file) : 'This toolchain came without the notices of its library.';
  return `Rust standard library ${rustVersion(rustc)} (MIT OR Apache-2.0)\n\n${text.trim()}\n`;
}

function textOf(file) {
  const text = fs.readFileSync(file, 'utf8');
  if (!file.endsWith('.html')) return text;
  return text.replaceAll(/<[^>]*>/g, '').replaceAll(/\n\s*\n+/g, '\n\n');
}

function libtorchSections(libtorch, platform) {
  const kept = findPlatform(platform).libraries;
  const table = libraries()
    .filter(({ name }) => kept.includes(name))
    .map(({ name, licence }) => `${name}: ${licence}`);
  const folder = path.join(libtorch, 'licenses');
  if (!fs.existsSync(folder)) {
    throw new Error(
      'the LibTorch that is there has no licenses/: one that LIBTORCH names needs them from its wheel; one ' +
        `that an older build fetched has to be fetched again (rm -r ${libtorch}; npm run build:native)`,
    );
  }
  const texts = licenceFiles(folder).map(
    (file) => `${path.relative(folder, file)}:\n\n${fs.readFileSync(file, 'utf8').trim()}\n`,
  );
  return [`${LIBRARIES}${table.join('\n')}\n`, ...texts];
}

try {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { platform: { type: 'string', default: THIS_PLATFORM } },
  });
  const { platform } = values;
  const file = path.resolve(positionals[0] ?? DEFAULT);
  const sections = [
    'Licences of what is linked into libtorch-serve, lies beside it, or is loaded by it.\n',
    ...libtorchSections(await resolveLibtorch({ platform }), platform),
    ...crateSections(),
    rustSection(rustOf(platform).rustc),
    ...npmSections(),
  ];
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, sections.join(LINE));
  console.log(`licenses: ${file}: ${sections.length - 1} sections`);
} catch (error) {
  console.error(`licenses: ${error.message}`);
  process.exitCode = 1;
}
