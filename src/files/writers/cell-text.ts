import { formatTimestamp, JsonText, Timestamp } from '../cell-values';

/** JSON of what a cell can hold. Numbers keep their digits; those that JSON does not have are strings. */
export function toJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') {
    return Number.isFinite(value) ? numberText(value) : `"${numberText(value)}"`;
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  // White space of a document may be new lines, which end a line of JSONL.
  if (value instanceof JsonText) return value.text.replace(/[\r\n]+/g, ' ');
  if (value instanceof Timestamp) return JSON.stringify(formatTimestamp(value.millis, 3));
  if (value instanceof Uint8Array) return JSON.stringify(base64(value));
  if (Array.isArray(value) || ArrayBuffer.isView(value)) {
    return `[${Array.from(value as ArrayLike<unknown>, toJson).join(',')}]`;
  }
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${toJson(member)}`).join(',')}}`;
}

/** As a cell of a table, or in a column of strings: a string as it is, all else as JSON without quotes. */
export function toText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return numberText(value);
  if (value instanceof JsonText) return value.text;
  if (value instanceof Timestamp) return formatTimestamp(value.millis, 3);
  return value instanceof Uint8Array ? base64(value) : toJson(value);
}

function numberText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
}
