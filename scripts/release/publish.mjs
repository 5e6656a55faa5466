/**
 * Publishes the npm packages of a release: the prebuilt packages of all platforms, then the main package.
 *
 *   node scripts/release/publish.mjs FOLDER [--dry-run]
 *
 * FOLDER contains one folder per platform, as `npm run release` writes it. Published versions are skipped, so that an
 * interrupted run can be repeated.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const [folder, ...flags] = process.argv.slice(2);
if (folder === undefined) throw new Error('expected the folder of the packages');
const isDryRun = flags.includes('--dry-run');

/** Tarballs by file name: the main package is in the folder of each platform. */
function findTarballs() {
  const files = fs
    .readdirSync(folder, { recursive: true })
    .map(String)
    .filter((file) => file.endsWith('.tgz'));
  const byName = new Map(files.map((file) => [path.basename(file), path.join(folder, file)]));
  const isMain = (name) => /^libtorch-serve-\d/.test(name);
  return [...byName]
    .sort(([a], [b]) => Number(isMain(a)) - Number(isMain(b)) || a.localeCompare(b))
    .map(([, file]) => file);
}

function npm(args) {
  const { status, stdout, stderr } = spawnSync('npm', args, { encoding: 'utf8' });
  return { isDone: status === 0, output: `${stdout}${stderr}` };
}

/** Name and version of a tarball. */
function identify(tarball) {
  const { isDone, output } = npm(['publish', tarball, '--dry-run', '--json', '--ignore-scripts']);
  const [, id] = /"id": "([^"]+)"/.exec(output) ?? [];
  if (!isDone || id === undefined) throw new Error(`${tarball}: ${output.trim()}`);
  return id;
}

const tarballs = findTarballs();
if (tarballs.length === 0) throw new Error(`${folder}: contains no package`);
for (const tarball of tarballs) {
  const id = identify(tarball);
  if (isDryRun) {
    console.log(`would publish ${id}`);
    continue;
  }
  if (npm(['view', id, 'version']).output.trim() !== '') {
    console.log(`is published: ${id}`);
    continue;
  }
  const args = ['publish', tarball, '--provenance', '--access', 'public', '--ignore-scripts'];
  const { isDone, output } = npm(args);
  if (!isDone) throw new Error(`${id}: ${output.trim()}`);
  console.log(`published ${id}`);
}
