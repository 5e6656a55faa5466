import type { Inference, NativeVariant } from '../../native/engine';
import type { Patterns } from '../../native/patterns';
import type { Check, GuardFile, PatternCheck, VARIANTS } from './guard-file';
import type { Unchecked } from './guard-result';

/** Match of a check in a text variant. Offsets are in UTF-16 units of the variant. */
export interface Hit {
  readonly variant: TextVariant;
  readonly label: string;
  readonly score: number;
  readonly start: number;
  readonly end: number;
}

/** Text that was not read, from `start` to the end of the variant. */
export interface UnreadText {
  readonly variant: TextVariant;
  readonly start: number;
}

export interface CheckResult {
  readonly hits: readonly Hit[];
  readonly inferences: readonly Inference[];
  readonly unread: readonly UnreadText[];
}

export type VariantKind = (typeof VARIANTS)[number];

const PARTLY = 'partly';

/** Span of an original text in UTF-16 units. */
export interface TextSpan {
  readonly part: number;
  readonly start: number;
  readonly end: number;
}

/**
 * Text that checks read: a part or a normalization variant, with a mapping to the original text.
 */
export class TextVariant {
  readonly text: string;
  readonly name: string;
  /** Index of the part; null: the joined parts. */
  readonly part: number | null;
  readonly #parts: readonly string[];
  readonly #starts: Uint32Array | null;
  readonly #ends: Uint32Array | null;
  /** Offsets of the parts in the joined text and its length; computed on first use. */
  #offsets: readonly number[] | null = null;

  constructor({ steps, part, text, starts, ends }: NativeVariant, parts: readonly string[]) {
    this.name = steps || 'text';
    this.part = part < parts.length ? part : null;
    this.text = text ?? (parts[part] as string);
    this.#parts = parts;
    this.#starts = starts ?? null;
    this.#ends = ends ?? null;
  }

  /** Variants of `VARIANTS` that a check must select to read this text. */
  get steps(): ReadonlySet<VariantKind> {
    const words = this.name.split(' ').filter((word) => word !== 'text' && word !== PARTLY);
    return new Set(
      words.map((word) =>
        word === 'decoded' || word === 'joined' ? word : ('normalized' as const),
      ),
    );
  }

  /** Whether only some escapes are decoded. Only patterns read such variants. */
  get isPartlyUnescaped(): boolean {
    return this.name.includes(PARTLY);
  }

  /** Whether a span covers the whole part, or all parts of a joined text. */
  coversWhole(start: number, end: number): boolean {
    if (this.part !== null && !this.#starts) return start === 0 && end === this.text.length;
    const spans = this.toOriginalSpans(start, end);
    const length =
      this.part === null
        ? (this.#partOffsets.at(-1) as number)
        : (this.#parts[this.part] as string).length;
    return spans.reduce((sum, span) => sum + span.end - span.start, 0) >= length;
  }

  /** Maps a span to the original texts: one span per part, extended to whole surrogate pairs. */
  toOriginalSpans(start: number, end: number): readonly TextSpan[] {
    if (start >= end) return [];
    const from = this.#starts ? (this.#starts[start] as number) : start;
    const to = this.#ends ? (this.#ends[end - 1] as number) : end;
    if (this.part !== null) return [this.#whole(this.part, from, to)];
    const spans: TextSpan[] = [];
    const offsets = this.#partOffsets;
    for (let part = lastAtMost(offsets, from); part < this.#parts.length; part++) {
      const offset = offsets[part] as number;
      if (offset >= to) break;
      const length = (offsets[part + 1] as number) - offset;
      const [first, last] = [Math.max(from - offset, 0), Math.min(to - offset, length)];
      if (first < last) spans.push(this.#whole(part, first, last));
    }
    return spans;
  }

  get #partOffsets(): readonly number[] {
    if (this.#offsets) return this.#offsets;
    const offsets = [0];
    for (const { length } of this.#parts) offsets.push((offsets.at(-1) as number) + length);
    this.#offsets = offsets;
    return offsets;
  }

  /** Extends a span to whole surrogate pairs. */
  #whole(part: number, start: number, end: number): TextSpan {
    const text = this.#parts[part] as string;
    return {
      part,
      start: isWithinCharacter(text, start) ? start - 1 : start,
      end: isWithinCharacter(text, end) ? end + 1 : end,
    };
  }
}

/** Returns the index of the last ascending value that is at most `value`. The first value is 0. */
function lastAtMost(values: readonly number[], value: number): number {
  let [low, high] = [0, values.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((values[middle] as number) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

function isWithinCharacter(text: string, offset: number): boolean {
  return offset > 0 && offset < text.length && (text.codePointAt(offset - 1) as number) > 0xffff;
}

/** Compiled patterns with their checks and labels. */
export interface PatternSet {
  readonly compiled: Patterns;
  /** Check and label by pattern index. */
  readonly owners: readonly { readonly check: PatternCheck; readonly label: string }[];
}

/** Text variants, pattern matches and unchecked texts of a request. */
export interface ScanResult {
  readonly variants: readonly TextVariant[];
  readonly hits: ReadonlyMap<Check, readonly Hit[]>;
  readonly unchecked: readonly Unchecked[];
}

const ANYWHERE = { check: null, part: null, start: null };

/** Creates the text variants of the checks and searches them for patterns on a native thread. */
export async function scan(
  texts: readonly string[],
  checks: readonly Check[],
  { compiled, owners }: PatternSet,
  { limits, timeoutMs }: Pick<GuardFile, 'limits'> & { readonly timeoutMs: number },
): Promise<ScanResult> {
  const { on_limit: action } = limits;
  const truncated = truncateTexts(texts, limits.characters);
  const wanted = new Set(checks.flatMap(({ variants }) => variants));
  const native = await compiled.scan(truncated.texts, {
    normalized: wanted.has('normalized'),
    decoded: wanted.has('decoded'),
    joined: wanted.has('joined'),
    maxVariants: limits.variants,
    maxMatches: limits.matches,
    timeoutMs,
  });
  const variants = native.variants.map((variant) => new TextVariant(variant, truncated.texts));
  const hits = new Map<Check, Hit[]>();
  for (let at = 0; at < native.matches.length; at += 4) {
    const [pattern = 0, index = 0, start = 0, end = 0] = native.matches.subarray(at, at + 4);
    const { check, label } = owners[pattern] as PatternSet['owners'][number];
    const variant = variants[index] as TextVariant;
    if (!checks.includes(check) || !acceptsVariant(check, variant)) continue;
    const checkHits = hits.get(check);
    const hit = { variant, label, score: 1, start, end };
    if (checkHits) checkHits.push(hit);
    else hits.set(check, [hit]);
  }
  const hasPatterns = checks.some(({ type }) => type === 'patterns');
  const unchecked: Unchecked[] = truncated.rest.map((omitted) => ({
    check: null,
    ...omitted,
    limit: 'characters',
    action,
  }));
  if (native.isTruncated) unchecked.push({ ...ANYWHERE, limit: 'variants', action });
  // Normalization and pattern search share a deadline.
  if (native.stoppedBy === 'time' || (native.stoppedBy !== '' && hasPatterns)) {
    unchecked.push({ ...ANYWHERE, limit: native.stoppedBy, action });
  }
  return { variants, hits, unchecked };
}

/** Whether a check reads a text variant. */
export function acceptsVariant({ variants }: Check, { steps }: TextVariant): boolean {
  return [...steps].every((step) => variants.includes(step));
}

/**
 * Truncates the texts to a total length. Returns the truncated texts and the start of each omitted
 * rest.
 */
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
