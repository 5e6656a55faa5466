import { JsonText } from '../cell-values';

const BACKSLASH = 0x5c;

/**
 * The members of a JSON object that are numbers, arrays or objects, by their texts: numbers keep every digit.
 *
 * @param json an object that JSON.parse has read, without white space around it
 */
export function exactMembers(json: string): ReadonlyMap<string, JsonText> {
  const members = new Map<string, JsonText>();
  let at = skipSpace(json, 1);
  while (json[at] !== '}') {
    const nameEnd = endOfString(json, at);
    const name: string = JSON.parse(json.slice(at, nameEnd));
    const start = skipSpace(json, skipSpace(json, nameEnd) + 1);
    at = endOfValue(json, start);
    // Of several members with the same name the last one counts, as for JSON.parse.
    if (/[-\d[{]/.test(json[start] as string)) {
      members.set(name, new JsonText(json.slice(start, at)));
    } else {
      members.delete(name);
    }
    at = skipSpace(json, at);
    if (json[at] === ',') at = skipSpace(json, at + 1);
  }
  return members;
}

function skipSpace(json: string, from: number): number {
  let at = from;
  while (/[ \t\r\n]/.test(json[at] as string)) at++;
  return at;
}

/** Behind the string that begins at `from`. */
function endOfString(json: string, from: number): number {
  for (let quote = json.indexOf('"', from + 1); ; quote = json.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (json.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
  }
}

/** Behind the value that begins at `from`. */
function endOfValue(json: string, from: number): number {
  const first = json[from];
  if (first === '"') return endOfString(json, from);
  const next = first === '{' || first === '[' ? /["{}[\]]/g : /[,}\s]/g;
  next.lastIndex = from;
  if (first !== '{' && first !== '[') return next.exec(json)?.index as number;
  for (let depth = 0; ; ) {
    const { index } = next.exec(json) as RegExpExecArray;
    const mark = json[index];
    if (mark === '"') next.lastIndex = endOfString(json, index);
    else depth += mark === '{' || mark === '[' ? 1 : -1;
    if (depth === 0) return index + 1;
  }
}
