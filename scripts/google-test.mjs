import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/** The programs of the C++ suite, CMake's target native_tests. */
export const SUITES = ['scheduler_test', 'kernels_test', 'backend_test'];

/**
 * Runs a program of GoogleTest's and reads its own report. A crash counts as a failure, and so does
 * an exit code that a sanitizer gives when every test has passed.
 *
 * @param env added to the environment
 * @param runner a command that runs it, where this machine cannot
 * @returns how many tests passed and failed
 */
export function runGoogleTest(program, env = {}, runner = []) {
  const report = `${program}.json`;
  fs.rmSync(report, { force: true });
  console.log(`\n${path.basename(program)}`);
  const [command, ...args] = [...runner, program];
  args.push('--gtest_brief=1', `--gtest_output=json:${report}`);
  const result = spawnSync(command, args, {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  if (!fs.existsSync(report)) return { passed: 0, failed: 1 };
  const { tests, failures, errors } = JSON.parse(fs.readFileSync(report, 'utf8'));
  const failed = failures + errors;
  return { passed: tests - failed, failed: failed || (result.status === 0 ? 0 : 1) };
}
