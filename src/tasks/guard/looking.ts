import type { Patterns } from '../../native/patterns';
import type { NotLookedAt } from './answer';
import type { Check, GuardFile, PatternCheck } from './file';
import { Look } from './looks';
import type { Hit } from './ran';

/** Compiled patterns, and whose each is. */
export interface OwnedPatterns {
  readonly compiled: Patterns;
  /** By the place of each. */
  readonly owners: readonly { readonly check: PatternCheck; readonly label: string }[];
}

/** What is looked at, what patterns have found in it, and what is not looked at. */
export interface Looked {
  readonly looks: readonly Look[];
  readonly hits: ReadonlyMap<Check, readonly Hit[]>;
  readonly notLookedAt: readonly NotLookedAt[];
}

const ANYWHERE = { check: null, part: null, start: null };

/** Makes the forms of texts that the checks want, and looks for patterns in them; on a native thread. */
export async function lookAt(
  texts: readonly string[],
  checks: readonly Check[],
  { compiled, owners }: OwnedPatterns,
  { limits, timeoutMs }: Pick<GuardFile, 'limits'> & { readonly timeoutMs: number },
): Promise<Looked> {
  const { on_limit: action } = limits;
  const cut = cutTo(texts, limits.characters);
  const wanted = new Set(checks.flatMap(({ views }) => views));
  const native = await compiled.look(cut.texts, {
    forms: wanted.has('forms'),
    decoded: wanted.has('decoded'),
    joined: wanted.has('joined'),
    mostViews: limits.views,
    mostPlaces: limits.places,
    timeoutMs,
  });
  const looks = native.looks.map((one) => new Look(one, cut.texts));
  const hits = new Map<Check, Hit[]>();
  for (let at = 0; at < native.places.length; at += 4) {
    const [pattern = 0, index = 0, start = 0, end = 0] = native.places.subarray(at, at + 4);
    const { check, label } = owners[pattern] as OwnedPatterns['owners'][number];
    const look = looks[index] as Look;
    if (!checks.includes(check) || !wants(check, look)) continue;
    const known = hits.get(check);
    const hit = { look, label, score: 1, start, end };
    if (known) known.push(hit);
    else hits.set(check, [hit]);
  }
  const hasPatterns = checks.some(({ type }) => type === 'patterns');
  const notLookedAt: NotLookedAt[] = cut.rest.map((place) => ({
    check: null,
    ...place,
    limit: 'characters',
    action,
  }));
  if (native.isCut) notLookedAt.push({ ...ANYWHERE, limit: 'views', action });
  // Patterns and forms have one deadline.
  if (native.left === 'time' || (native.left !== '' && hasPatterns)) {
    notLookedAt.push({ ...ANYWHERE, limit: native.left, action });
  }
  return { looks, hits, notLookedAt };
}

/** Whether a check is to be given a form of a text. */
export function wants({ views }: Check, { steps }: Look): boolean {
  return [...steps].every((step) => views.includes(step));
}

/** The beginning of the texts, and from where on each of the others is left. */
function cutTo(texts: readonly string[], characters: number) {
  let left = characters;
  const rest: { part: number; start: number }[] = [];
  const cut = texts.map((text, part) => {
    const kept = text.length <= left ? text : text.slice(0, left);
    left -= kept.length;
    if (kept.length < text.length) rest.push({ part, start: kept.length });
    return kept;
  });
  return { texts: cut, rest };
}
