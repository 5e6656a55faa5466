/**
 * Installs the tarballs of a release in root file systems that have Node.js and nothing else, and serves.
 * Minutes; needs root, debootstrap, and the network (apt, npm and a Python package index).
 *
 * Usage: npm run test:install            RELEASE names another release of Debian than bookworm
 */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const { status } = spawnSync(
  process.execPath,
  ['node_modules/jest/bin/jest.js', '--runInBand', '--roots=test/install'],
  { cwd: ROOT, stdio: 'inherit' },
);
process.exitCode = status ?? 1;
