import type { Hit, UnreadText } from './check-result';
import type { Check } from './guard-file';
import type { Finding, ScoredFinding, Unchecked } from './guard-result';
import { highestScores } from './overlaps';

/**
 * One for each part that a hit lies in; of equal ones the surest. Of all parts together only what does not
 * lie over what one of them has alone: a name that ends a part is not one with the address that begins the next.
 */
export function toFindings(check: Check, hits: readonly Hit[]): readonly Finding[] {
  const alone = distinct(
    check,
    hits.filter(({ variant: look }) => look.part !== null),
  );
  const joined = hits.filter(({ variant: look }) => look.part === null);
  const highest = highestScores(joined, alone);
  const together = joined.filter((_, index) => highest[index] === null);
  return [...alone, ...distinct(check, together)];
}

/** The same of hits below the thresholds, with what decides then whether one is told. */
export function toScoredFindings(check: Check, hits: readonly Hit[]): readonly ScoredFinding[] {
  const alone = distinct(
    check,
    hits.filter(({ variant: look }) => look.part !== null),
  );
  const joined = hits.filter(({ variant: look }) => look.part === null);
  const highest = highestScores(joined, alone);
  const together = joined.flatMap((hit, index) =>
    distinct(check, [hit]).map((one) => ({
      ...one,
      singlePartScore: highest[index] as number | null,
    })),
  );
  return [...alone.map((one) => ({ ...one, singlePartScore: null })), ...together];
}

function distinct({ name, action }: Check, hits: readonly Hit[]): readonly Finding[] {
  const found = new Map<string, Finding>();
  for (const { variant: look, label, score, start, end } of hits) {
    const isWhole = look.coversWhole(start, end);
    const places = isWhole
      ? [{ part: look.part, start: null, end: null }]
      : look.toOriginalSpans(start, end);
    for (const place of places) {
      const key = `${place.part} ${place.start} ${place.end} ${label}`;
      const known = found.get(key);
      if (known && known.score >= score) continue;
      found.set(key, { check: name, label, score, ...place, variant: look.name, action });
    }
  }
  return [...found.values()];
}

/** By part and place; those of all parts first. */
export function sortFindings<One extends Finding>(findings: readonly One[]): readonly One[] {
  const place = ({ part, start }: Finding) => [part ?? -1, start ?? -1] as const;
  return findings.toSorted((a, b) => {
    const [[partA, startA], [partB, startB]] = [place(a), place(b)];
    return partA - partB || startA - startB;
  });
}

/** What lies behind the last window that was read. */
export function toUnchecked(
  { name }: Check,
  unread: readonly UnreadText[],
  action: Unchecked['action'],
): readonly Unchecked[] {
  return unread.map(({ variant: look, start }) => {
    const [place] = look.toOriginalSpans(start, look.text.length);
    return {
      check: name,
      part: place?.part ?? look.part,
      start: place?.start ?? null,
      limit: 'windows',
      action,
    };
  });
}
