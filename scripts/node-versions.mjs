/**
 * Releases of Node.js besides the one in use, from npm's `node-linux-*` packages: installs them into
 * test/node-versions and prints the path of each executable.
 *
 *   node scripts/node-versions.mjs                 # a line for each: major version, path
 *   $(node scripts/node-versions.mjs 24) node_modules/.bin/jest test/http   # the path of one
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../test/node-versions');
const ALIAS = new RegExp(`^node-(\\d+)-${process.arch}$`);

/** Executables by major version; installs the packages if one is missing. @throws Error: they cannot be installed */
export function nodeVersions() {
  const { optionalDependencies } = JSON.parse(
    readFileSync(path.join(FOLDER, 'package.json'), 'utf8'),
  );
  const executables = new Map(
    Object.keys(optionalDependencies).flatMap((name) => {
      const major = ALIAS.exec(name)?.[1];
      return major ? [[major, path.join(FOLDER, 'node_modules', name, 'bin', 'node')]] : [];
    }),
  );
  if (![...executables.values()].every(existsSync)) install();
  return executables;
}

function install() {
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: FOLDER,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) throw new Error(`npm ci in ${path.basename(FOLDER)} failed, see above`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [wanted] = process.argv.slice(2);
  const versions = nodeVersions();
  if (wanted) console.log(versions.get(wanted) ?? `no Node.js ${wanted}`);
  else for (const [major, executable] of versions) console.log(`${major} ${executable}`);
}
