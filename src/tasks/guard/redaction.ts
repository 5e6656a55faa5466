import type { Finding } from './answer';

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
 */
export function redact(texts: readonly string[], findings: readonly Finding[]): Redacted {
  const placeholders = new Placeholders(texts);
  const redacted = texts.map((text, part) => {
    let written = '';
    let at = 0;
    for (const { start, end, label } of replacedIn(text, part, findings)) {
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
function replacedIn(text: string, part: number, findings: readonly Finding[]): readonly Replaced[] {
  const own = findings
    .filter((one) => one.action === 'redact' && (one.part === part || one.part === null))
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
  readonly #known = new Map<string, string>();
  readonly #last = new Map<string, number>();

  constructor(texts: readonly string[]) {
    this.#texts = texts;
  }

  of(label: string, text: string): string {
    const name = label.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_') || 'TEXT';
    const key = `${name} ${text}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    let number = this.#last.get(name) ?? 0;
    let placeholder: string;
    do placeholder = `<${name}_${++number}>`;
    while (this.#texts.some((one) => one.includes(placeholder)));
    this.#last.set(name, number);
    this.#known.set(key, placeholder);
    this.map[placeholder] = text;
    return placeholder;
  }
}
