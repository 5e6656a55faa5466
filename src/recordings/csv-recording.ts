import Papa from 'papaparse';
import { type Channel, type Recording, RecordingError } from './recording';
import { asTime, isTimeName, type TimeColumn, toNumber } from './time-column';

type Cells = readonly string[];

/** A table of samples, and how its numbers and columns are written. */
interface Table {
  readonly name: string;
  readonly delimiter: string;
  readonly decimal: '.' | ',';
  readonly header: Cells | null;
  readonly units: Cells | null;
  readonly body: readonly { readonly line: number; readonly cells: Cells }[];
}

/**
 * Reads a table of samples: one row a sample, one column a channel; or all samples of one channel
 * in one row; or a JSON array, or the JSON body of a request. A header row, a row of units below
 * it and a column of times are recognized.
 *
 * @throws RecordingError
 */
export function parseCsv(text: string, name: string): Recording {
  const content = text.replace(/^\ufeff/, '').trim();
  if (content === '') throw new RecordingError(`${name}: there is nothing in it.`);
  return /^[[{]/.test(content) ? parseJson(content, name) : toRecording(readTable(content, name));
}

function readTable(content: string, name: string): Table {
  const sample = content.slice(0, 20_000);
  const delimiter = [';', '\t', ',', ' '].find((candidate) => sample.includes(candidate)) ?? ',';
  // A comma between digits, and no point between any: 12,5 is twelve and a half.
  const hasDecimalCommas = /\d,\d/.test(sample) && !/\d\.\d/.test(sample);
  const decimal = delimiter !== ',' && hasDecimalCommas ? ',' : '.';
  // Columns that are set with spaces have any number of them.
  const even = delimiter === ' ' ? content.replace(/^ +| +$/gm, '').replace(/ +/g, ' ') : content;
  const rows = Papa.parse<string[]>(even, { delimiter })
    .data.map((cells, index) => ({ line: index + 1, cells }))
    .filter(({ cells }) => cells.some((cell) => cell.trim() !== ''));
  const textOf = (row: Table['body'][number] | undefined): Cells | null => {
    const filled = row?.cells.filter((cell) => cell.trim() !== '') ?? [];
    const words = filled.filter((cell) => !Number.isFinite(toNumber(cell, decimal)));
    return row && words.length > filled.length / 2 ? row.cells : null;
  };
  const header = textOf(rows[0]);
  const units = header && textOf(rows[1]);
  const body = rows.slice((header ? 1 : 0) + (units ? 1 : 0));
  const [only] = body;
  if (!only) throw new RecordingError(`${name}: there is no row of numbers in it.`);
  const table = { name, delimiter, decimal, header, units, body } as const;
  if (body.length > 1 || header !== null || only.cells.length === 1) return table;
  return { ...table, body: only.cells.map((cell) => ({ line: only.line, cells: [cell] })) };
}

function toRecording(table: Table): Recording {
  const { name, decimal, header, units, body } = table;
  // Not Math.max(...): a file can have more rows than a call can have arguments.
  const width = body.reduce((most, { cells }) => Math.max(most, cells.length), 0);
  const notes: string[] = [];
  const channels: Omit<Channel, 'samplingRateHz'>[] = [];
  let time: TimeColumn | null = null;
  for (let at = 0; at < width; at++) {
    const title = header?.[at]?.trim() || null;
    const cells = body.map((row) => row.cells[at]?.trim() ?? '');
    if (time === null && (at === 0 || isTimeName(title))) {
      time = asTime(cells, title, decimal, width === 1);
      if (time !== null) {
        notes.push(...time.notes);
        continue;
      }
    }
    const label = title ?? `Channel ${channels.length + 1}`;
    const samples = toSamples(label, cells, table);
    if (samples !== null) channels.push({ label, unit: units?.[at]?.trim() || null, samples });
    else if (title !== null) notes.push(`“${label}” is left out: it holds no numbers.`);
  }
  if (channels.length === 0) {
    throw new RecordingError(`${name}: there is no column of numbers in it.`);
  }
  if (mayBeDecimalCommas(table)) {
    notes.push(
      'Read as two columns. If the commas are decimal commas, write points, or end each line with a semicolon.',
    );
  }
  const samplingRateHz = time?.samplingRateHz ?? null;
  return { name, notes, channels: channels.map((channel) => ({ ...channel, samplingRateHz })) };
}

/** null: the column holds words, or nothing. A channel may be shorter than its neighbours. */
function toSamples(
  label: string,
  cells: Cells,
  { name, decimal, body }: Table,
): Float64Array | null {
  const length = cells.findLastIndex((cell) => cell !== '') + 1;
  const samples = Float64Array.from({ length }, (_, i) => toNumber(cells[i] as string, decimal));
  const numbers = samples.filter(Number.isFinite).length;
  if (length === 0 || numbers * 2 < length) return null;
  const bad = samples.findIndex((value) => !Number.isFinite(value));
  if (bad < 0) return samples;
  const cell = cells[bad] as string;
  const what =
    cell === '' ? 'is empty' : `holds ${JSON.stringify(cell.slice(0, 40))}, which is no number`;
  throw new RecordingError(
    `${name}, line ${body[bad]?.line}: “${label}” ${what}. Cut the recording there, or fill the gap.`,
  );
}

/** "12,5" on each line: two columns, or one of twelve and a half? */
function mayBeDecimalCommas({ delimiter, header, body }: Table): boolean {
  if (delimiter !== ',' || header !== null) return false;
  const [whole, fraction] = [/^\s*[-+]?\d+$/, /^\d+\s*$/];
  return body.every(
    ({ cells: [first = '', second = '', ...rest] }) =>
      rest.length === 0 && whole.test(first) && fraction.test(second),
  );
}

function parseJson(content: string, name: string): Recording {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    throw new RecordingError(`${name}: begins like JSON, but is none.`);
  }
  const signal = Array.isArray(value) ? value : (value as { readonly signal?: unknown }).signal;
  if (!Array.isArray(signal) || signal.length === 0) {
    throw new RecordingError(
      `${name}: expected a JSON array of numbers, or an object with such a "signal".`,
    );
  }
  const bad = signal.findIndex(
    (element) => typeof element !== 'number' || !Number.isFinite(element),
  );
  if (bad >= 0) throw new RecordingError(`${name}: element ${bad} of the array is no number.`);
  const samples = Float64Array.from(signal as number[]);
  return {
    name,
    notes: [],
    channels: [{ label: 'Channel 1', unit: null, samplingRateHz: null, samples }],
  };
}
