import type { GuardFileJson, GuardJson } from '../../client';
import { redact } from '../../tasks/guard/redaction';
import { actionOf, isTold } from '../../tasks/guard/thresholds';

/**
 * What the guard would answer with the thresholds of another file of the same checks.
 *
 * @param answer with scores
 */
export function judge(
  texts: readonly string[],
  answer: GuardJson,
  { checks }: GuardFileJson,
): GuardJson {
  const counts = new Map(checks.map((check) => [check.name, isTold(check)]));
  const findings = (answer.scores ?? []).filter((one) => counts.get(one.check)?.(one));
  const redacted = redact(texts, findings);
  return {
    ...answer,
    findings,
    action: actionOf(findings, [...answer.errors, ...answer.not_looked_at]),
    texts: [...redacted.texts],
    map: { ...redacted.map },
  };
}
