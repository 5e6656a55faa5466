import { StringDecoder } from 'node:string_decoder';
import { isEdf } from '../../../recordings/edf-recording';
import { RecordingError, type UnreadableChannel } from '../../../recordings/recording';
import { readCells, readTable, type TableColumn, tableColumns } from '../../../recordings/table';
import { toNumber, toTime } from '../../../recordings/time-column';

/** Of a line that has no end yet, in UTF-16 units. */
const LONGEST_LINE = 1_000_000;

/** A line of a table of samples. */
export interface SampleRow {
  /** Of the file, from 1 on. */
  readonly line: number;
  /** NaN: there is none. */
  readonly sample: number;
  /** When it was taken, in seconds; null: no column says it. */
  readonly seconds: number | null;
  /** Why there is none, without what is written there; null: there is one. */
  readonly problem: string | null;
}

/** What the first lines say of those that follow. */
export interface SampleColumn {
  readonly label: string;
  readonly samplingRateHz: number | null;
  /** How a column says when samples were taken; null: none does. */
  readonly clock: 'seconds' | 'date' | null;
  /** What a person should know. */
  readonly notes: readonly string[];
}

interface Layout {
  /** Cells of a row. */
  readonly width: number;
  readonly delimiter: string;
  readonly decimal: '.' | ',';
  readonly sampleAt: number;
  readonly label: string;
  readonly time: { readonly at: number; readonly unit: number } | null;
}

/** How a table is written. */
export interface TableFormat {
  readonly layout: Layout;
  readonly column: SampleColumn;
}

export interface SampleLinesOptions {
  /** Of the file, for messages. */
  readonly name: string;
  /** Lines from which it is learned how the table is written. */
  readonly learnFrom: number;
  /** @throws RecordingError */
  readonly choose: (
    columns: readonly TableColumn[],
    unreadable: readonly UnreadableChannel[],
  ) => TableColumn;
  /** Of the file that had this name before: one without a header has its columns. Null: there was none. */
  readonly before: TableFormat | null;
}

/**
 * The samples of a table that comes bit by bit: one row a sample, as `parseCsv` reads it. How the table is written
 * is learned from its first rows; a row that is not whole waits for its end.
 */
export class SampleRowParser {
  readonly #options: SampleLinesOptions;
  readonly #decoder = new StringDecoder('utf8');
  /** Null: too few rows have come. */
  learned: TableFormat | null = null;
  /** Text that is not read yet: as long as there is no layout all lines, then the one without an end. */
  #text = '';
  /** Lines before it. */
  #before = 0;
  /** Ends of lines in it. */
  #ends = 0;

  constructor(options: SampleLinesOptions) {
    this.#options = options;
  }

  /** Whether a line has begun, and has no end. */
  get hasPart(): boolean {
    return this.#text !== '' && !this.#text.endsWith('\n');
  }

  /** @throws RecordingError: it is no table of samples */
  take(bytes: Buffer): readonly SampleRow[] {
    if (this.#before === 0 && this.#text === '') this.#requireText(bytes);
    const text = this.#decoder.write(bytes);
    this.#text += text;
    this.#ends += countOf(text, '\n');
    const lineStart = this.#text.lastIndexOf('\n') + 1;
    if (this.#text.length - lineStart > LONGEST_LINE) {
      const line = this.#before + this.#ends + 1;
      throw new RecordingError(`${this.#options.name}, line ${line}: has no end.`);
    }
    if (this.learned === null && this.#ends < this.#options.learnFrom) return [];
    return this.#read(lineStart);
  }

  /**
   * The lines that wait though no more come.
   *
   * @param isWhole the last one needs no end
   * @throws RecordingError
   */
  end(isWhole: boolean): readonly SampleRow[] {
    const end = isWhole ? this.#text.length : this.#text.lastIndexOf('\n') + 1;
    return this.#text.slice(0, end).trim() === '' ? [] : this.#read(end);
  }

  /** Up to `end` of the text. */
  #read(end: number): readonly SampleRow[] {
    const text = this.#text.slice(0, end);
    const [first, learned] = this.learned === null ? this.#learn(text) : [0, this.learned];
    const { layout } = learned;
    this.learned = learned;
    const lines: SampleRow[] = [];
    for (const [index, line] of text.split('\n').entries()) {
      const cells = index < first ? undefined : cellsOfLine(line, layout.delimiter);
      if (cells) lines.push(sampleOf(cells, this.#before + index + 1, layout));
    }
    this.#before += countOf(text, '\n');
    this.#text = this.#text.slice(end);
    this.#ends = 0;
    return lines;
  }

  /** @returns the number of its first line with samples, from 0 on, and how they are written */
  #learn(text: string): [number, TableFormat] {
    const { name, choose, before } = this.#options;
    const from = text.search(/[^\s\ufeff]/);
    const content = text.slice(Math.max(0, from)).trimEnd();
    if (/^[[{]/.test(content)) throw new RecordingError(`${name}: ${IS_JSON}`);
    const table = readTable(content, name);
    const [row] = table.body;
    const first = countOf(text.slice(0, from), '\n') + ((row?.line ?? 1) - 1);
    const width = row?.cells.length ?? 0;
    if (table.header === null && before?.layout.width === width) return [first, before];
    const { columns, unreadable, time, notes } = tableColumns(table);
    const { label, at } = choose(columns, unreadable);
    const unit = time?.unit ?? null;
    const timeAt = time === null || unit === null ? null : { at: time.at, unit };
    const { delimiter, decimal } = table;
    const layout = { width, delimiter, decimal, sampleAt: at, label, time: timeAt };
    const clock = timeAt && clockOf(row?.cells[timeAt.at] ?? '', decimal);
    const samplingRateHz = time?.samplingRateHz ?? null;
    // Gaps in times are not left out here.
    const others = notes.filter((note) => !time?.notes.includes(note));
    return [first, { layout, column: { label, samplingRateHz, clock, notes: others } }];
  }

  #requireText(bytes: Buffer): void {
    const { name } = this.#options;
    if (isEdf(bytes)) throw new RecordingError(`${name}: ${IS_EDF}`);
    if (bytes.subarray(0, 4096).includes(0)) throw new RecordingError(`${name}: ${NO_TEXT}`);
  }
}

const IS_JSON = 'is JSON: what is followed has a sample in each line.';
const IS_EDF = 'is EDF, of which a part says nothing: what is followed has a sample in each line.';
const NO_TEXT = 'is no text in UTF-8: what is followed has a sample in each line.';

/** Cells of one line. Quotes are ordinary characters if one is not closed. Undefined: a blank line. */
function cellsOfLine(line: string, delimiter: string): readonly string[] | undefined {
  try {
    return readCells(line, delimiter)[0]?.cells;
  } catch {
    return line.split(delimiter);
  }
}

function clockOf(cell: string, decimal: Layout['decimal']): SampleColumn['clock'] {
  return Number.isFinite(toNumber(cell, decimal)) ? 'seconds' : 'date';
}

function sampleOf(
  cells: readonly string[],
  line: number,
  { sampleAt, label, decimal, time }: Layout,
): SampleRow {
  const cell = cells[sampleAt]?.trim() ?? '';
  const sample = toNumber(cell, decimal);
  const seconds = time ? toTime(cells[time.at] ?? '', decimal, true) / time.unit : Number.NaN;
  const what = cell === '' ? 'is empty' : 'holds what is no number';
  const problem = Number.isFinite(sample) ? null : `“${label}” ${what}`;
  return { line, sample, seconds: Number.isFinite(seconds) ? seconds : null, problem };
}

function countOf(text: string, character: string): number {
  let count = 0;
  for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) count++;
  return count;
}
