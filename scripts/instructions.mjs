/**
 * The values of INSTRUCTION_SET that this machine has, from the least to the most, one a line: what is to
 * compute the same under each limit is run once for each of them. Needs a built addon (npm run build).
 *
 *   for limit in $(node scripts/instructions.mjs); do INSTRUCTION_SET=$limit npx jest test/golden; done
 */
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUILD_FOLDER } from './build-native.mjs';

/** The same as an array, whatever INSTRUCTION_SET is here: ['portable', 'avx2', …]. */
export function limitsOfThisMachine() {
  const require = createRequire(import.meta.url);
  return require(path.join(BUILD_FOLDER, 'Release', 'libtorch_serve.node')).availableInstructions();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(limitsOfThisMachine().join('\n'));
}
