import type { Finding, NotLookedAt, ScoredFinding } from './answer';
import type { Check } from './file';
import type { Place } from './looks';
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
  const together = hits.filter(({ look, label, start, end }) => {
    if (look.part !== null) return false;
    const places = look.placesOf(start, end);
    const own = alone.filter((one) => one.label === label);
    return !places.some((place) => own.some((one) => overlap(one, place)));
  });
  return [...alone, ...distinct(check, together)];
}

/** The same of hits below the thresholds, with what decides then whether one is told. */
export function scoresOf(check: Check, hits: readonly Hit[]): readonly ScoredFinding[] {
  const alone = distinct(
    check,
    hits.filter(({ look }) => look.part !== null),
  );
  const together = hits
    .filter(({ look }) => look.part === null)
    .flatMap((hit) => {
      const places = hit.look.placesOf(hit.start, hit.end);
      const over = alone.filter(
        (one) => one.label === hit.label && places.some((place) => overlap(one, place)),
      );
      const highest = over.reduce<number | null>(
        (most, { score }) => Math.max(most ?? 0, score),
        null,
      );
      return distinct(check, [hit]).map((one) => ({ ...one, alone: highest }));
    });
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

function overlap({ part, start, end }: Finding, place: Place): boolean {
  if (part !== place.part) return false;
  return (start ?? 0) < place.end && place.start < (end ?? Number.POSITIVE_INFINITY);
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
      ...{ check: name, part: place?.part ?? look.part, start: place?.start ?? null },
      ...{ limit: 'windows', action },
    };
  });
}
