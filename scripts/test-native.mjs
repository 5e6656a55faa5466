/** Build and run the C++ suite; the last line is `N passed, N failed`. */
import path from 'node:path';
import { BUILD_FOLDER, buildNative } from './build-native.mjs';
import { runGoogleTest, SUITES } from './google-test.mjs';

try {
  await buildNative('native_tests');
  const results = SUITES.map((suite) => runGoogleTest(path.join(BUILD_FOLDER, 'test', suite)));
  const passed = results.reduce((sum, each) => sum + each.passed, 0);
  const failed = results.reduce((sum, each) => sum + each.failed, 0);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
} catch (error) {
  console.error(`test:native: ${error.message}`);
  console.log('0 passed, 1 failed');
  process.exitCode = 1;
}
