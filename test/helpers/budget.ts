/**
 * How much a test that runs for longer or shorter does. `ci` is what `npm test` runs, a few seconds for
 * each test; `standard` is minutes; `long` is hours, with `--long`.
 */
const BUDGETS = ['ci', 'standard', 'long'] as const;
export type Budget = (typeof BUDGETS)[number];

/** @param variable of the environment, which names it; without, it is `ci` */
export function readBudget(variable: string): Budget {
  const given = process.env[variable] ?? 'ci';
  const budget = BUDGETS.find((name) => name === given);
  if (!budget) throw new Error(`${variable}: expected ${BUDGETS.join(', ')}, received "${given}"`);
  return budget;
}

/** What such a test saw: on standard error, so that a run of minutes leaves its figures behind. */
export function report(what: string, figures: Readonly<Record<string, unknown>>): void {
  process.stderr.write(`${what}: ${JSON.stringify(figures)}\n`);
}
