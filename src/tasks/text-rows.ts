import { fieldOf } from '../files/rows';
import type { InputRow } from './rows';

/** What rows of all tasks of texts have. */

export const TEXT_COLUMN = {
  'text-column': { value: 'NAME', help: 'of the texts (default: text)' },
} as const;

/** Whether a text was cut, as an answer's last column. */
export const TRUNCATED = {
  name: 'truncated',
  type: 'boolean',
  extract: ({ truncated }: { readonly truncated: boolean }) => truncated,
} as const;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Text of a column that only says that it holds bytes; null: it is not UTF-8. */
function decode(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

/** A column's text, or why there is none. */
export function textOf(row: InputRow, column: string): string | { readonly problem: string } {
  const value = fieldOf(row, column);
  if (value === undefined) return { problem: `${column}: there is no such column` };
  if (value instanceof Uint8Array) return decode(value) ?? { problem: `${column}: is not UTF-8` };
  return typeof value === 'string' ? value : { problem: `${column}: expected a string` };
}
