import { readBudget } from '../helpers/budget';

export { report } from '../helpers/budget';

/** `standard` is `npm run test:fuzz`, `long` is `npm run test:fuzz -- --long`. */
export const { BUDGET, budgeted } = readBudget('FUZZ_BUDGET');

/** What is generated follows from it alone: `FUZZ_SEED=5 npm run test:fuzz` repeats a run. */
export const SEED: number = readSeed();

function readSeed(): number {
  const given = process.env.FUZZ_SEED ?? '1';
  if (!/^\d{1,9}$/.test(given))
    throw new Error(`FUZZ_SEED: expected a number, received "${given}"`);
  return Number(given);
}
