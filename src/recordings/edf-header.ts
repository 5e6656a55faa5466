/** Type and size of a header field. */
type Field = readonly ['text' | 'number', bytes: number];

/** Version, patient, recording, date, time, header size, reserved, records, seconds per record, signals. */
const HEADER: readonly Field[] = [
  ['text', 8],
  ['text', 80],
  ['text', 80],
  ['text', 8],
  ['text', 8],
  ['number', 8],
  ['text', 44],
  ['number', 8],
  ['number', 8],
  ['number', 4],
];
/** Label, transducer, unit, physical and digital range, filters, samples per record, reserved. */
const SIGNAL: readonly Field[] = [
  ['text', 16],
  ['text', 80],
  ['text', 8],
  ['number', 8],
  ['number', 8],
  ['number', 8],
  ['number', 8],
  ['text', 80],
  ['number', 8],
  ['text', 32],
];
const NUMBER = /^[-+]?(?:\d+[.,]?\d*|[.,]\d+)(?:e[-+]?\d+)?$/i;

export const HEADER_BYTES = 256;

/** Normalizes a header that has NUL padding or decimal commas. */
export function normalizeHeader(text: string): string {
  return normalize(text, HEADER, 1);
}

/** Normalizes the headers of the signals. */
export function normalizeSignalHeaders(text: string, signals: number): string {
  return normalize(text, SIGNAL, signals);
}

function normalize(text: string, fields: readonly Field[], times: number): string {
  let start = 0;
  let all = '';
  for (const [kind, bytes] of fields) {
    for (let index = 0; index < times; index++) {
      const [value = ''] = text.slice(start, start + bytes).split('\0');
      all += (kind === 'text' ? value : numberText(value)).padEnd(bytes);
      start += bytes;
    }
  }
  return all;
}

/** The library would read an empty field as 0 and 0x10 as 16. */
function numberText(value: string): string {
  const trimmed = value.trim();
  return NUMBER.test(trimmed) ? trimmed.replace(',', '.') : 'NaN';
}
