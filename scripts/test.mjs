// Runs every test suite of the built project, and prints as its last line the sum of them all:
// `N passed, N failed`. A suite that cannot run counts as one failure.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const JEST_RESULTS = path.join(ROOT, 'build', 'jest-results.json');

/** Runs a command, shows its output as it comes, and resolves with its exit code and output. */
function run(command, args, cwd = ROOT) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
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

/** Sums the counts of all matches; `pattern` has the groups `passed` and `failed`. */
function sum(output, pattern) {
  const total = { passed: 0, failed: 0 };
  for (const { groups } of output.matchAll(pattern)) {
    total.passed += Number(groups.passed);
    total.failed += Number(groups.failed);
  }
  return total;
}

async function native() {
  const { code, output } = await run(process.execPath, ['scripts/test-native.mjs']);
  return { code, ...sum(output, /^(?<passed>\d+) passed, (?<failed>\d+) failed$/gm) };
}

async function rust() {
  // The folder of the build, so that what it has compiled is not compiled again.
  const target = path.join(ROOT, 'build', 'native', 'rust');
  const args = ['test', '--release', '--locked', '--no-fail-fast', '--target-dir', target];
  const { code, output } = await run('cargo', args, path.join(ROOT, 'native', 'hf'));
  return {
    code,
    ...sum(output, /^test result: .* (?<passed>\d+) passed; (?<failed>\d+) failed;/gm),
  };
}

async function jest() {
  mkdirSync(path.dirname(JEST_RESULTS), { recursive: true });
  rmSync(JEST_RESULTS, { force: true });
  const args = ['node_modules/jest/bin/jest.js', '--json', `--outputFile=${JEST_RESULTS}`];
  const { code } = await run(process.execPath, args);
  const results = JSON.parse(readFileSync(JEST_RESULTS, 'utf8'));
  return {
    code,
    passed: results.numPassedTests,
    failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
  };
}

const total = { passed: 0, failed: 0 };
for (const [name, suite] of Object.entries({ native, rust, jest })) {
  console.log(`\n== ${name} ==`);
  let result = { code: 1, passed: 0, failed: 0 };
  try {
    result = await suite();
  } catch (error) {
    console.error(`${name}: ${error.message}`);
  }
  // A runner that failed, or found nothing to run, without naming a failed test.
  const couldNotRun = result.failed === 0 && (result.code !== 0 || result.passed === 0);
  total.passed += result.passed;
  total.failed += result.failed + (couldNotRun ? 1 : 0);
  console.log(
    `== ${name}: ${result.passed} passed, ${result.failed} failed${couldNotRun ? ', could not run' : ''}`,
  );
}
process.exitCode = total.failed > 0 ? 1 : 0;
console.log(`\n${total.passed} passed, ${total.failed} failed`);
