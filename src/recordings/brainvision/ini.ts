import { decodeText } from '../text';

/** Sections by lower-case name; entries by lower-case key. */
export type Sections = ReadonlyMap<string, ReadonlyMap<string, string>>;

/**
 * Parses the text of a header or marker file. Lines that begin with a semicolon are comments; the section [Comment]
 * is free text that ends the file. The encoding is UTF-8 or Windows-1252.
 */
export function parseIni(bytes: Uint8Array): Sections {
  const sections = new Map<string, Map<string, string>>();
  let entries = new Map<string, string>();
  for (const line of decodeText(bytes).split(/\r\n|\n|\r/)) {
    const text = line.trim();
    const [, section] = /^\[([^\]]*)\]$/.exec(text) ?? [];
    if (section !== undefined) {
      const name = section.toLowerCase();
      if (name === 'comment') break;
      entries = sections.get(name) ?? new Map();
      sections.set(name, entries);
      continue;
    }
    const at = text.indexOf('=');
    if (text.startsWith(';') || at < 1) continue;
    entries.set(text.slice(0, at).trim().toLowerCase(), text.slice(at + 1).trim());
  }
  return sections;
}

/** Splits a value at commas; `\1` stands for a comma within a part. */
export function splitValue(value: string): readonly string[] {
  const parts = value.split(',');
  const escaped = value.includes('\\1');
  return parts.map((part) => (escaped ? part.replaceAll('\\1', ',') : part).trim());
}
