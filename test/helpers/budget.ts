/**
 * How much a test that runs for longer or shorter does. `ci` is what `npm test` runs, a few seconds for
 * each test; `standard` is minutes; `long` is hours, with `--long`.
 */
const BUDGETS = ['ci', 'standard', 'long'] as const;
export type Budget = (typeof BUDGETS)[number];

/** Of one test. */
const TEST_TIMEOUT_MS: Readonly<Record<Budget, number>> = {
  ci: 120_000,
  standard: 1_800_000,
  long: 36_000_000,
};

/**
 * Gives the tests of this file the time of their budget.
 *
 * @param variable of the environment, which names it; without, it is `ci`
 */
export function readBudget(variable: string): Budget {
  const given = process.env[variable] ?? 'ci';
  const budget = BUDGETS.find((name) => name === given);
  if (!budget) throw new Error(`${variable}: expected ${BUDGETS.join(', ')}, received "${given}"`);
  jest.setTimeout(TEST_TIMEOUT_MS[budget]);
  return budget;
}

/** What such a test saw: on standard error, so that a run of minutes leaves its figures behind. */
export function report(what: string, figures: Readonly<Record<string, unknown>>): void {
  process.stderr.write(`${what}: ${JSON.stringify(figures)}\n`);
}
