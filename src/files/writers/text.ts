import { toCsvRecord } from '../../lib/csv';
import type { Compression } from '../formats';
import type { Layout } from '../layout';
import type { AnswerColumn } from '../plan';
import { fieldOf, type Row } from '../rows';
import { compressWhole } from './compress';
import type { Answered, Encoder } from './encoder';
import { toJson, toText } from './values';

/** Each part is a gzip member or a zstd frame of its own; readers take several for one file. */
export function textEncoder(
  format: 'jsonl' | 'csv',
  layout: Layout,
  compression: Compression,
): Encoder {
  const lines = format === 'csv' ? csvLines : jsonLines;
  const compressed = (text: string) => compressWhole(Buffer.from(text), compression);
  return {
    rowsOfPart: 1,
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

function csvHeader({ kept, columns }: Layout): string {
  return toCsv([[...(kept ?? []), ...columns].map(({ name }) => name)]);
}

async function csvLines(rows: readonly Answered[], layout: Layout): Promise<string> {
  const kept = layout.kept ?? [];
  const answers = rows.map(({ answer }) => layout.cellsOf(answer));
  const columns = await Promise.all(
    layout.columns.map((column, index) =>
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
async function jsonLines(rows: readonly Answered[], layout: Layout): Promise<string> {
  const members = layout.members.filter(({ parts }) => parts?.length !== 0);
  const values = await Promise.all(
    members.map((member) => {
      const { parts, of } = member;
      const all = rows.map(({ answer }) => of(answer));
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
  { toJson }: Pick<AnswerColumn, 'toJson'>,
): Promise<readonly string[]> {
  if (!toJson) return values.map((value) => JSON.stringify(value));
  return (await toJson(values)).map((text) => text.toString('latin1'));
}

function named(names: readonly string[], values: readonly unknown[]) {
  return Object.fromEntries(names.map((name, index) => [name, values[index]]));
}

/** An object up to its last member, without what closes it. */
function keptMembers(row: Row, layout: Layout): string {
  // A line of a person's own keeps its numbers digit by digit.
  if (row.json !== null) return row.json.slice(0, -1).trimEnd();
  const kept = layout.keptOf(row);
  return `{${kept.map((name) => `${JSON.stringify(name)}:${toJson(row.fields[name])}`).join(',')}`;
}
