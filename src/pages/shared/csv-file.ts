import Papa from 'papaparse';

export type Cell = string | number | null;

/** A table as RFC 4180 has it; what a spreadsheet would take for a formula is made harmless. */
export function toCsv(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const table = { fields: [...header], data: rows.map((row) => [...row]) };
  return `${Papa.unparse(table, { escapeFormulae: true, newline: '\r\n' })}\r\n`;
}
