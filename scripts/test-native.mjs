/**
 * Build and run the C++ suites, or those that are named; the last line is `N passed, N failed`. Without
 * GoogleTest they are skipped, which is said where scripts/test.mjs looks for it.
 *
 * Usage: node scripts/test-native.mjs [SUITE …]
 */
import fs from 'node:fs';
import path from 'node:path';
import { BUILD_FOLDER, buildNative } from './build-native.mjs';
import { runGoogleTest, SUITES } from './google-test.mjs';

const GOOGLE_TEST = ['/usr/include/gtest/gtest.h', '/usr/local/include/gtest/gtest.h'];

const given = process.argv.slice(2);
const suites = given.length > 0 ? given : SUITES;
try {
  if (GOOGLE_TEST.some((header) => fs.existsSync(header))) await runAll();
  else skipAll();
} catch (error) {
  console.error(`test:native: ${error.message}`);
  console.log('0 passed, 1 failed');
  process.exitCode = 1;
}

async function runAll() {
  await buildNative('native_tests');
  const results = suites.map((suite) => runGoogleTest(path.join(BUILD_FOLDER, 'test', suite)));
  const passed = results.reduce((sum, each) => sum + each.passed, 0);
  const failed = results.reduce((sum, each) => sum + each.failed, 0);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}

function skipAll() {
  const skipped = { what: 'GoogleTest', remedy: 'apt-get install libgtest-dev' };
  const lines = suites.map((file) => `${JSON.stringify({ file, ...skipped })}\n`).join('');
  const { SKIPPED_TESTS } = process.env;
  if (SKIPPED_TESTS === undefined) process.stderr.write(lines);
  else fs.appendFileSync(SKIPPED_TESTS, lines);
  console.log(`0 passed, 0 failed, ${suites.length} skipped`);
}
