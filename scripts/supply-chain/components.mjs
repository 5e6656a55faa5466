/**
 * What this is made of, as the lock files have it.
 *
 * A component: { name, version, licence (SPDX expression, or undefined), ships, sha256?, folder? }.
 * `ships`: it runs or is passed on with a service, and is not for building and testing only.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { LIBTORCH_VERSION, PLATFORMS } from '../libtorch/location.cjs';

/** devDependencies whose code scripts/build-pages.mjs and build-docs.mjs put into dist/pages. */
export const IN_THE_PAGES = [
  '@preact/signals',
  '@preact/signals-core',
  'csv-parse',
  'preact',
  'swagger-ui-dist',
  'uplot',
];

/** Where services run: as PLATFORMS, in Rust's words. */
const RUST_TARGETS = ['x86_64-unknown-linux-gnu', 'aarch64-unknown-linux-gnu'];

const GCC = 'GPL-3.0-or-later WITH GCC-exception-3.1';
const CUDA = 'LicenseRef-NVIDIA-CUDA-EULA';
const NVPL = 'LicenseRef-NVIDIA-NVPL-EULA';

/** Licences of the libraries that are taken out of the wheels, by the name's beginning. */
const LIBRARY_LICENCES = {
  'libtorch_cpu.': 'BSD-3-Clause',
  'libc10.': 'BSD-3-Clause',
  'libgomp.': GCC,
  libarm_compute: 'MIT',
  libnvpl_: NVPL,
  'libcudart.': CUDA,
  'libcupti.': CUDA,
};

/** Of npm packages whose package.json names none: what their LICENSE file says. */
const LICENCES_READ = { 'cohere-ai': 'MIT' };

/** Every package of package-lock.json, those for other platforms included. */
export function npmPackages(root) {
  const lock = JSON.parse(fs.readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
  return Object.entries(lock.packages)
    .filter(([key]) => key !== '')
    .map(([key, entry]) => {
      const name = entry.name ?? key.slice(key.lastIndexOf('node_modules/') + 13);
      return {
        key,
        name,
        version: entry.version,
        licence: entry.license ?? LICENCES_READ[name],
        ships: !entry.dev || IN_THE_PAGES.includes(name),
        integrity: entry.integrity,
        resolved: entry.resolved,
        runsAtInstallation: entry.hasInstallScript === true,
      };
    });
}

/**
 * The crates of native/Cargo.lock, except our own. Throws when Cargo.lock is not complete, or a crate can neither
 * be found here nor fetched.
 */
export function crates(root) {
  const folder = path.join(root, 'native');
  const metadata = cargoMetadata(folder);
  const filtered = cargoMetadata(
    folder,
    RUST_TARGETS.flatMap((target) => ['--filter-platform', target]),
  );
  const linked = linkedCrates(filtered);
  const checksums = cargoChecksums(path.join(folder, 'Cargo.lock'));
  return metadata.packages
    .filter((crate) => crate.source)
    .map((crate) => ({
      name: crate.name,
      version: crate.version,
      licence: crate.license,
      ships: linked.has(crate.id),
      sha256: checksums.get(`${crate.name} ${crate.version}`),
      folder: path.dirname(crate.manifest_path),
      repository: crate.repository,
    }));
}

/** `cargo metadata` of the lock file as it is: it is an error if it would have to change. */
export function cargoMetadata(folder, args = []) {
  const command = ['metadata', '--locked', '--format-version=1', ...args];
  const run = spawnSync('cargo', command, { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (run.error) throw new Error(`cargo: ${run.error.message}`);
  if (run.status !== 0) throw new Error(`cargo ${command.join(' ')}: ${run.stderr.trim()}`);
  return JSON.parse(run.stdout);
}

/** Ids of what ends in the static library: no build scripts, no macros with what only they need. */
function linkedCrates({ packages, resolve }) {
  const byId = new Map(packages.map((crate) => [crate.id, crate]));
  const nodes = new Map(resolve.nodes.map((node) => [node.id, node]));
  const linked = new Set();
  const visit = (id) => {
    const isMacro = byId.get(id).targets.some(({ kind }) => kind.includes('proc-macro'));
    if (isMacro || linked.has(id)) return;
    linked.add(id);
    for (const { pkg, dep_kinds: kinds } of nodes.get(id).deps) {
      if (kinds.some(({ kind }) => kind === null)) visit(pkg);
    }
  };
  visit(resolve.root);
  return linked;
}

/** "name version" to SHA-256 of the crate's archive. */
export function cargoChecksums(file) {
  const blocks = fs.readFileSync(file, 'utf8').split('[[package]]').slice(1);
  const value = (block, key) => new RegExp(`^${key} = "(.*)"$`, 'm').exec(block)?.[1];
  return new Map(
    blocks
      .filter((block) => value(block, 'source'))
      .map((block) => [
        `${value(block, 'name')} ${value(block, 'version')}`,
        value(block, 'checksum'),
      ]),
  );
}

/** The wheels of each platform: { platform, name, version, file, size, sha256 }. */
export function wheels(root) {
  const file = path.join(root, 'scripts/libtorch/libtorch.json');
  const { platforms } = JSON.parse(fs.readFileSync(file, 'utf8'));
  return Object.entries(platforms).flatMap(([platform, { wheels }]) =>
    wheels.map((wheel) => ({ platform, ...wheel })),
  );
}

/** The libraries that are kept of the wheels: one component for each name. */
export function libraries() {
  const names = new Set(Object.values(PLATFORMS).flatMap((platform) => platform.libraries));
  return [...names].map((name) => ({
    name,
    version: LIBTORCH_VERSION,
    licence: Object.entries(LIBRARY_LICENCES).find(([start]) => name.startsWith(start))?.[1],
    ships: true,
  }));
}

/** The lines of a pip requirements file: { name, version (undefined where not pinned), hashes }. */
export function requirements(file) {
  const text = fs.readFileSync(file, 'utf8').replaceAll(/\\\r?\n/g, ' ');
  return text
    .split(/\r?\n/)
    .map((line) => line.replace(/(^|\s)#.*$/, '').trim())
    .filter(Boolean)
    .map((line) => ({
      line,
      name: /^[\w.-]+/.exec(line)?.[0],
      version: /^[\w.-]+(?:\[[^\]]*\])?==([^\s*;]+)(?=[\s;]|$)/.exec(line)?.[1],
      hashes: [...line.matchAll(/--hash=sha256:([0-9a-f]{64})\b/g)].map((match) => match[1]),
    }));
}
