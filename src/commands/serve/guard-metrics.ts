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
    counter('libtorch_serve_guard_responses_total', 'Responses of the guardrail, by action.', () =>
      byLabel('action', counts.actions),
    ),
    counter(
      'libtorch_serve_guard_checks_total',
      'Guardrail checks, by outcome; failed: on_error decides.',
      () =>
        [...counts.checks].flatMap(([check, outcomes]) => byLabel('outcome', outcomes, { check })),
    ),
    counter(
      'libtorch_serve_guard_partial_responses_total',
      'Responses of the guardrail to texts that were not inspected completely.',
      () => counts.limited,
    ),
  ];
}
