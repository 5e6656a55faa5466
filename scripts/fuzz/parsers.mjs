/**
 * The fuzzers of the native code alone; the last line is `N passed, N failed`.
 *
 * Usage: node scripts/fuzz/parsers.mjs [--seconds=60] [target …]
 */

import { sum } from '../suite.mjs';
import * as native from './native.mjs';
import * as rust from './rust.mjs';

const arguments_ = process.argv.slice(2);
const flag = arguments_.find((argument) => argument.startsWith('--seconds='));
const seconds = flag ? Number(flag.split('=')[1]) : 60;
const names = arguments_.filter((argument) => argument !== flag);
const known = [...Object.keys(rust.TARGETS), ...native.TARGETS];
const unknown = names.find((name) => !known.includes(name));
try {
  if (unknown) throw new Error(`${unknown}: no such target; there are ${known.join(', ')}`);
  if (!Number.isInteger(seconds) || seconds < 0) throw new Error(`${flag}: expected whole seconds`);
  const chosen = (all) => all.filter((name) => names.length === 0 || names.includes(name));
  const results = [];
  for (const [part, all] of [
    [rust, Object.keys(rust.TARGETS)],
    [native, native.TARGETS],
  ]) {
    const only = chosen(all);
    if (only.length > 0) results.push(await part.run({ seconds, only }));
  }
  const { passed, failed } = sum(results);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
} catch (error) {
  console.error(`fuzz: ${error.message}`);
  console.log('0 passed, 1 failed');
  process.exitCode = 1;
}
