import { toCsvRecord } from '../../lib/csv';
import type { Compression } from '../formats';
import type { ResultColumn } from '../job-spec';
import type { OutputSchema } from '../output-schema';
import { fieldOf, type Row } from '../rows';
import { toJson, toText } from './cell-text';
import { compressWhole } from './compress';
import type { OutputEncoder, PredictedRow } from './output-encoder';

/** Each part is a gzip member or a zstd frame of its own; readers take several for one file. */
export function textEncoder(
  format: 'jsonl' | 'csv',
  layout: OutputSchema,
  compression: Compression,
): OutputEncoder {
  const lines = format === 'csv' ? csvLines : jsonLines;
  const compressed = (text: string) => compressWhole(Buffer.from(text), compression);
  return {
    rowsPerPart: 1,
    // A compressed file without rows is one that can be read, too.
    start: () => compressed(format === 'csv' ? csvHeader(layout) : ''),
    part: async (rows) => ({ bytes: await compressed(await lines(rows, layout)), state: null }),
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

async function csvLines(rows: readonly PredictedRow[], layout: OutputSchema): Promise<string> {
  const kept = layout.keptColumns ?? [];
  const answers = rows.map(({ prediction }) => layout.resultCells(prediction));
  const columns = await Promise.all(
    layout.resultColumns.map((column, index) =>
      column.toJson || column.type === 'json'
        ? jsonOf(
            answers.map((cells) => cells[index]),
            column,
          )
        : null,
    ),
  );
  return toCsv(
    rows.map(({ row }, at) => [
      ...kept.map(({ name }) => toText(fieldOf(row, name))),
      ...(answers[at] as readonly unknown[]).map((cell, index) => columns[index]?.[at] ?? cell),
    ]),
  );
}

/** One object a line: the columns of the row, then the members of the answer. */
async function jsonLines(rows: readonly PredictedRow[], layout: OutputSchema): Promise<string> {
  const members = layout.resultFields.filter(({ parts }) => parts?.length !== 0);
  const values = await Promise.all(
    members.map((member) => {
      const { parts, extract } = member;
      const all = rows.map(({ prediction }) => extract(prediction));
      return jsonOf(parts ? all.map((value) => named(parts, value as unknown[])) : all, member);
    }),
  );
  let text = '';
  for (const [at, { row }] of rows.entries()) {
    let line = keptMembers(row, layout);
    for (const [index, { name }] of members.entries()) {
      line += `${line === '{' ? '' : ','}${JSON.stringify(name)}:${values[index]?.[at]}`;
    }
    text += `${line}}\n`;
  }
  return text;
}

async function jsonOf(
  values: readonly unknown[],
  { toJson }: Pick<ResultColumn, 'toJson'>,
): Promise<readonly string[]> {
  if (!toJson) return values.map((value) => JSON.stringify(value));
  return (await toJson(values)).map((text) => text.toString('latin1'));
}

function named(names: readonly string[], values: readonly unknown[]) {
  return Object.fromEntries(names.map((name, index) => [name, values[index]]));
}

/** An object up to its last member, without what closes it. */
function keptMembers(row: Row, layout: OutputSchema): string {
  // A line of a person's own keeps its numbers digit by digit.
  if (row.json !== null) return row.json.slice(0, -1).trimEnd();
  const kept = layout.keptNames(row);
  return `{${kept.map((name) => `${JSON.stringify(name)}:${toJson(row.fields[name])}`).join(',')}`;
}
