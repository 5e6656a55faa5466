import { requireSegmentCount } from './limits';
import { type Channel, CONTINUOUS, type Recording, RecordingError } from './recording';
import { readTable, type Table, type TableColumn, tableColumns } from './table';

/**
 * Reads a CSV table with one row per sample and one column per channel, or one row with all samples of a channel, or
 * a JSON array, or the JSON body of a request. Detects a header row, a row of units and a column of times.
 *
 * @throws RecordingError
 */
export function parseCsv(text: string, name: string): Recording {
  const content = text.replace(/^\ufeff/, '').trim();
  if (content === '') throw new RecordingError(`${name}: is empty.`);
  return /^[[{]/.test(content) ? parseJson(content, name) : toRecording(readTable(content, name));
}

function toRecording(table: Table): Recording {
  const { columns, unreadable, time, notes } = tableColumns(table);
  const samplingRateHz = time?.samplingRateHz ?? null;
  const segments = time?.segments ?? CONTINUOUS;
  requireSegmentCount(segments.length, table.name);
  const channels = columns.map((column): Channel => {
    const { label, isNamed, unit } = column;
    const samples = toSamples(column, table);
    const own = segments.filter(({ firstSample }) => firstSample < samples.length);
    return { label, isNamed, unit, samplingRateHz, samples, segments: own };
  });
  return { name: table.name, notes, channels, unreadable, annotations: [], startTime: null };
}

function toSamples({ label, samples, cells }: TableColumn, { name, body }: Table): Float64Array {
  const bad = samples.findIndex((value) => !Number.isFinite(value));
  if (bad < 0) return samples;
  const cell = cells[bad] as string;
  const what =
    cell === '' ? 'is empty' : `is ${JSON.stringify(cell.slice(0, 40))}, expected a number`;
  throw new RecordingError(
    `${name}, line ${body[bad]?.line}: “${label}” ${what}. Cut the recording there or fill the gap.`,
  );
}

function parseJson(content: string, name: string): Recording {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    throw new RecordingError(`${name}: is not valid JSON.`);
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
  if (bad >= 0) throw new RecordingError(`${name}: element ${bad} of the array is not a number.`);
  const samples = Float64Array.from(signal as number[]);
  const channel = { label: 'Channel 1', isNamed: false, unit: null, samplingRateHz: null, samples };
  const channels = [{ ...channel, segments: CONTINUOUS }];
  return { name, notes: [], channels, unreadable: [], annotations: [], startTime: null };
}
