import { decodeText } from '../text';

const MAX_DEPTH = 32;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};
const TOKEN =
  /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!\[CDATA\[([\s\S]*?)\]\]>|<(\/?)([\w:.-]+)[^<>]*?(\/?)>|([^<]+)/g;

/** Element of XML. Attributes are ignored: XDF does not use them. */
export interface XmlElement {
  readonly name: string;
  text: string;
  readonly children: XmlElement[];
}

/**
 * Parses the subset of XML that XDF uses: elements, text, comments, CDATA and the predefined entities. A document type
 * definition, which could define more entities, is an error.
 *
 * @returns the root element; null if the text is not in this subset
 */
export function parseXml(bytes: Uint8Array): XmlElement | null {
  const root: XmlElement = { name: '', text: '', children: [] };
  const open = [root];
  const text = decodeText(bytes).replace(/\0+$/, '');
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    if (match.index !== end) return null;
    end += match[0].length;
    const [, cdata, slash, name, isEmpty, characters] = match;
    const parent = open[open.length - 1] as XmlElement;
    if (cdata !== undefined) parent.text += cdata;
    else if (characters !== undefined) parent.text += replaceEntities(characters);
    else if (name !== undefined && slash === '/') {
      if (open.length === 1 || open.pop()?.name !== name) return null;
    } else if (name !== undefined) {
      const element: XmlElement = { name, text: '', children: [] };
      parent.children.push(element);
      if (isEmpty !== '/') open.push(element);
      if (open.length > MAX_DEPTH) return null;
    }
  }
  const [first] = root.children;
  return end === text.length && open.length === 1 && first ? first : null;
}

/** First child with a name; undefined if missing. */
export function childOf(element: XmlElement | undefined, name: string): XmlElement | undefined {
  return element?.children.find((child) => child.name === name);
}

/** Trimmed text of a child; an empty string if missing. */
export function textOf(element: XmlElement | undefined, name: string): string {
  return childOf(element, name)?.text.trim() ?? '';
}

function replaceEntities(text: string): string {
  return text.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
