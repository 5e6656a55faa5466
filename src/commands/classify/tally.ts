/** What has been counted up to a place in the inputs. */
export interface Tally {
  readonly answered: number;
  readonly rejected: number;
  readonly truncated: number;
  /** Answers by label. */
  readonly labels: Readonly<Record<string, number>>;
}

export const NOTHING: Tally = { answered: 0, rejected: 0, truncated: 0, labels: {} };

export function add(a: Tally, b: Tally): Tally {
  const labels = new Map(Object.entries(a.labels));
  for (const [label, count] of Object.entries(b.labels)) {
    labels.set(label, (labels.get(label) ?? 0) + count);
  }
  return {
    answered: a.answered + b.answered,
    rejected: a.rejected + b.rejected,
    truncated: a.truncated + b.truncated,
    labels: Object.fromEntries(labels),
  };
}
