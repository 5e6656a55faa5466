import { byLabel, counter, type Family, gauge } from '../../serving/metrics/family';
import type { GuardState } from '../../tasks/guard/guard-state';

/** Metrics of the guardrail. The label `check` is the name in the guardrail policy. */
export function guardMetrics(state: GuardState): readonly Family[] {
  if (!state.isConfigured) return [];
  const { counts } = state;
  return [
    gauge(
      'libtorch_serve_guard_loaded',
      '1: the current guardrail policy is loaded, 0: its last load failed and the previous policy is in use.',
      () => (state.reason === null ? 1 : 0),
    ),
    counter('libtorch_serve_guard_responses_total', 'Guardrail responses by action.', () =>
      byLabel('action', counts.actions),
    ),
    counter(
      'libtorch_serve_guard_checks_total',
      'Guardrail checks by outcome; for failed checks, on_error sets the action.',
      () =>
        [...counts.checks].flatMap(([check, outcomes]) => byLabel('outcome', outcomes, { check })),
    ),
    counter(
      'libtorch_serve_guard_partial_responses_total',
      'Guardrail responses for texts that were not checked completely.',
      () => counts.limited,
    ),
  ];
}
