import { dumpJson } from '../../lib/python-json';

/** Text of a string or of JSON, as `json.dumps(value, ensure_ascii=False)` in Python. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : dumpJson(value);
}

/** As `textOf`; null for null, a missing value or an empty text. */
export function optionalText(value: unknown): string | null {
  if (value === null || value === undefined || value === '') return null;
  return textOf(value);
}
