const NEEDS_QUOTES = /[\r\n",\ufeff]|^ | $/;
/** Start of a cell that a spreadsheet evaluates as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

export interface CsvOptions {
  /** Quotes the empty string, to distinguish it from null. */
  readonly quoteEmpty?: boolean;
  /** Prefixes strings that a spreadsheet would evaluate as formulas with an apostrophe. */
  readonly escapeFormulas?: boolean;
}

/** Serializes one record as RFC 4180 defines it, without a line break. Null and undefined are empty cells. */
export function toCsvRecord(cells: readonly unknown[], options: CsvOptions = {}): string {
  return cells.map((cell) => toCell(cell, options)).join(',');
}

function toCell(value: unknown, { quoteEmpty, escapeFormulas }: CsvOptions): string {
  if (value === null || value === undefined) return '';
  const text = String(value);
  const isFormula = escapeFormulas && typeof value === 'string' && FORMULA.test(text);
  const isQuoted = isFormula || NEEDS_QUOTES.test(text) || (quoteEmpty && text === '');
  return isQuoted ? `"${isFormula ? "'" : ''}${text.replaceAll('"', '""')}"` : text;
}
