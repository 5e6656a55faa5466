import { StringDecoder } from 'node:string_decoder';
import { isEdf } from '../../../recordings/edf/header';
import { RecordingError, type UnreadableChannel } from '../../../recordings/recording';
import { readCells, readTable, type TableColumn, tableColumns } from '../../../recordings/table';
import { toNumber, toTime } from '../../../recordings/time-column';

/** Maximum length of an incomplete line, in UTF-16 units. */
const MAX_LINE_LENGTH = 1_000_000;

/** Row of a table of samples. */
export interface SampleRow {
  /** Line number in the file, from 1 on. */
  readonly line: number;
  /** NaN if missing. */
  readonly sample: number;
  /** Time in seconds; null if the table has no times. */
  readonly seconds: number | null;
  /** Why the sample is missing, without the content of the cell; null if it is not. */
  readonly problem: string | null;
}

/** Column of samples. */
export interface SampleColumn {
  readonly label: string;
  readonly samplingRateHz: number | null;
  /** Format of the column of times; null if none. */
  readonly clock: 'seconds' | 'date' | null;
  /** Notes for the user. */
  readonly notes: readonly string[];
}

interface Layout {
  /** Number of cells per row. */
  readonly width: number;
  readonly delimiter: string;
  readonly decimal: '.' | ',';
  /** Index of the sample's column. */
  readonly sampleAt: number;
  readonly label: string;
  /** Index of the column of times, and its units per second; null if none. */
  readonly time: { readonly at: number; readonly unit: number } | null;
}

/** Detected format of a table. */
export interface TableFormat {
  readonly layout: Layout;
  readonly column: SampleColumn;
}

export interface SampleRowParserOptions {
  /** File name for errors. */
  readonly name: string;
  /** Number of lines from which the format is detected. */
  readonly detectionLines: number;
  /** @throws RecordingError: no column matches */
  readonly choose: (
    columns: readonly TableColumn[],
    unreadable: readonly UnreadableChannel[],
  ) => TableColumn;
  /** Format of the previous file of this name, used for a file without a header; null if none. */
  readonly previousFormat: TableFormat | null;
}

/**
 * Parses a growing table with one row per sample (see `parseCsv`). Detects the format from the first lines and keeps
 * an incomplete last line until its end arrives.
 */
export class SampleRowParser {
  readonly #options: SampleRowParserOptions;
  readonly #decoder = new StringDecoder('utf8');
  /** Null until enough lines are available. */
  format: TableFormat | null = null;
  /** Text that is not parsed yet: all lines before the detection, then the incomplete line. */
  #text = '';
  /** Number of lines before `#text`. */
  #linesBefore = 0;
  /** Number of line breaks in `#text`. */
  #lineBreaks = 0;

  constructor(options: SampleRowParserOptions) {
    this.#options = options;
  }

  get hasIncompleteLine(): boolean {
    return this.#text !== '' && !this.#text.endsWith('\n');
  }

  /** @throws RecordingError: the file is not a table of samples */
  push(bytes: Buffer): readonly SampleRow[] {
    if (this.#linesBefore === 0 && this.#text === '') this.#requireText(bytes);
    const text = this.#decoder.write(bytes);
    this.#text += text;
    this.#lineBreaks += countOf(text, '\n');
    const lineStart = this.#text.lastIndexOf('\n') + 1;
    if (this.#text.length - lineStart > MAX_LINE_LENGTH) {
      const line = this.#linesBefore + this.#lineBreaks + 1;
      throw new RecordingError(
        `${this.#options.name}, line ${line}: is longer than ${MAX_LINE_LENGTH} characters.`,
      );
    }
    if (this.format === null && this.#lineBreaks < this.#options.detectionLines) return [];
    return this.#parse(lineStart);
  }

  /**
   * Parses the remaining lines.
   *
   * @param isComplete whether the last line is complete without a line break
   * @throws RecordingError
   */
  end(isComplete: boolean): readonly SampleRow[] {
    const end = isComplete ? this.#text.length : this.#text.lastIndexOf('\n') + 1;
    return this.#text.slice(0, end).trim() === '' ? [] : this.#parse(end);
  }

  /** Parses `#text` up to `end`. */
  #parse(end: number): readonly SampleRow[] {
    const text = this.#text.slice(0, end);
    const [first, format] = this.format === null ? this.#detect(text) : [0, this.format];
    this.format = format;
    const { layout } = format;
    const rows: SampleRow[] = [];
    for (const [index, line] of text.split('\n').entries()) {
      const cells = index < first ? undefined : cellsOfLine(line, layout.delimiter);
      if (cells) rows.push(toRow(cells, this.#linesBefore + index + 1, layout));
    }
    this.#linesBefore += countOf(text, '\n');
    this.#text = this.#text.slice(end);
    this.#lineBreaks = 0;
    return rows;
  }

  /** @returns index of the first line with a sample, and the format */
  #detect(text: string): [number, TableFormat] {
    const { name, choose, previousFormat } = this.#options;
    const from = text.search(/[^\s\ufeff]/);
    const content = text.slice(Math.max(0, from)).trimEnd();
    if (/^[[{]/.test(content)) throw new RecordingError(`${name}: is JSON, ${EXPECTED}`);
    const table = readTable(content, name);
    const [row] = table.body;
    const first = countOf(text.slice(0, from), '\n') + ((row?.line ?? 1) - 1);
    const width = row?.cells.length ?? 0;
    if (table.header === null && previousFormat?.layout.width === width) {
      return [first, previousFormat];
    }
    const { columns, unreadable, time, notes } = tableColumns(table);
    const { label, at } = choose(columns, unreadable);
    const unit = time?.unit ?? null;
    const timeColumn = time === null || unit === null ? null : { at: time.at, unit };
    const { delimiter, decimal } = table;
    const layout = { width, delimiter, decimal, sampleAt: at, label, time: timeColumn };
    const clock = timeColumn && clockOf(row?.cells[timeColumn.at] ?? '', decimal);
    const samplingRateHz = time?.samplingRateHz ?? null;
    // Unlike in a recording, gaps between times are kept.
    const otherNotes = notes.filter((note) => !time?.notes.includes(note));
    return [first, { layout, column: { label, samplingRateHz, clock, notes: otherNotes } }];
  }

  #requireText(bytes: Buffer): void {
    const { name } = this.#options;
    if (isEdf(bytes)) throw new RecordingError(`${name}: is EDF, ${EXPECTED}`);
    if (bytes.subarray(0, 4096).includes(0)) {
      throw new RecordingError(`${name}: is not UTF-8 text, ${EXPECTED}`);
    }
  }
}

const EXPECTED = 'expected a CSV file with one sample per line. Convert the file.';

/** Cells of one line; quotes are ordinary characters if a quote is not closed. Undefined for a blank line. */
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

function toRow(
  cells: readonly string[],
  line: number,
  { sampleAt, label, decimal, time }: Layout,
): SampleRow {
  const cell = cells[sampleAt]?.trim() ?? '';
  const sample = toNumber(cell, decimal);
  const seconds = time ? toTime(cells[time.at] ?? '', decimal, true) / time.unit : Number.NaN;
  const reason = cell === '' ? 'is empty' : 'is not a number';
  const problem = Number.isFinite(sample) ? null : `“${label}” ${reason}`;
  return { line, sample, seconds: Number.isFinite(seconds) ? seconds : null, problem };
}

function countOf(text: string, character: string): number {
  let count = 0;
  for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) count++;
  return count;
}
