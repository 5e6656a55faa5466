import { type Budget, readBudget } from '../helpers/budget';

export { report } from '../helpers/budget';

/** `standard` is `npm run test:soak`, `long` is `npm run test:soak -- --long`. */
export const BUDGET: Budget = readBudget('SOAK_BUDGET');

/** The count, or time, that belongs to the budget. */
export function budgeted(amounts: Readonly<Record<Budget, number>>): number {
  return amounts[BUDGET];
}
