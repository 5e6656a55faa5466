import type { GuardAnswer, ScoredFinding } from './answer';
import type { Check, ModelCheck } from './file';

/** From which score on a label counts; null: it does not. What patterns find always does. */
export function thresholdOf(check: Check, label: string): number | null {
  if (check.type === 'patterns') return 0;
  if (check.labels)
    return Object.hasOwn(check.labels, label) ? (check.labels[label] as number) : null;
  return check.type === 'token-classification' ? check.threshold : null;
}

/** Whether what a check has found counts. */
export function reaches(check: Check) {
  return ({ label, score }: { readonly label: string; readonly score: number }): boolean =>
    score >= (thresholdOf(check, label) ?? Number.POSITIVE_INFINITY);
}

/** Whether something of `scores` is found. */
export function isTold(check: Check) {
  return ({ label, score, alone }: Pick<ScoredFinding, 'label' | 'score' | 'alone'>): boolean => {
    const reached = reaches(check);
    return reached({ label, score }) && (alone === null || !reached({ label, score: alone }));
  };
}

/** The check with thresholds of 0: what it finds then is all that its labels could count for. */
export function withoutThresholds(check: ModelCheck): ModelCheck {
  const labels =
    check.labels && Object.fromEntries(Object.keys(check.labels).map((label) => [label, 0]));
  const counts = { ...check, ...(labels && { labels }) };
  return counts.type === 'token-classification' ? { ...counts, threshold: 0 } : counts;
}

/** What is to be done about all that is known of texts. */
export function actionOf(
  findings: readonly { readonly action: string }[],
  others: readonly { readonly action: string }[],
): GuardAnswer['action'] {
  if ([...findings, ...others].some(({ action }) => action === 'block')) return 'block';
  return findings.some(({ action }) => action === 'redact') ? 'redact' : 'allow';
}
