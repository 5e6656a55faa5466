/**
 * What tries to break the services, with a budget of minutes, or with --long of hours.
 *
 *   requests    generated bodies over all routes; HTTP that is none, directly and behind nginx
 *   texts       texts at their worst for each tokenizer
 *   javascript  coverage-guided: schemas, EEG files of the page, z-normalization, traceparent
 *   parsers     coverage-guided: what reads the files of a model, in C++ and Rust (needs clang)
 *
 * Usage: node scripts/test-fuzz.mjs [--long] [part …], default: all
 *
 * FUZZ_SEED=N chooses what is generated; a failure names the seed that repeats it.
 */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

/** Each takes the budget, and says whether nothing was found. */
const PARTS = {
  requests: (budget) => runJest(budget, ['requests.test', 'smuggling.test']),
  streams: (budget) => runJest(budget, ['streams.test']),
  texts: (budget) => runJest(budget, ['texts.test']),
  javascript: (budget) => runJest(budget, ['javascript.test']),
  parsers: (budget) =>
    run(process.execPath, ['scripts/fuzz/parsers.mjs', `--seconds=${SECONDS[budget]}`]),
};

/** Of each target of the parsers. */
const SECONDS = { standard: 60, long: 3600 };

/** Files of test/fuzz. */
function runJest(budget, files) {
  const patterns = files.map((file) => `test/fuzz/${file}`);
  const args = ['--runInBand', '--roots=test/fuzz', '--', ...patterns];
  return run(process.execPath, ['node_modules/jest/bin/jest.js', ...args], { FUZZ_BUDGET: budget });
}

function run(command, args, env = {}) {
  const options = { cwd: ROOT, stdio: 'inherit', env: { ...process.env, ...env } };
  return spawnSync(command, args, options).status === 0;
}

const given = process.argv.slice(2);
const names = given.filter((argument) => argument !== '--long');
const budget = names.length < given.length ? 'long' : 'standard';
const unknown = names.find((name) => !Object.hasOwn(PARTS, name));
if (unknown !== undefined) {
  console.error(`${unknown}: no such part, expected ${Object.keys(PARTS).join(', ')}`);
  process.exit(2);
}
const failed = [];
for (const name of names.length > 0 ? names : Object.keys(PARTS)) {
  console.log(`\n== fuzz: ${name} (${budget}) ==`);
  if (!PARTS[name](budget)) failed.push(name);
}
if (failed.length > 0) console.error(`failed: ${failed.join(', ')}`);
process.exitCode = failed.length > 0 ? 1 : 0;
