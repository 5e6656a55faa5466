import Papa from 'papaparse';
import type { Compression } from '../formats';
import type { Layout } from '../layout';
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
    part: async (rows) => ({ bytes: await compressed(lines(rows, layout)), state: null }),
    finish: async () => Buffer.alloc(0),
    restore: async () => {},
  };
}

/** CSV as RFC 4180 has it, in UTF-8, with line feeds. */
function toCsv(rows: readonly (readonly unknown[])[]): string {
  return `${Papa.unparse(rows as unknown[][], { newline: '\n' })}\n`;
}

function csvHeader({ kept, columns }: Layout): string {
  return toCsv([[...(kept ?? []), ...columns].map(({ name }) => name)]);
}

function csvLines(rows: readonly Answered[], layout: Layout): string {
  const kept = layout.kept ?? [];
  return toCsv(
    rows.map(({ row, answer }) => [
      ...kept.map(({ name }) => toText(fieldOf(row, name))),
      ...layout.cellsOf(answer),
    ]),
  );
}

/** One object a line: the columns of the row, then the members of the answer. */
function jsonLines(rows: readonly Answered[], layout: Layout): string {
  let text = '';
  for (const { row, answer } of rows) {
    let line = keptMembers(row, layout);
    for (const { name, parts, of } of layout.members) {
      if (parts?.length === 0) continue;
      const value = parts ? named(parts, of(answer) as unknown[]) : of(answer);
      line += `${line === '{' ? '' : ','}${JSON.stringify(name)}:${JSON.stringify(value)}`;
    }
    text += `${line}}\n`;
  }
  return text;
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
