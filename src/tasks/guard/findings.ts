import type { Finding, NotLookedAt, ScoredFinding } from './answer';
import type { Check } from './file';
import { highestScores } from './overlaps';
import type { Hit, Unread } from './ran';

/**
 * One for each part that a hit lies in; of equal ones the surest. Of all parts together only what does not
 * lie over what one of them has alone: a name that ends a part is not one with the address that begins the next.
 */
export function findingsOf(check: Check, hits: readonly Hit[]): readonly Finding[] {
  const alone = distinct(
    check,
    hits.filter(({ look }) => look.part !== null),
  );
  const joined = hits.filter(({ look }) => look.part === null);
  const highest = highestScores(joined, alone);
  const together = joined.filter((_, index) => highest[index] === null);
  return [...alone, ...distinct(check, together)];
}

/** The same of hits below the thresholds, with what decides then whether one is told. */
export function scoresOf(check: Check, hits: readonly Hit[]): readonly ScoredFinding[] {
  const alone = distinct(
    check,
    hits.filter(({ look }) => look.part !== null),
  );
  const joined = hits.filter(({ look }) => look.part === null);
  const highest = highestScores(joined, alone);
  const together = joined.flatMap((hit, index) =>
    distinct(check, [hit]).map((one) => ({ ...one, alone: highest[index] as number | null })),
  );
  return [...alone.map((one) => ({ ...one, alone: null })), ...together];
}

function distinct({ name, action }: Check, hits: readonly Hit[]): readonly Finding[] {
  const found = new Map<string, Finding>();
  for (const { look, label, score, start, end } of hits) {
    const isWhole = look.isWhole(start, end);
    const places = isWhole
      ? [{ part: look.part, start: null, end: null }]
      : look.placesOf(start, end);
    for (const place of places) {
      const key = `${place.part} ${place.start} ${place.end} ${label}`;
      const known = found.get(key);
      if (known && known.score >= score) continue;
      found.set(key, { check: name, label, score, ...place, view: look.view, action });
    }
  }
  return [...found.values()];
}

/** By part and place; those of all parts first. */
export function inOrder<One extends Finding>(findings: readonly One[]): readonly One[] {
  const place = ({ part, start }: Finding) => [part ?? -1, start ?? -1] as const;
  return findings.toSorted((a, b) => {
    const [[partA, startA], [partB, startB]] = [place(a), place(b)];
    return partA - partB || startA - startB;
  });
}

/** What lies behind the last window that was read. */
export function unreadBy(
  { name }: Check,
  unread: readonly Unread[],
  action: NotLookedAt['action'],
): readonly NotLookedAt[] {
  return unread.map(({ look, start }) => {
    const [place] = look.placesOf(start, look.text.length);
    return {
      check: name,
      part: place?.part ?? look.part,
      start: place?.start ?? null,
      limit: 'windows',
      action,
    };
  });
}
