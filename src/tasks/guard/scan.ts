import type { Patterns } from '../../native/patterns';
import type { Hit } from './check-result';
import type { Check, GuardFile, PatternCheck } from './guard-file';
import type { Unchecked } from './guard-result';
import { TextVariant } from './text-variants';

/** Compiled patterns, and whose each is. */
export interface PatternSet {
  readonly compiled: Patterns;
  /** By the place of each. */
  readonly owners: readonly { readonly check: PatternCheck; readonly label: string }[];
}

/** What is looked at, what patterns have found in it, and what is not looked at. */
export interface ScanResult {
  readonly variants: readonly TextVariant[];
  readonly hits: ReadonlyMap<Check, readonly Hit[]>;
  readonly unchecked: readonly Unchecked[];
}

const ANYWHERE = { check: null, part: null, start: null };

/** Makes the forms of texts that the checks want, and looks for patterns in them; on a native thread. */
export async function scan(
  texts: readonly string[],
  checks: readonly Check[],
  { compiled, owners }: PatternSet,
  { limits, timeoutMs }: Pick<GuardFile, 'limits'> & { readonly timeoutMs: number },
): Promise<ScanResult> {
  const { on_limit: action } = limits;
  const cut = truncateTexts(texts, limits.characters);
  const wanted = new Set(checks.flatMap(({ views }) => views));
  const native = await compiled.scan(cut.texts, {
    forms: wanted.has('forms'),
    decoded: wanted.has('decoded'),
    joined: wanted.has('joined'),
    maxVariants: limits.views,
    maxMatches: limits.places,
    timeoutMs,
  });
  const variants = native.variants.map((one) => new TextVariant(one, cut.texts));
  const hits = new Map<Check, Hit[]>();
  for (let at = 0; at < native.matches.length; at += 4) {
    const [pattern = 0, index = 0, start = 0, end = 0] = native.matches.subarray(at, at + 4);
    const { check, label } = owners[pattern] as PatternSet['owners'][number];
    const variant = variants[index] as TextVariant;
    if (!checks.includes(check) || !acceptsVariant(check, variant)) continue;
    const known = hits.get(check);
    const hit = { variant, label, score: 1, start, end };
    if (known) known.push(hit);
    else hits.set(check, [hit]);
  }
  const hasPatterns = checks.some(({ type }) => type === 'patterns');
  const notLookedAt: Unchecked[] = cut.rest.map((place) => ({
    check: null,
    ...place,
    limit: 'characters',
    action,
  }));
  if (native.isTruncated) notLookedAt.push({ ...ANYWHERE, limit: 'views', action });
  // Patterns and forms have one deadline.
  if (native.stoppedBy === 'time' || (native.stoppedBy !== '' && hasPatterns)) {
    notLookedAt.push({ ...ANYWHERE, limit: native.stoppedBy, action });
  }
  return { variants, hits, unchecked: notLookedAt };
}

/** Whether a check is to be given a form of a text. */
export function acceptsVariant({ views }: Check, { steps }: TextVariant): boolean {
  return [...steps].every((step) => views.includes(step));
}

/** The beginning of the texts, and from where on each of the others is left. */
function truncateTexts(texts: readonly string[], characters: number) {
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
