import type { InputFile } from '../input-files';
import type { ReadRow, RowBatch } from '../rows';
import { readBlocks } from './input-bytes';
import { exactMembers } from './json-member-text';

/** More is no row, but a file of another kind; it is passed over without being kept. */
export const LONGEST_LINE_BYTES = 64 * 1024 ** 2;
const NEWLINE = 0x0a;

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * One JSON object a line. Lines of white space alone are no rows.
 *
 * @param keepsLines whether rows keep the line that they were
 */
export async function* readJsonLines(
  input: InputFile,
  keepsLines: boolean,
): AsyncGenerator<RowBatch> {
  let line = 0;
  const lines = new Lines();
  for await (const { bytes, fraction } of readBlocks(input)) {
    const rows: ReadRow[] = [];
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      const row = toRow(lines.end(bytes.subarray(start, end)), ++line, keepsLines);
      if (row) rows.push(row);
      start = end + 1;
    }
    lines.begin(bytes.subarray(start));
    if (rows.length > 0) yield { rows, fraction };
  }
  const last = toRow(lines.end(Buffer.alloc(0)), ++line, keepsLines);
  if (last) yield { rows: [last], fraction: 1 };
}

/** Puts lines together that begin in one block and end in another. */
class Lines {
  #parts: Buffer[] = [];
  #bytes = 0;

  begin(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > LONGEST_LINE_BYTES) this.#parts = [];
    else this.#parts.push(part);
  }

  /** The whole line; null: it is longer than any row. */
  end(last: Buffer): Buffer | null {
    const isTooLong = this.#bytes + last.length > LONGEST_LINE_BYTES;
    if (this.#bytes === 0) return isTooLong ? null : last;
    const parts = [...this.#parts, last];
    this.#parts = [];
    this.#bytes = 0;
    return isTooLong ? null : Buffer.concat(parts);
  }
}

/** null: of a line of white space. */
function toRow(bytes: Buffer | null, line: number, keepsLine: boolean): ReadRow | null {
  if (!bytes) return { line, problem: `is longer than ${LONGEST_LINE_BYTES / 1024 ** 2} MiB` };
  let json: string;
  try {
    json = decoder.decode(bytes).trim();
  } catch {
    return { line, problem: 'is not UTF-8' };
  }
  if (json === '') return null;
  let fields: Readonly<Record<string, unknown>>;
  try {
    fields = JSON.parse(json);
  } catch (error) {
    return { line, problem: `is not JSON${placeOf(error as Error)}` };
  }
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
    return { line, problem: 'is not a JSON object' };
  }
  const row = { line, fields, json: keepsLine ? json : null, signal: null, size: json.length };
  return keepsLine || !mayLose(fields) ? row : { ...row, exact: exactMembers(json) };
}

/** Strings, true, false and null are the same in any writing. */
function mayLose(fields: Readonly<Record<string, unknown>>): boolean {
  return Object.values(fields).some(
    (value) => typeof value === 'number' || (typeof value === 'object' && value !== null),
  );
}

/** The rest of the error's message quotes the line. */
function placeOf({ message }: Error): string {
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  return position === undefined ? '' : `, from character ${Number(position) + 1} on`;
}
