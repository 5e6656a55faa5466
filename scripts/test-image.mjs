/**
 * Builds the Dockerfile with buildah, on bases of Debian's and npm's packages, and runs what comes out as
 * container engines do. Many minutes and 8 GB of disk; needs root, buildah, debootstrap, cargo and the network.
 *
 * Usage: npm run test:image
 */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const { status } = spawnSync(
  process.execPath,
  ['node_modules/jest/bin/jest.js', '--runInBand', '--roots=test/image'],
  { cwd: ROOT, stdio: 'inherit' },
);
process.exitCode = status ?? 1;
