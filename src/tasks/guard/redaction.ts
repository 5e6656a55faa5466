import type { Finding } from './guard-result';

/** Redacted span, merged from overlapping findings. */
interface Replaced {
  readonly start: number;
  readonly end: number;
  readonly label: string;
}

export interface Redacted {
  readonly texts: readonly string[];
  /** Original texts by placeholder. */
  readonly map: Readonly<Record<string, string>>;
}

/**
 * Replaces findings with placeholders. Overlapping findings are merged; the label of the longest
 * finding applies, then of the finding with the highest score, then of the first check. Equal texts
 * with the same label share a placeholder.
 *
 * @param taken placeholders that must not be assigned, in addition to those in the texts
 */
export function redact(
  texts: readonly string[],
  findings: readonly Finding[],
  taken: readonly string[] = [],
): Redacted {
  const placeholders = new Placeholders([...texts, ...taken]);
  const byPart: Finding[][] = texts.map(() => []);
  for (const one of findings) {
    if (one.action !== 'redact') continue;
    for (const own of one.part === null ? byPart : [byPart[one.part]]) own?.push(one);
  }
  const redacted = texts.map((text, part) => {
    let written = '';
    let at = 0;
    for (const { start, end, label } of replacedIn(text, byPart[part] ?? [])) {
      written += text.slice(at, start) + placeholders.of(label, text.slice(start, end));
      at = end;
    }
    return written + text.slice(at);
  });
  return { texts: redacted, map: placeholders.map };
}

/** Replaces the placeholders in a text with their original texts. */
export function restore(text: string, map: Redacted['map']): string {
  return text.replaceAll(/<[A-Z0-9_]+_\d+>/g, (placeholder) =>
    Object.hasOwn(map, placeholder) ? (map[placeholder] as string) : placeholder,
  );
}

/** Returns the redacted spans of a text in order. */
function replacedIn(text: string, findings: readonly Finding[]): readonly Replaced[] {
  const own = findings
    .map(({ start, end, ...one }) => ({ ...one, start: start ?? 0, end: end ?? text.length }))
    .filter(({ start, end }) => start < end)
    .sort((a, b) => a.start - b.start);
  const joined: { start: number; end: number; best: (typeof own)[number] }[] = [];
  for (const next of own) {
    const last = joined.at(-1);
    if (!last || next.start >= last.end) {
      joined.push({ start: next.start, end: next.end, best: next });
      continue;
    }
    last.end = Math.max(last.end, next.end);
    const longer = next.end - next.start - (last.best.end - last.best.start);
    if (longer > 0 || (longer === 0 && next.score > last.best.score)) last.best = next;
  }
  return joined.map(({ start, end, best }) => ({ start, end, label: best.label }));
}

/** Assigns numbered placeholders by label and skips placeholders that the texts contain. */
class Placeholders {
  readonly map: Record<string, string> = {};
  readonly #texts: readonly string[];
  /** Placeholders by label and text. */
  readonly #placeholders = new Map<string, string>();
  /** Used numbers and the last assigned number by label. */
  readonly #numbers = new Map<string, { readonly taken: ReadonlySet<number>; last: number }>();

  constructor(texts: readonly string[]) {
    this.#texts = texts;
  }

  of(label: string, text: string): string {
    const name = label.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_') || 'TEXT';
    const key = `${name} ${text}`;
    const existing = this.#placeholders.get(key);
    if (existing !== undefined) return existing;
    const numbers = this.#numbers.get(name) ?? { taken: takenIn(this.#texts, name), last: 0 };
    this.#numbers.set(name, numbers);
    do numbers.last++;
    while (numbers.taken.has(numbers.last));
    const placeholder = `<${name}_${numbers.last}>`;
    this.#placeholders.set(key, placeholder);
    this.map[placeholder] = text;
    return placeholder;
  }
}

/** Returns the numbers of a label's placeholders in the texts. */
function takenIn(texts: readonly string[], name: string): ReadonlySet<number> {
  const begin = `<${name}_`;
  const taken = new Set<number>();
  for (const text of texts) {
    for (let at = text.indexOf(begin); at >= 0; at = text.indexOf(begin, at + 1)) {
      taken.add(Number.parseInt(text.slice(at + begin.length, at + begin.length + 16), 10));
    }
  }
  return taken;
}

/** Restores placeholders in a text that arrives in chunks with arbitrary boundaries. */
export class Restorer {
  readonly #map: Redacted['map'];
  readonly #longest: number;
  /** Possible start of a placeholder. */
  #held = '';

  constructor(map: Redacted['map']) {
    this.#map = map;
    this.#longest = Math.max(0, ...Object.keys(map).map(({ length }) => length));
  }

  /**
   * Returns the text that can be emitted. An incomplete placeholder, shorter than the longest
   * placeholder, is held back.
   */
  push(piece: string): string {
    const text = this.#held + piece;
    const open = text.lastIndexOf('<');
    const isHeld =
      open >= 0 && text.length - open < this.#longest && /^<[A-Z0-9_]*$/.test(text.slice(open));
    const end = isHeld ? open : text.length;
    this.#held = text.slice(end);
    return restore(text.slice(0, end), this.#map);
  }

  /** Returns the remaining text at the end of the stream. */
  end(): string {
    const text = this.#held;
    this.#held = '';
    return text;
  }
}
