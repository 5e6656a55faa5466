import { JsonText } from '../cell-values';
import type { InputFile } from '../input-files';
import type { ReadRow, RowBatch } from '../rows';
import { readBlocks } from './input-bytes';
import { LineBuffer } from './line-buffer';

/** Maximum length of a line. Longer lines are rejected without buffering them. */
export const MAX_LINE_BYTES = 64 * 1024 ** 2;
const NEWLINE = 0x0a;
const BACKSLASH = 0x5c;

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads JSONL: one JSON object per line. Blank lines are skipped.
 *
 * @param keepsLines keeps the source line of each row
 */
export async function* readJsonLines(
  input: InputFile,
  keepsLines: boolean,
): AsyncGenerator<RowBatch> {
  let line = 0;
  const lines = new LineBuffer(MAX_LINE_BYTES);
  for await (const { bytes, fraction } of readBlocks(input)) {
    const rows: ReadRow[] = [];
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      const row = toRow(lines.finish(bytes.subarray(start, end)), ++line, keepsLines);
      if (row) rows.push(row);
      start = end + 1;
    }
    lines.append(bytes.subarray(start));
    if (rows.length > 0) yield { rows, fraction };
  }
  const last = toRow(lines.finish(Buffer.alloc(0)), ++line, keepsLines);
  if (last) yield { rows: [last], fraction: 1 };
}

/** Parses a line; null if blank. */
function toRow(bytes: Buffer | null, line: number, keepsLine: boolean): ReadRow | null {
  if (!bytes) return { line, problem: `longer than ${MAX_LINE_BYTES / 1024 ** 2} MiB` };
  let json: string;
  try {
    json = decoder.decode(bytes).trim();
  } catch {
    return { line, problem: 'not UTF-8' };
  }
  if (json === '') return null;
  let fields: Readonly<Record<string, unknown>>;
  try {
    fields = JSON.parse(json);
  } catch (error) {
    return { line, problem: `not JSON${positionOf(error as Error)}` };
  }
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
    return { line, problem: 'not a JSON object' };
  }
  const row = { line, fields, json: keepsLine ? json : null, signal: null, size: json.length };
  return keepsLine || !mayLoseDigits(fields) ? row : { ...row, exact: exactMembers(json) };
}

/** Numbers, arrays and objects may lose digits in JSON.parse. */
function mayLoseDigits(fields: Readonly<Record<string, unknown>>): boolean {
  return Object.values(fields).some(
    (value) => typeof value === 'number' || (typeof value === 'object' && value !== null),
  );
}

/** Position of a syntax error. The rest of the message quotes the line and is dropped. */
function positionOf({ message }: Error): string {
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  return position === undefined ? '' : `, syntax error at character ${Number(position) + 1}`;
}

/**
 * Source texts of the numbers, arrays and objects in a JSON object, which preserve all digits.
 *
 * @param json valid JSON object without surrounding white space
 */
export function exactMembers(json: string): ReadonlyMap<string, JsonText> {
  const members = new Map<string, JsonText>();
  let at = skipSpace(json, 1);
  while (json[at] !== '}') {
    const nameEnd = endOfString(json, at);
    const name: string = JSON.parse(json.slice(at, nameEnd));
    const start = skipSpace(json, skipSpace(json, nameEnd) + 1);
    at = endOfValue(json, start);
    // The last member with a name counts, as in JSON.parse.
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

/** Offset after the string at `from`. */
function endOfString(json: string, from: number): number {
  for (let quote = json.indexOf('"', from + 1); ; quote = json.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (json.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
  }
}

/** Offset after the value at `from`. */
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
