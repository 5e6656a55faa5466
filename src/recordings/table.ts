import { CsvError, parse } from 'csv-parse/sync';
import { type Channel, RecordingError, type UnreadableChannel } from './recording';
import { asTime, isTimeName, type TimeColumn, toNumber } from './time-column';

type Cells = readonly string[];

/** Rows of a CSV file and its format. */
export interface Table {
  readonly name: string;
  readonly delimiter: string;
  readonly decimal: '.' | ',';
  readonly header: Cells | null;
  readonly units: Cells | null;
  readonly body: readonly { readonly line: number; readonly cells: Cells }[];
}

/** Column of samples. */
export interface TableColumn extends Pick<Channel, 'label' | 'isNamed' | 'unit'> {
  /** Index of the column. */
  readonly at: number;
  /** Cells as text and as numbers. A channel can be shorter than other channels. */
  readonly cells: Cells;
  readonly samples: Float64Array;
}

export interface TableColumns {
  /** At least one column. */
  readonly columns: readonly TableColumn[];
  readonly unreadable: readonly UnreadableChannel[];
  /** Column of times; null if none. */
  readonly time: (TimeColumn & { readonly at: number }) | null;
  readonly notes: readonly string[];
}

/**
 * Reads a table and detects its delimiter, decimal separator, header and units.
 *
 * @param content not empty
 * @throws RecordingError
 */
export function readTable(content: string, name: string): Table {
  const sample = content.slice(0, 20_000);
  const delimiter = [';', '\t', ',', ' '].find((candidate) => sample.includes(candidate)) ?? ',';
  // A comma between digits and no point between digits is a decimal comma, as in 12,5.
  const hasDecimalCommas = /\d,\d/.test(sample) && !/\d\.\d/.test(sample);
  const decimal = delimiter !== ',' && hasDecimalCommas ? ',' : '.';
  const rows = readRows(content, delimiter, name);
  const textOf = (row: Table['body'][number] | undefined): Cells | null => {
    const filled = row?.cells.filter((cell) => cell.trim() !== '') ?? [];
    const words = filled.filter((cell) => !Number.isFinite(toNumber(cell, decimal)));
    return row && words.length > filled.length / 2 ? row.cells : null;
  };
  const header = textOf(rows[0]);
  const second = header && textOf(rows[1]);
  const units = second?.every(mayBeUnit) ? second : null;
  const body = rows.slice((header ? 1 : 0) + (units ? 1 : 0));
  const [only] = body;
  if (!only) throw new RecordingError(`${name}: has no row of numbers.`);
  const table = { name, delimiter, decimal, header, units, body } as const;
  if (body.length > 1 || header !== null || only.cells.length === 1) return table;
  return { ...table, body: only.cells.map((cell) => ({ line: only.line, cells: [cell] })) };
}

/** Missing and infinite samples are not units; cells with digits can be unsupported number formats. */
function mayBeUnit(cell: string): boolean {
  return !/\d|^\s*(?:nan|n\/?a|null|none|[-+\u2212]?inf(?:inity)?)\s*$/i.test(cell);
}

/**
 * Splits CSV text into its rows, without blank rows.
 *
 * @throws CsvError: a quote is not closed
 */
export function readCells(content: string, delimiter: string): Table['body'] {
  // Columns aligned with spaces are separated by any number of spaces.
  const text = delimiter === ' ' ? content.replace(/^ +| +$/gm, '').replace(/ +/g, ' ') : content;
  const records: string[][] = text.includes('"')
    ? parse(text, {
        delimiter,
        record_delimiter: ['\r\n', '\n', '\r'],
        relax_column_count: true,
        relax_quotes: true,
      })
    : // Without quotes: 20 times the speed of the parser for a line, 3 times for a file.
      text.split(/\r\n|\n|\r/).map((line) => line.split(delimiter));
  return records
    .map((cells, index) => ({ line: index + 1, cells }))
    .filter(({ cells }) => cells.some((cell) => cell.trim() !== ''));
}

/** @throws RecordingError */
function readRows(content: string, delimiter: string, name: string): Table['body'] {
  try {
    return readCells(content, delimiter);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new RecordingError(`${name}, line ${error.lines}: a quote is never closed.`);
  }
}

/** Finds the columns of samples and of times. @throws RecordingError: no column contains numbers */
export function tableColumns(table: Table): TableColumns {
  const { name, decimal, header, units, body } = table;
  // A file can have more rows than a call of Math.max can have arguments.
  const width = body.reduce((most, { cells }) => Math.max(most, cells.length), 0);
  requireHeaderForCells(table);
  const notes: string[] = [];
  const columns: TableColumn[] = [];
  const unreadable: UnreadableChannel[] = [];
  let time: TableColumns['time'] = null;
  for (let at = 0; at < width; at++) {
    const title = header?.[at]?.trim() || null;
    const cells = body.map((row) => row.cells[at]?.trim() ?? '');
    if (time === null && (at === 0 || isTimeName(title))) {
      const found = asTime(cells, title, decimal, width === 1);
      if (found !== null) {
        time = { ...found, at };
        notes.push(...found.notes);
        continue;
      }
    }
    const isNamed = title !== null;
    const hasCells = cells.some((cell) => cell !== '');
    // A delimiter at the end of each line makes an empty last column.
    if (!isNamed && !hasCells) continue;
    const label = title ?? `Channel ${columns.length + unreadable.length + 1}`;
    const samples = toNumbers(cells, decimal);
    const unit = units?.[at]?.trim() || null;
    if (samples !== null) {
      columns.push({ label, isNamed, unit, at, cells, samples });
      continue;
    }
    const reason = hasCells ? 'contains no numbers' : 'has no samples';
    unreadable.push({ label, isNamed, reason });
    if (isNamed) notes.push(`“${label}” is skipped: it ${reason}.`);
  }
  if (columns.length === 0) {
    const problem = ['has no column of numbers.', ...notes].join(' ');
    throw new RecordingError(`${name}: ${problem}`);
  }
  if (mayBeDecimalCommas(table)) {
    notes.push(
      'Read as two columns. If the commas are decimal commas, write points, or end each line with a semicolon.',
    );
  }
  return { columns, unreadable, time, notes };
}

/** Rejects rows that are longer than the header: decimal commas would be split into two cells. */
function requireHeaderForCells({ name, header, body }: Table): void {
  if (header === null) return;
  const more = body.find(({ cells }) => cells.slice(header.length).some((cell) => cell.trim()));
  if (!more) return;
  const counts = `has ${more.cells.length} cells, the header has ${header.length}`;
  throw new RecordingError(
    `${name}, line ${more.line}: ${counts}. If the commas are decimal commas, write points, or separate cells with semicolons.`,
  );
}

/** Null if most cells are not numbers, or all cells are empty. */
function toNumbers(cells: Cells, decimal: Table['decimal']): Float64Array | null {
  const length = cells.findLastIndex((cell) => cell !== '') + 1;
  const samples = Float64Array.from({ length }, (_, i) => toNumber(cells[i] as string, decimal));
  const numbers = samples.filter(Number.isFinite).length;
  return length === 0 || numbers * 2 < length ? null : samples;
}

/** Whether each row could be one number with a decimal comma, such as 12,5. */
function mayBeDecimalCommas({ delimiter, header, body }: Table): boolean {
  if (delimiter !== ',' || header !== null) return false;
  const [whole, fraction] = [/^\s*[-+]?\d+$/, /^\d+\s*$/];
  return body.every(
    ({ cells: [first = '', second = '', ...rest] }) =>
      rest.length === 0 && whole.test(first) && fraction.test(second),
  );
}
