import type { Check, ModelCheck } from './guard-file';
import type { GuardResult, ScoredFinding } from './guard-result';

/** From which score on a label counts; null: it does not. What patterns find always does. */
export function thresholdOf(check: Check, label: string): number | null {
  if (check.type === 'patterns') return 0;
  if (check.labels)
    return Object.hasOwn(check.labels, label) ? (check.labels[label] as number) : null;
  return check.type === 'token-classification' ? check.threshold : null;
}

/** Whether what a check has found counts. */
export function reachesThreshold(check: Check) {
  return ({ label, score }: { readonly label: string; readonly score: number }): boolean =>
    score >= (thresholdOf(check, label) ?? Number.POSITIVE_INFINITY);
}

/** Whether something of `scores` is found. */
export function isReported(check: Check) {
  return ({
    label,
    score,
    singlePartScore: alone,
  }: Pick<ScoredFinding, 'label' | 'score' | 'singlePartScore'>): boolean => {
    const reached = reachesThreshold(check);
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
): GuardResult['action'] {
  if ([...findings, ...others].some(({ action }) => action === 'block')) return 'block';
  return findings.some(({ action }) => action === 'redact') ? 'redact' : 'allow';
}
