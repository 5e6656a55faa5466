import { setTestLimit } from './until';

/**
 * How much a test that runs for longer or shorter does. `ci` is what `npm test` runs, a few seconds for
 * each test; `standard` is minutes; `long` is hours, with `--long`.
 */
const BUDGETS = ['ci', 'standard', 'long'] as const;
type Budget = (typeof BUDGETS)[number];

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
 * @returns the budget, and what picks the amount that belongs to it
 */
export function readBudget(variable: string) {
  const given = process.env[variable] ?? 'ci';
  const BUDGET = BUDGETS.find((name) => name === given);
  if (!BUDGET) throw new Error(`${variable}: expected ${BUDGETS.join(', ')}, received "${given}"`);
  setTestLimit(TEST_TIMEOUT_MS[BUDGET]);
  const budgeted = <Amount>(amounts: Readonly<Record<Budget, Amount>>): Amount => amounts[BUDGET];
  return { BUDGET, budgeted };
}

/** What such a test saw: on standard error, so that a run of minutes leaves its figures behind. */
export function report(what: string, figures: Readonly<Record<string, unknown>>): void {
  process.stderr.write(`${what}: ${JSON.stringify(figures)}\n`);
}
