/** A suite in parts, each of which returns how many tests passed and failed. */

/** @param results of parts: { passed, failed } each */
export function sum(results) {
  return results.reduce(
    (total, { passed, failed }) => ({
      passed: total.passed + passed,
      failed: total.failed + failed,
    }),
    { passed: 0, failed: 0 },
  );
}

/**
 * Runs parts in turn, whatever the others come to; the last line is `N passed, N failed`, and so is the exit
 * code.
 *
 * @param name of the suite, for headings
 * @param parts functions by name
 * @param names of those that are wanted
 */
export async function runSuite(name, parts, names) {
  const results = [];
  for (const part of names) {
    console.log(`\n== ${name}: ${part} ==`);
    try {
      if (!Object.hasOwn(parts, part)) throw new Error(`no such part; ${Object.keys(parts)}`);
      results.push(await parts[part]());
    } catch (error) {
      console.error(`${part}: ${error.message}`);
      results.push({ passed: 0, failed: 1 });
    }
  }
  const { passed, failed } = sum(results);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}
