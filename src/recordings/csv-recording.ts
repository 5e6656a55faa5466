import Papa from 'papaparse';
import { toNumber } from './numbers';
import { type Channel, type Recording, RecordingError } from './recording';
import { asTime, isTimeName, type TimeColumn } from './time-column';

type Row = readonly string[];

/** How numbers and columns are written. */
interface Dialect {
  readonly delimiter: string;
  readonly decimal: '.' | ',';
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
  if (/^[[{]/.test(content)) return parseJson(content, name);
  const dialect = detectDialect(content);
  // Columns that are set with spaces have any number of them.
  const even =
    dialect.delimiter === ' ' ? content.replace(/^ +| +$/gm, '').replace(/ +/g, ' ') : content;
  const { data } = Papa.parse<string[]>(even, { delimiter: dialect.delimiter });
  const rows = data.map((cells, index) => ({ line: index + 1, cells }));
  const filled = rows.filter(({ cells }) => cells.some((cell) => cell.trim() !== ''));
  return toRecording(filled, { name, dialect });
}

function detectDialect(content: string): Dialect {
  const sample = content.slice(0, 20_000);
  const delimiter = [';', '\t', ',', ' '].find((candidate) => sample.includes(candidate)) ?? ',';
  if (delimiter === ',') return { delimiter, decimal: '.' };
  // A comma between digits, and no point between any: 12,5 is twelve and a half.
  const hasDecimalCommas = /\d,\d/.test(sample) && !/\d\.\d/.test(sample);
  return { delimiter, decimal: hasDecimalCommas ? ',' : '.' };
}

interface Source {
  readonly name: string;
  readonly dialect: Dialect;
}

interface NumberedRow {
  readonly line: number;
  readonly cells: Row;
}

function toRecording(rows: readonly NumberedRow[], source: Source): Recording {
  const { decimal } = source.dialect;
  const looksLikeText = (row: NumberedRow | undefined) => {
    const filled = (row?.cells ?? []).filter((cell) => cell.trim() !== '');
    const words = filled.filter((cell) => !Number.isFinite(toNumber(cell, decimal)));
    return words.length > filled.length / 2;
  };
  const header = looksLikeText(rows[0]) ? (rows[0] as NumberedRow).cells : null;
  const units = header && looksLikeText(rows[1]) ? (rows[1] as NumberedRow).cells : null;
  const body = rows.slice((header ? 1 : 0) + (units ? 1 : 0));
  if (body.length === 0)
    throw new RecordingError(`${source.name}: there is no row of numbers in it.`);
  const [only] = body;
  if (body.length === 1 && only && header === null && only.cells.length > 1) {
    const column = only.cells.map((cell) => ({ line: only.line, cells: [cell] }));
    return collect(column, { header: null, units: null }, source);
  }
  return collect(body, { header, units }, source);
}

function collect(
  body: readonly NumberedRow[],
  { header, units }: { readonly header: Row | null; readonly units: Row | null },
  source: Source,
): Recording {
  // Not Math.max(...): a file can have more rows than a call can have arguments.
  const width = body.reduce((most, { cells }) => Math.max(most, cells.length), 0);
  const notes: string[] = [];
  const channels: Omit<Channel, 'samplingRateHz'>[] = [];
  let time: TimeColumn | null = null;
  for (let at = 0; at < width; at++) {
    const title = header?.[at]?.trim() || null;
    const cells = body.map((row) => row.cells[at]?.trim() ?? '');
    if (time === null && (at === 0 || isTimeName(title))) {
      time = asTime(cells, { title, decimal: source.dialect.decimal, isAlone: width === 1 });
      if (time !== null) {
        notes.push(...time.notes);
        continue;
      }
    }
    const label = title ?? `Channel ${channels.length + 1}`;
    const samples = toSamples({ label, cells, body }, source);
    if (samples !== null) channels.push({ label, unit: units?.[at]?.trim() || null, samples });
    else if (title !== null) notes.push(`“${label}” is left out: it holds no numbers.`);
  }
  if (channels.length === 0) {
    throw new RecordingError(`${source.name}: there is no column of numbers in it.`);
  }
  if (mayBeDecimalCommas(body, header, source.dialect)) {
    notes.push(
      'Read as two columns. If the commas are decimal commas, write points, or end each line with a semicolon.',
    );
  }
  const samplingRateHz = time?.samplingRateHz ?? null;
  const { name } = source;
  return { name, notes, channels: channels.map((channel) => ({ ...channel, samplingRateHz })) };
}

interface Column {
  readonly label: string;
  readonly cells: Row;
  readonly body: readonly NumberedRow[];
}

/** null: the column holds words, or nothing. A channel may be shorter than its neighbours. */
function toSamples({ label, cells, body }: Column, { name, dialect }: Source): Float64Array | null {
  const length = cells.findLastIndex((cell) => cell !== '') + 1;
  const samples = Float64Array.from({ length }, (_, i) =>
    toNumber(cells[i] as string, dialect.decimal),
  );
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
function mayBeDecimalCommas(
  body: readonly NumberedRow[],
  header: Row | null,
  { delimiter }: Dialect,
) {
  return (
    delimiter === ',' &&
    header === null &&
    body.every(
      ({ cells }) =>
        cells.length === 2 &&
        /^\s*[-+]?\d+$/.test(cells[0] ?? '') &&
        /^\d+\s*$/.test(cells[1] ?? ''),
    )
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
