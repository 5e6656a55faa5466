/** Build and run the C++ suite; the last line is `N passed, N failed`. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { BUILD_FOLDER, buildNative } from './build-native.mjs';

const SUITES = ['engine_test', 'tsan_test', 'gemm_test', 'backend_test'];

/** GoogleTest's own report of one suite: how many passed and failed. A crash counts as a failure. */
function run(suite) {
  const report = path.join(BUILD_FOLDER, 'test', `${suite}.json`);
  fs.rmSync(report, { force: true });
  console.log(`\n${suite}`);
  const result = spawnSync(
    path.join(BUILD_FOLDER, 'test', suite),
    ['--gtest_brief=1', `--gtest_output=json:${report}`],
    { stdio: 'inherit' },
  );
  if (!fs.existsSync(report)) return { passed: 0, failed: 1 };
  const { tests, failures, errors } = JSON.parse(fs.readFileSync(report, 'utf8'));
  const failed = failures + errors;
  // ThreadSanitizer ends with a status of its own when every test passed and a race was seen.
  return { passed: tests - failed, failed: failed || (result.status === 0 ? 0 : 1) };
}

try {
  await buildNative('native_tests');
  const results = SUITES.map(run);
  const passed = results.reduce((sum, each) => sum + each.passed, 0);
  const failed = results.reduce((sum, each) => sum + each.failed, 0);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
} catch (error) {
  console.error(`test:native: ${error.message}`);
  console.log('0 passed, 1 failed');
  process.exitCode = 1;
}
