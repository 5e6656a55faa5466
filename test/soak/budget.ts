import { readBudget } from '../helpers/budget';

export { report } from '../helpers/budget';

/** `standard` is `npm run test:soak`, `long` is `npm run test:soak -- --long`. */
export const { BUDGET, budgeted } = readBudget('SOAK_BUDGET');
