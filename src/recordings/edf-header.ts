/** How a header is written: what each field holds, and its bytes. */
type Field = readonly ['text' | 'number', bytes: number];

/** Version, patient, recording, date, time, bytes of the header, reserved, records, seconds of one, signals. */
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
/** Label, transducer, unit, physical and digital range, filters, samples in a record, reserved. */
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

/** The header as the format has it, of one that is padded with NUL, or has decimal commas. */
export function plainHeader(text: string): string {
  return plain(text, HEADER, 1);
}

/** The same of the headers of the signals. */
export function plainSignals(text: string, signals: number): string {
  return plain(text, SIGNAL, signals);
}

function plain(text: string, fields: readonly Field[], times: number): string {
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

/** The library takes an empty field for 0, and 0x10 for 16. */
function numberText(value: string): string {
  const trimmed = value.trim();
  return NUMBER.test(trimmed) ? trimmed.replace(',', '.') : 'NaN';
}
