/**
 * How much the soak tests do. `ci` is what `npm test` runs, a few seconds for each test; `standard` is
 * `npm run test:soak`, minutes; `long` is `npm run test:soak -- --long`, hours.
 */
const BUDGETS = ['ci', 'standard', 'long'] as const;
type Budget = (typeof BUDGETS)[number];

export const BUDGET: Budget = readBudget();

const TEST_TIMEOUT_MS: Readonly<Record<Budget, number>> = {
  ci: 120_000,
  standard: 1_800_000,
  long: 36_000_000,
};
jest.setTimeout(TEST_TIMEOUT_MS[BUDGET]);

/** The count, or time, that belongs to the budget. */
export function budgeted(amounts: Readonly<Record<Budget, number>>): number {
  return amounts[BUDGET];
}

/** What a soak saw: on standard error, so that a run of minutes leaves its figures behind. */
export function report(what: string, figures: Readonly<Record<string, unknown>>): void {
  process.stderr.write(`${what}: ${JSON.stringify(figures)}\n`);
}

function readBudget(): Budget {
  const given = process.env.SOAK_BUDGET ?? 'ci';
  const budget = BUDGETS.find((name) => name === given);
  if (!budget) throw new Error(`SOAK_BUDGET: expected ${BUDGETS.join(', ')}, received "${given}"`);
  return budget;
}
