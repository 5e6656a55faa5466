/** How a check ended: it found something, or nothing; it could not run, or was not awaited. */
export const OUTCOMES = ['found', 'passed', 'failed', 'skipped'] as const;
export type CheckOutcome = (typeof OUTCOMES)[number];

export const GUARD_ACTIONS = ['allow', 'redact', 'block'] as const;

/** What guards have answered in this event loop, for metrics; it outlives their files. */
export class GuardCounters {
  readonly actions: Record<(typeof GUARD_ACTIONS)[number], number> = {
    allow: 0,
    redact: 0,
    block: 0,
  };
  /** By the name of the check. */
  readonly checks = new Map<string, Record<CheckOutcome, number>>();
  /** Requests of which something was not looked at. */
  limited = 0;
  /** Checks that are counted; null: any. */
  #names: ReadonlySet<string> | null = null;

  /** Counts these checks from now on, and forgets the others, which the file has no more. */
  keep(names: readonly string[]): void {
    this.#names = new Set(names);
    for (const name of this.checks.keys()) if (!this.#names.has(name)) this.checks.delete(name);
  }

  count(check: string, outcome: CheckOutcome): void {
    if (this.#names?.has(check) === false) return;
    let counted = this.checks.get(check);
    if (!counted) {
      counted = { found: 0, passed: 0, failed: 0, skipped: 0 };
      this.checks.set(check, counted);
    }
    counted[outcome]++;
  }
}
