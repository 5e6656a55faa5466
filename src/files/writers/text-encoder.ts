import { toCsvRecord } from '../../lib/csv';
import { toJson, toText } from '../cell-values';
import type { Compression } from '../formats';
import type { ResultColumn } from '../job-spec';
import type { OutputSchema } from '../output-schema';
import { fieldOf, type Row } from '../rows';
import { compressWhole } from './compress';
import type { OutputEncoder, PredictedRow } from './output-encoder';

/** Encodes JSONL or CSV. Each part is one gzip member or zstd frame; readers concatenate them. */
export function textEncoder(
  format: 'jsonl' | 'csv',
  schema: OutputSchema,
  compression: Compression,
): OutputEncoder {
  const lines = format === 'csv' ? csvLines : jsonLines;
  const compressed = (text: string) => compressWhole(Buffer.from(text), compression);
  return {
    rowsPerPart: 1,
    // Writes a valid compressed file even without rows.
    start: () => compressed(format === 'csv' ? csvHeader(schema) : ''),
    part: async (rows) => ({ bytes: await compressed(await lines(rows, schema)), state: null }),
    finish: async () => Buffer.alloc(0),
    restore: async () => {},
  };
}

/** CSV records (RFC 4180) that end with a line feed. An empty string is quoted, null is an empty cell. */
function toCsv(rows: readonly (readonly unknown[])[]): string {
  return rows.map((cells) => `${toCsvRecord(cells, { quoteEmpty: true })}\n`).join('');
}

function csvHeader({ keptColumns, resultColumns }: OutputSchema): string {
  return toCsv([[...(keptColumns ?? []), ...resultColumns].map(({ name }) => name)]);
}

async function csvLines(rows: readonly PredictedRow[], schema: OutputSchema): Promise<string> {
  const kept = schema.keptColumns ?? [];
  const results = rows.map(({ prediction }) => schema.resultCells(prediction));
  const columns = await Promise.all(
    schema.resultColumns.map((column, index) =>
      column.toJson || column.type === 'json'
        ? toJsonTexts(
            results.map((cells) => cells[index]),
            column,
          )
        : null,
    ),
  );
  return toCsv(
    rows.map(({ row }, at) => [
      ...kept.map(({ name }) => toText(fieldOf(row, name))),
      ...(results[at] as readonly unknown[]).map((cell, index) => columns[index]?.[at] ?? cell),
    ]),
  );
}

/** One object per line: kept columns, then prediction fields. */
async function jsonLines(rows: readonly PredictedRow[], schema: OutputSchema): Promise<string> {
  const fields = schema.resultFields.filter(({ parts }) => parts?.length !== 0);
  const values = await Promise.all(
    fields.map((field) => {
      const { parts, extract } = field;
      const all = rows.map(({ prediction }) => extract(prediction));
      return toJsonTexts(
        parts ? all.map((value) => toObject(parts, value as unknown[])) : all,
        field,
      );
    }),
  );
  let text = '';
  for (const [at, { row }] of rows.entries()) {
    let line = keptFields(row, schema);
    for (const [index, { name }] of fields.entries()) {
      line += `${line === '{' ? '' : ','}${JSON.stringify(name)}:${values[index]?.[at]}`;
    }
    text += `${line}}\n`;
  }
  return text;
}

async function toJsonTexts(
  values: readonly unknown[],
  { toJson }: Pick<ResultColumn, 'toJson'>,
): Promise<readonly string[]> {
  if (!toJson) return values.map((value) => JSON.stringify(value));
  return (await toJson(values)).map((text) => text.toString('latin1'));
}

function toObject(names: readonly string[], values: readonly unknown[]) {
  return Object.fromEntries(names.map((name, index) => [name, values[index]]));
}

/** JSON object of the kept columns, without the closing brace. */
function keptFields(row: Row, schema: OutputSchema): string {
  // A source line is copied, which keeps the digits of all numbers.
  if (row.json !== null) return row.json.slice(0, -1).trimEnd();
  const kept = schema.keptNames(row);
  return `{${kept.map((name) => `${JSON.stringify(name)}:${toJson(row.fields[name])}`).join(',')}`;
}
