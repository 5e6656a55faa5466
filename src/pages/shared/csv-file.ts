import { toCsvRecord } from '../../lib/csv';

export type Cell = string | number | null;

/** Serializes a table as CSV (RFC 4180); escapes cells that a spreadsheet would evaluate as formulas. */
export function toCsv(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [header, ...rows]
    .map((cells) => `${toCsvRecord(cells, { escapeFormulas: true })}\r\n`)
    .join('');
}
