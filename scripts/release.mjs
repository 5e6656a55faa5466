/**
 * Makes what a release consists of, of the build that is there (`npm run release` builds first): the
 * package, the packages of the prebuilt addon, the bill of materials, the licences of all that ships, the
 * notes, and the checksums of them all.
 *
 * Usage: npm run release [-- FOLDER] [--platform PLATFORM …]
 *
 * FOLDER: default build/release. PLATFORM: what the addon is prebuilt for, default: this machine's. Others
 * are compiled for here (scripts/cross.mjs).
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
import { parseArgs } from 'node:util';
import { BUILD_FOLDER } from './build-native.mjs';
import { crossBuild, crossFolder } from './cross.mjs';
import { THIS_PLATFORM } from './libtorch/location.cjs';
import { readSettings, shown } from './libtorch/settings.mjs';
import { PREBUILT_PLATFORMS, prebuiltName, stagePrebuilt } from './release/prebuilt.mjs';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

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

/** The names, in `target`, of the tarball with the addon for a platform, and of the licences to it. */
async function packPrebuilt(platform, { work, target, own }) {
  const isOwn = platform === THIS_PLATFORM;
  if (!isOwn) await crossBuild(platform);
  const release = path.join(isOwn ? BUILD_FOLDER : crossFolder(platform), 'Release');
  const licences = path.join(release, 'THIRD_PARTY_LICENSES');
  run(process.execPath, ['scripts/third-party-licenses.mjs', licences, `--platform=${platform}`]);
  const folder = path.join(work, platform);
  const { needs } = stagePrebuilt(folder, own, release, platform);
  if (needs) console.log(`release: the addon for ${platform} needs ${JSON.stringify(needs)}`);
  fs.copyFileSync(path.join(ROOT, 'LICENSE'), path.join(folder, 'LICENSE'));
  const tarball = pack(folder, target);
  const beside = tarball.replace(/\.tgz$/, '.licenses.txt');
  fs.copyFileSync(licences, path.join(target, beside));
  return [tarball, beside];
}

async function release(target, platforms) {
  const own = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  fs.rmSync(target, { recursive: true, force: true });
  fs.mkdirSync(target, { recursive: true });
  const work = fs.mkdtempSync(path.join(os.tmpdir(), 'release-'));
  try {
    const names = [pack(stagePackage(work), target)];
    for (const platform of platforms) {
      names.push(...(await packPrebuilt(platform, { work, target, own })));
    }
    const sbom = `${own.name}-${own.version}.cdx.json`;
    const wanted = platforms.map((platform) => `--platform=${platform}`);
    run(process.execPath, ['scripts/sbom.mjs', path.join(target, sbom), ...wanted]);
    fs.writeFileSync(path.join(target, 'NOTES.md'), notes(own.version));
    const all = [...names, sbom, 'NOTES.md'];
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
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { platform: { type: 'string', multiple: true, default: [THIS_PLATFORM] } },
  });
  const folder = path.resolve(positionals[0] ?? path.join(ROOT, 'build/release'));
  await release(folder, [...new Set(values.platform)]);
} catch (error) {
  console.error(`release: ${error.message}`);
  process.exitCode = 1;
}
