/**
 * Runs the test suites of the built project. The last lines name what was skipped, each with the command that
 * installs what it needs, and the sum of all suites: `N passed, N failed`.
 *
 *   npm test                  is this checkout sound? Minutes on two cores
 *   npm test -- instructions  and everything that compares numbers, once for each limit of the processor
 *   npm run test:all          all of that, soaks, generated requests, the supply chain, commands of documents,
 *                             and what depends on Node's defaults under each of its releases (node-versions.mjs)
 *   npm test -- node-versions the quick suites, and that
 *
 * A suite that cannot run counts as one failure. With CI=true a test that is skipped is one, too.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { limitsOfThisMachine } from './instructions.mjs';
import { nodeVersions } from './node-versions.mjs';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const JEST_RESULTS = path.join(ROOT, 'build', 'jest-results.json');
/** A line of JSON for each file of tests and what it lacks: test/helpers/needs.ts. */
const SKIPPED_TESTS = path.join(ROOT, 'build', 'skipped-tests.jsonl');
/** What of test/ only `npm run test:all` runs: patterns of paths. */
const LONG = [
  ...['docs-commands/', 'supply-chain/', 'fuzz/', 'soak/', 'clients/', 'hostile/'],
  // Overload, clients that stall or fail, kills and deadlines: a quarter of a minute each.
  ...[
    ...['overload', 'batch-overload', 'network', 'metrics-unanswered'],
    ...['client-silent', 'client-retries', 'client-all', 'stalled-shutdown'],
    ...['grpc-waiting', 'grpc-memory', 'instructions', 'stream-limits'],
  ].map((name) => `http/${name}`),
  ...['classify/resume', 'lifecycle/stuck-model'],
  // Installing, and what starts services for a living: dozens of processes each.
  ...['load-failures', 'package', 'prebuilt', 'supervised', 'systemd'].map(
    (name) => `lifecycle/${name}`,
  ),
  ...[
    'classify/shipped',
    'http/deploy',
    'browser/eeg-files',
    'browser/key',
    'golden/minilm',
    'golden/model-keys-complete',
  ],
].map((pattern) => `/test/${pattern}`);
/** Suites of C++ that compute. */
const NUMERIC = ['kernels_test', 'backend_test'];

/** Runs a command, shows its output as it comes, and resolves with its exit code and output. */
function run(command, args, { cwd = ROOT, env = {} } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const [stream, target] of [
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ]) {
      stream.on('data', (chunk) => {
        output += chunk;
        target.write(chunk);
      });
    }
    child.on('error', (error) => {
      console.error(`${command}: ${error.message}`);
      resolve({ code: 1, output });
    });
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

/** Sums the counts of all matches; `pattern` has the groups `passed` and `failed`, and may have `skipped`. */
function sum(output, pattern) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const { groups } of output.matchAll(pattern)) {
    for (const name of Object.keys(total)) total[name] += Number(groups[name] ?? 0);
  }
  return total;
}

/** @param suites names of C++ suites; all of them by default */
async function native(suites = [], env = {}) {
  const args = ['scripts/test-native.mjs', ...suites];
  const { code, output } = await run(process.execPath, args, { env: { SKIPPED_TESTS, ...env } });
  const counts = /^(?<passed>\d+) passed, (?<failed>\d+) failed(?:, (?<skipped>\d+) skipped)?$/gm;
  return { code, ...sum(output, counts) };
}

async function rust() {
  // The folder of the build, so that what it has compiled is not compiled again.
  const target = path.join(ROOT, 'build', 'native', 'rust');
  const args = [
    'test',
    '--workspace',
    '--release',
    '--locked',
    '--no-fail-fast',
    '--target-dir',
    target,
  ];
  const { code, output } = await run('cargo', args, {
    cwd: path.join(ROOT, 'native'),
  });
  const counts =
    /^test result: .* (?<passed>\d+) passed; (?<failed>\d+) failed; (?<skipped>\d+) ignored;/gm;
  return { code, ...sum(output, counts) };
}

/** @param args of Jest: which files @param node the executable of Node.js that runs tests and services */
async function jest(args, env = {}, node = process.execPath) {
  rmSync(JEST_RESULTS, { force: true });
  const options = ['node_modules/jest/bin/jest.js', '--json', `--outputFile=${JEST_RESULTS}`];
  const { code } = await run(node, [...options, ...args], {
    env: { SKIPPED_TESTS, ...env },
  });
  const results = JSON.parse(readFileSync(JEST_RESULTS, 'utf8'));
  return {
    code,
    passed: results.numPassedTests,
    failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
    skipped: results.numPendingTests,
  };
}

const QUICK = {
  native,
  rust,
  jest: () => jest(['--testPathIgnorePatterns', ...LONG]),
};

/** What compares numbers, under each limit below the one that the other suites have: the machine's own. */
function underLimits() {
  const limits = limitsOfThisMachine().slice(0, -1);
  return Object.fromEntries(
    limits.flatMap((limit) => {
      const env = { INSTRUCTION_SET: limit };
      return [
        [`native, INSTRUCTION_SET=${limit}`, () => native(NUMERIC, env)],
        [`jest, INSTRUCTION_SET=${limit}`, () => jest(['--roots=test/golden'], env)],
      ];
    }),
  );
}

/** Tests of what Node.js does by default: HTTP, streams, gRPC, and the life of a process. */
function underNodeVersions() {
  const args = ['--roots=test/http', '--roots=test/lifecycle', '--roots=test/unit/streaming'];
  const ignored = ['--testPathIgnorePatterns', ...LONG];
  return Object.fromEntries(
    [...nodeVersions()].map(([major, executable]) => {
      const directory = path.dirname(executable);
      const env = { PATH: `${directory}${path.delimiter}${process.env.PATH}` };
      return [`jest, Node.js ${major}`, () => jest([...args, ...ignored], env, executable)];
    }),
  );
}

/** Runs it; a runner that failed, or found nothing to run, without naming a failed test, is a failure. */
async function count(name, suite) {
  console.log(`\n== ${name} ==`);
  let result = { code: 1, passed: 0, failed: 0, skipped: 0 };
  try {
    result = await suite();
  } catch (error) {
    console.error(`${name}: ${error.message}`);
  }
  const { code, passed, failed, skipped } = result;
  const couldNotRun = failed === 0 && (code !== 0 || passed + skipped === 0);
  const end = couldNotRun ? ', could not run' : '';
  console.log(`== ${name}: ${passed} passed, ${failed} failed, ${skipped} skipped${end}`);
  return { passed, failed: failed + (couldNotRun ? 1 : 0), skipped };
}

/** What was skipped, for what is missing, and how it is had. */
function printSkipped() {
  const lines = readFileSync(SKIPPED_TESTS, 'utf8').split('\n').filter(Boolean);
  const files = new Map();
  for (const { file, what, remedy } of lines.map((line) => JSON.parse(line))) {
    const key = `${what}: ${remedy}`;
    files.set(key, new Set(files.get(key)).add(file));
  }
  for (const [key, names] of files)
    console.log(`skipped without ${key} (${[...names].join(', ')})`);
}

const given = new Set(process.argv.slice(2));
const all = given.has('all');
const suites = {
  ...QUICK,
  ...(all && { long: () => jest(LONG) }),
  ...((all || given.has('instructions')) && underLimits()),
  ...((all || given.has('node-versions')) && underNodeVersions()),
};
mkdirSync(path.dirname(SKIPPED_TESTS), { recursive: true });
writeFileSync(SKIPPED_TESTS, '');
const total = { passed: 0, failed: 0, skipped: 0 };
for (const [name, suite] of Object.entries(suites)) {
  const result = await count(name, suite);
  for (const key of Object.keys(total)) total[key] += result[key];
}
console.log('');
printSkipped();
if (process.env.CI === 'true' && total.skipped > 0) {
  console.log(`CI=true: ${total.skipped} skipped tests count as failed`);
  total.failed += total.skipped;
}
process.exitCode = total.failed > 0 ? 1 : 0;
console.log(`${total.passed} passed, ${total.failed} failed`);
