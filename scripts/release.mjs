/**
 * Makes what a release consists of, of the build that is there (`npm run release` builds first): the
 * package, the package of the prebuilt addon for this platform, the bill of materials, the licences of all
 * that ships, the notes, and the checksums of them all.
 *
 * Usage: npm run release [-- FOLDER]     FOLDER: default build/release
 *
 * The package names the Python package index that LibTorch is fetched from by those who have set
 * none: the one that is set on this machine, or pip's own. The repository names none.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSettings, shown } from './libtorch/settings.mjs';
import { PREBUILT_PLATFORMS, prebuiltName, stagePrebuilt } from './release/prebuilt.mjs';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const RELEASE = path.join(ROOT, 'build/native/Release');

function run(command, args, cwd = ROOT) {
  const { error, status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (error || status !== 0) {
    throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? stderr.trim()}`);
  }
  return stdout;
}

/** Name of the tarball, in `target`. */
function pack(folder, target) {
  const args = ['pack', '--ignore-scripts', '--json', '--loglevel=error', '--pack-destination'];
  const [{ filename }] = Object.values(JSON.parse(run('npm', [...args, target], folder)));
  return filename;
}

/** libtorch-serve as it is published: with the prebuilt addons as optional dependencies, and an index. */
function stagePackage(work) {
  const tarball = pack(ROOT, work);
  run('tar', ['-xzf', tarball], work);
  const folder = path.join(work, 'package');
  const file = path.join(folder, 'package.json');
  const manifest = JSON.parse(fs.readFileSync(file, 'utf8'));
  manifest.optionalDependencies = Object.fromEntries(
    PREBUILT_PLATFORMS.map((platform) => [prebuiltName(platform), manifest.version]),
  );
  fs.writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
  const [index] = readSettings().indexes;
  if (!index) {
    throw new Error('no Python package index is known to name in the package: set PIP_INDEX_URL');
  }
  fs.writeFileSync(path.join(folder, 'scripts/libtorch/default-index.txt'), `${shown(index)}\n`);
  console.log(`release: who has set no index gets LibTorch from ${shown(index)}`);
  return folder;
}

/** The section of this version in CHANGELOG.md. */
function notes(version) {
  const sections = fs.readFileSync(path.join(ROOT, 'CHANGELOG.md'), 'utf8').split(/^(?=## )/m);
  const found = sections.find((section) => /^## \[?([^\]\s]+)/.exec(section)?.[1] === version);
  if (!found) throw new Error(`CHANGELOG.md has no section "## ${version}"`);
  return found;
}

function checksums(folder, names) {
  const lines = names.map((name) => {
    const hash = createHash('sha256').update(fs.readFileSync(path.join(folder, name)));
    return `${hash.digest('hex')}  ${name}\n`;
  });
  fs.writeFileSync(path.join(folder, 'SHA256SUMS'), lines.join(''));
}

function release(target) {
  const own = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  fs.rmSync(target, { recursive: true, force: true });
  fs.mkdirSync(target, { recursive: true });
  const work = fs.mkdtempSync(path.join(os.tmpdir(), 'release-'));
  try {
    run(process.execPath, ['scripts/third-party-licenses.mjs']);
    const prebuilt = path.join(work, 'prebuilt');
    const { needs } = stagePrebuilt(prebuilt, own, RELEASE);
    if (needs) console.log(`release: the addon needs ${JSON.stringify(needs)}`);
    fs.copyFileSync(path.join(ROOT, 'LICENSE'), path.join(prebuilt, 'LICENSE'));
    const names = [pack(stagePackage(work), target), pack(prebuilt, target)];
    const sbom = `${own.name}-${own.version}.cdx.json`;
    run(process.execPath, ['scripts/sbom.mjs', path.join(target, sbom)]);
    const licences = names[1].replace(/\.tgz$/, '.licenses.txt');
    fs.copyFileSync(path.join(RELEASE, 'THIRD_PARTY_LICENSES'), path.join(target, licences));
    fs.writeFileSync(path.join(target, 'NOTES.md'), notes(own.version));
    const all = [...names, sbom, licences, 'NOTES.md'];
    checksums(target, all);
    for (const name of [...all, 'SHA256SUMS']) {
      console.log(
        `release: ${path.join(target, name)}: ${fs.statSync(path.join(target, name)).size} bytes`,
      );
    }
  } finally {
    fs.rmSync(work, { recursive: true });
  }
}

try {
  release(path.resolve(process.argv[2] ?? path.join(ROOT, 'build/release')));
} catch (error) {
  console.error(`release: ${error.message}`);
  process.exitCode = 1;
}
