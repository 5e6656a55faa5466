import type { GuardFileResponse, GuardResponse } from '../../client';
import { actionOf, isReported } from '../../tasks/guard/findings';
import { redact } from '../../tasks/guard/redaction';

/**
 * Computes the response of the guardrail with other thresholds for the same checks.
 *
 * @param response response that contains scores
 */
export function applyThresholds(
  texts: readonly string[],
  response: GuardResponse,
  { checks }: GuardFileResponse,
): GuardResponse {
  const isFinding = new Map(checks.map((check) => [check.name, isReported(check)]));
  const findings = (response.scores ?? []).filter((score) =>
    isFinding.get(score.check)?.({ ...score, singlePartScore: score.single_part_score }),
  );
  const redacted = redact(texts, findings);
  return {
    ...response,
    findings,
    action: actionOf(findings, [...response.errors, ...response.unchecked]),
    texts: [...redacted.texts],
    map: { ...redacted.map },
  };
}
