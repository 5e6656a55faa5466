import type { Finding } from './guard-result';

/** What is replaced: joined from findings that overlap. */
interface Replaced {
  readonly start: number;
  readonly end: number;
  readonly label: string;
}

export interface Redacted {
  readonly texts: readonly string[];
  /** By placeholder what it stands for. */
  readonly map: Readonly<Record<string, string>>;
}

/**
 * Puts placeholders in the place of what was found. Of findings that overlap all that they cover is
 * replaced, under the label of the longest one, or else of the surer one, or else of the first check. Equal
 * texts of one label have the same placeholder.
 *
 * @param taken placeholders that are not given, beside those that the texts hold
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

/** Gives back what placeholders stand for. */
export function restore(text: string, map: Redacted['map']): string {
  return text.replaceAll(/<[A-Z0-9_]+_\d+>/g, (placeholder) =>
    Object.hasOwn(map, placeholder) ? (map[placeholder] as string) : placeholder,
  );
}

/** Of one text, in its order. */
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

/** Numbers go up by label; what the texts already hold is no placeholder of ours. */
class Placeholders {
  readonly map: Record<string, string> = {};
  readonly #texts: readonly string[];
  /** By label and text. */
  readonly #known = new Map<string, string>();
  /** By label those that are taken, and the last that was given. */
  readonly #numbers = new Map<string, { readonly taken: ReadonlySet<number>; last: number }>();

  constructor(texts: readonly string[]) {
    this.#texts = texts;
  }

  of(label: string, text: string): string {
    const name = label.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_') || 'TEXT';
    const key = `${name} ${text}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const numbers = this.#numbers.get(name) ?? { taken: takenIn(this.#texts, name), last: 0 };
    this.#numbers.set(name, numbers);
    do numbers.last++;
    while (numbers.taken.has(numbers.last));
    const placeholder = `<${name}_${numbers.last}>`;
    this.#known.set(key, placeholder);
    this.map[placeholder] = text;
    return placeholder;
  }
}

/** Numbers of what looks like placeholders of a label. */
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
