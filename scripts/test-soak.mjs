/**
 * The tests of test/soak, one after the other, with a budget of minutes, or with --long of hours.
 *
 * Usage: node scripts/test-soak.mjs [--long] [pattern of file names …]
 */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const given = process.argv.slice(2);
const patterns = given.filter((argument) => argument !== '--long');
const budget = patterns.length < given.length ? 'long' : 'standard';
const { status } = spawnSync(
  process.execPath,
  ['node_modules/jest/bin/jest.js', '--runInBand', '--roots=test/soak', '--', ...patterns],
  { cwd: ROOT, stdio: 'inherit', env: { ...process.env, SOAK_BUDGET: budget } },
);
process.exitCode = status ?? 1;
