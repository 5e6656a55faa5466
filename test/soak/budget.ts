import { type Budget, readBudget } from '../helpers/budget';

export { report } from '../helpers/budget';

/** `standard` is `npm run test:soak`, `long` is `npm run test:soak -- --long`. */
export const BUDGET: Budget = readBudget('SOAK_BUDGET');

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
