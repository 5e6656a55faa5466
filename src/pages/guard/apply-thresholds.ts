import type { GuardFileJson, GuardJson } from '../../client';
import { redact } from '../../tasks/guard/redaction';
import { actionOf, isTold } from '../../tasks/guard/thresholds';

/**
 * Computes the response of the guardrail with other thresholds for the same checks.
 *
 * @param response response that contains scores
 */
export function applyThresholds(
  texts: readonly string[],
  response: GuardJson,
  { checks }: GuardFileJson,
): GuardJson {
  const isFinding = new Map(checks.map((check) => [check.name, isTold(check)]));
  const findings = (response.scores ?? []).filter((score) => isFinding.get(score.check)?.(score));
  const redacted = redact(texts, findings);
  return {
    ...response,
    findings,
    action: actionOf(findings, [...response.errors, ...response.not_looked_at]),
    texts: [...redacted.texts],
    map: { ...redacted.map },
  };
}
