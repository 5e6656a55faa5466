import type { NativeVariant } from '../../native/engine';
import type { VARIANTS } from './guard-file';

export type VariantKind = (typeof VARIANTS)[number];

const PARTLY = 'partly';

/** Where something lies in what was sent. */
export interface TextSpan {
  readonly part: number;
  readonly start: number;
  readonly end: number;
}

/** A text that checks are given: a part as it is, or a form of it, with a way back to what was sent. */
export class TextVariant {
  readonly text: string;
  readonly name: string;
  /** null: all parts together. */
  readonly part: number | null;
  readonly #parts: readonly string[];
  readonly #starts: Uint32Array | null;
  readonly #ends: Uint32Array | null;
  /** Of all parts together: where each begins, and the last one ends; made when it is first needed. */
  #offsets: readonly number[] | null = null;

  constructor({ steps, part, text, starts, ends }: NativeVariant, parts: readonly string[]) {
    this.name = steps || 'text';
    this.part = part < parts.length ? part : null;
    this.text = text ?? (parts[part] as string);
    this.#parts = parts;
    this.#starts = starts ?? null;
    this.#ends = ends ?? null;
  }

  /** What a check has to want to be given it, of `VIEWS`. */
  get steps(): ReadonlySet<VariantKind> {
    const words = this.name.split(' ').filter((word) => word !== 'text' && word !== PARTLY);
    return new Set(
      words.map((word) => (word === 'decoded' || word === 'joined' ? word : ('forms' as const))),
    );
  }

  /** For patterns only: fewer escapes are undone than in another form of the same text. */
  get isPartlyUnescaped(): boolean {
    return this.name.includes(PARTLY);
  }

  /** It is all of a part, or of all parts. */
  coversWhole(start: number, end: number): boolean {
    if (this.part !== null && !this.#starts) return start === 0 && end === this.text.length;
    const places = this.toOriginalSpans(start, end);
    const length =
      this.part === null
        ? (this.#partOffsets.at(-1) as number)
        : (this.#parts[this.part] as string).length;
    return places.reduce((sum, place) => sum + place.end - place.start, 0) >= length;
  }

  /** What was sent that a span is made of: whole characters, in one part or several. */
  toOriginalSpans(start: number, end: number): readonly TextSpan[] {
    if (start >= end) return [];
    const from = this.#starts ? (this.#starts[start] as number) : start;
    const to = this.#ends ? (this.#ends[end - 1] as number) : end;
    if (this.part !== null) return [this.#whole(this.part, from, to)];
    const places: TextSpan[] = [];
    const offsets = this.#partOffsets;
    for (let part = lastAtMost(offsets, from); part < this.#parts.length; part++) {
      const offset = offsets[part] as number;
      if (offset >= to) break;
      const length = (offsets[part + 1] as number) - offset;
      const [first, last] = [Math.max(from - offset, 0), Math.min(to - offset, length)];
      if (first < last) places.push(this.#whole(part, first, last));
    }
    return places;
  }

  get #partOffsets(): readonly number[] {
    if (this.#offsets) return this.#offsets;
    const offsets = [0];
    for (const { length } of this.#parts) offsets.push((offsets.at(-1) as number) + length);
    this.#offsets = offsets;
    return offsets;
  }

  /** Widened to whole characters. */
  #whole(part: number, start: number, end: number): TextSpan {
    const text = this.#parts[part] as string;
    return {
      part,
      start: isWithinCharacter(text, start) ? start - 1 : start,
      end: isWithinCharacter(text, end) ? end + 1 : end,
    };
  }
}

/** Index of the last of the values, which rise from 0, that is no more than `value`. */
function lastAtMost(values: readonly number[], value: number): number {
  let [low, high] = [0, values.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((values[middle] as number) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

function isWithinCharacter(text: string, place: number): boolean {
  return place > 0 && place < text.length && (text.codePointAt(place - 1) as number) > 0xffff;
}
