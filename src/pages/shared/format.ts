import { toCsvRecord } from '../../lib/csv';

/** 0.98234 → "98.2 %". */
export function percent(probability: number): string {
  return `${(probability * 100).toFixed(1)} %`;
}

/** "0.42 ms", "12.3 ms", "1.20 s". */
export function milliseconds(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(2)} s`;
  return `${ms.toFixed(ms < 1 ? 2 : 1)} ms`;
}

/** 12.3 → "12.3 s", 75.5 → "1:15.5". */
export function clock(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const tenths = Math.round(seconds * 10);
  const rest = (tenths % 600) / 10;
  return `${Math.floor(tenths / 600)}:${rest.toFixed(1).padStart(4, '0')}`;
}

/** 1234567 → "1,234,567". */
export function count(value: number): string {
  return value.toLocaleString('en');
}

/** "1 line", "2 lines". */
export function plural(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
}

/** Serializes a table as CSV (RFC 4180). Escapes cells that a spreadsheet would evaluate as formulas. */
export function toCsv(
  header: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): string {
  return [header, ...rows]
    .map((cells) => `${toCsvRecord(cells, { escapeFormulas: true })}\r\n`)
    .join('');
}
