import { byLabel, counter, type Family, gauge } from '../../serving/metrics/family';
import type { GuardState } from '../../tasks/guard/guard-state';

/** What is counted of a guard. Names of checks are those of its file. */
export function guardMetrics(state: GuardState): readonly Family[] {
  if (!state.isConfigured) return [];
  const { counts } = state;
  return [
    gauge(
      'libtorch_serve_guard_loaded',
      '1: the guard is as its file says, 0: the file could not be loaded; what was loaded before serves on.',
      () => (state.reason === null ? 1 : 0),
    ),
    counter(
      'libtorch_serve_guard_answers_total',
      'Answers of the guard, by what is to be done.',
      () => byLabel('action', counts.actions),
    ),
    counter(
      'libtorch_serve_guard_checks_total',
      'Checks of the guard, by how they ended; failed: on_error has decided.',
      () =>
        [...counts.checks].flatMap(([check, outcomes]) => byLabel('outcome', outcomes, { check })),
    ),
    counter(
      'libtorch_serve_guard_limited_total',
      'Answers of the guard to texts that it did not look at whole.',
      () => counts.limited,
    ),
  ];
}
