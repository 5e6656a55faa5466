/** Outcomes of a check: finding, no finding, error, or skipped after a check with stop_on_match. */
export const OUTCOMES = ['found', 'passed', 'failed', 'skipped'] as const;
export type CheckOutcome = (typeof OUTCOMES)[number];

export const GUARD_ACTIONS = ['allow', 'redact', 'block'] as const;

/** Counters of the guardrail for metrics. They persist when the policy is reloaded. */
export class GuardCounters {
  readonly actions: Record<(typeof GUARD_ACTIONS)[number], number> = {
    allow: 0,
    redact: 0,
    block: 0,
  };
  /** Counters by check name. */
  readonly checks = new Map<string, Record<CheckOutcome, number>>();
  /** Number of requests that exceeded a limit of the policy. */
  limited = 0;
  /** Checks to count; null: all. */
  #names: ReadonlySet<string> | null = null;

  /** Restricts the counters to these checks and removes the counters of all other checks. */
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
