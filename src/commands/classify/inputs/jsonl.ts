import { behind, type ReadRow, type RowReader } from '../rows';
import { InputBytes } from './bytes';
import type { Input } from './expand';

/** More is no row, but a file of another kind; it is passed over without being kept. */
export const LONGEST_LINE_BYTES = 64 * 1024 ** 2;
const NEWLINE = 0x0a;

/** One JSON object a line. Lines of white space alone are no rows. */
export class JsonLinesReader implements RowReader {
  readonly columns = null;
  readonly #bytes: InputBytes;
  readonly #keepsLines: boolean;

  /** @param keepsLines whether rows keep the line that they were */
  constructor(input: Input, keepsLines: boolean) {
    this.#bytes = new InputBytes(input);
    this.#keepsLines = keepsLines;
  }

  rows(done: number): AsyncIterable<readonly ReadRow[]> {
    return behind(done, this.#rows());
  }

  async *#rows(): AsyncGenerator<readonly ReadRow[]> {
    const lines = new Lines(this.#keepsLines);
    for await (const block of this.#bytes.blocks()) {
      const rows = lines.push(block);
      if (rows.length > 0) yield rows;
    }
    yield lines.end();
  }

  fractionRead(): number | null {
    return this.#bytes.fractionRead();
  }

  async close(): Promise<void> {
    this.#bytes.close();
  }
}

/** Cuts blocks into lines and makes rows of them. */
class Lines {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  /** Of the line that is not complete. */
  #parts: Buffer[] = [];
  #partBytes = 0;
  #line = 0;
  readonly #keepsLines: boolean;

  constructor(keepsLines: boolean) {
    this.#keepsLines = keepsLines;
  }

  push(block: Buffer): readonly ReadRow[] {
    const rows: ReadRow[] = [];
    let start = 0;
    for (let end = block.indexOf(NEWLINE); end >= 0; end = block.indexOf(NEWLINE, start)) {
      this.#take(block.subarray(start, end), rows);
      start = end + 1;
    }
    this.#keep(block.subarray(start));
    return rows;
  }

  end(): readonly ReadRow[] {
    const rows: ReadRow[] = [];
    if (this.#partBytes > 0) this.#take(Buffer.alloc(0), rows);
    return rows;
  }

  #keep(part: Buffer): void {
    if (part.length === 0) return;
    this.#partBytes += part.length;
    if (this.#partBytes > LONGEST_LINE_BYTES) this.#parts = [];
    else this.#parts.push(part);
  }

  #take(last: Buffer, rows: ReadRow[]): void {
    this.#line++;
    const bytes = this.#partBytes + last.length;
    const whole = this.#partBytes > 0 ? Buffer.concat([...this.#parts, last]) : last;
    this.#parts = [];
    this.#partBytes = 0;
    if (bytes > LONGEST_LINE_BYTES) {
      const problem = `is longer than ${LONGEST_LINE_BYTES / 1024 ** 2} MiB`;
      rows.push({ line: this.#line, problem });
      return;
    }
    let text: string;
    try {
      text = this.#decoder.decode(whole).trim();
    } catch {
      rows.push({ line: this.#line, problem: 'is not UTF-8' });
      return;
    }
    if (text !== '') rows.push(toRow(text, this.#line, this.#keepsLines));
  }
}

function toRow(json: string, line: number, keepsLine: boolean): ReadRow {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    return { line, problem: `is not JSON${placeOf(error as Error)}` };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { line, problem: 'is not a JSON object' };
  }
  const fields = value as Readonly<Record<string, unknown>>;
  return { line, fields, json: keepsLine ? json : null, signal: null, size: json.length };
}

/** The rest of the error's message quotes the line. */
function placeOf({ message }: Error): string {
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  return position === undefined ? '' : `, from character ${Number(position) + 1} on`;
}
