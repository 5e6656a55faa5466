import { parse as parseDisposition } from 'content-disposition';
import { parse as parseContentType } from 'content-type';
import { ServiceError } from '../../serving/errors';

/** Parts of a form, and characters of the headers of a part: more are no form that a client means. */
const MOST_PARTS = 100;
const MOST_HEADERS = 8192;
/** Longest boundary (RFC 2046, 5.1.1). */
const MOST_BOUNDARY = 70;

/** Values of the first field of each name, as bytes. Names are those of the caller only. */
export type Fields = ReadonlyMap<string, Buffer>;

/**
 * application/x-www-form-urlencoded.
 *
 * @param names fields to read
 */
export function readUrlEncoded(bytes: Buffer, names: readonly string[]): Fields {
  const fields = new Map<string, Buffer>();
  let begin = 0;
  while (begin < bytes.length) {
    const found = bytes.indexOf('&', begin);
    const end = found < 0 ? bytes.length : found;
    const equals = bytes.subarray(begin, end).indexOf('=');
    const nameEnd = equals < 0 ? end : begin + equals;
    // A name that is longer than any that is looked for, each byte encoded, need not be decoded.
    if (nameEnd - begin <= MOST_HEADERS) {
      const name = unescaped(bytes.subarray(begin, nameEnd)).toString('latin1');
      if (names.includes(name) && !fields.has(name)) {
        fields.set(name, unescaped(bytes.subarray(Math.min(nameEnd + 1, end), end)));
      }
    }
    begin = end + 1;
  }
  return fields;
}

function unescaped(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1').replaceAll('+', ' '); // a character for each byte
  const decode = (_: string, digits: string): string =>
    String.fromCharCode(Number.parseInt(digits, 16));
  return Buffer.from(text.replaceAll(/%([\da-f]{2})/gi, decode), 'latin1');
}

/**
 * multipart/form-data (RFC 7578), with what RFC 2046 and RFC 2183 allow: a preamble, an epilogue, white space behind a
 * boundary, headers in any case and folded, parameters without quotes. Lines may end without a carriage return.
 *
 * @param contentType of the request
 * @throws ServiceError BODY_INVALID
 */
export function readMultipart(
  bytes: Buffer,
  contentType: string,
  names: readonly string[],
): Fields {
  const { boundary = '' } = parseContentType(contentType).parameters;
  if (boundary === '' || boundary.length > MOST_BOUNDARY) {
    throw invalid(`boundary of the Content-Type: expected 1 to ${MOST_BOUNDARY} characters`);
  }
  const fields = new Map<string, Buffer>();
  const text = bytes.toString('latin1'); // a character for each byte
  let count = 0;
  for (const [begin, end] of partsOf(text, boundary)) {
    if (++count > MOST_PARTS) throw invalid(`expected at most ${MOST_PARTS} parts`);
    const part = headersOf(text, begin, end);
    const name = part && nameOf(part.headers);
    if (part && name != null && names.includes(name) && !fields.has(name)) {
      fields.set(name, bytes.subarray(part.end, end));
    }
  }
  return fields;
}

/** Where parts begin, behind the line of their delimiter, and where they end, before the line break of the next. */
function* partsOf(
  text: string,
  boundary: string,
): Generator<readonly [begin: number, end: number]> {
  const escaped = boundary.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  // What only begins with the boundary is content.
  const delimiter = new RegExp(`(?:^|\\r?\\n)--${escaped}(--)?[ \\t]*(?=\\r?\\n|$)`, 'g');
  let begin = -1;
  for (const match of text.matchAll(delimiter)) {
    // The line break before a delimiter may be the one behind the delimiter before.
    if (begin >= 0) yield [begin, Math.max(begin, match.index)];
    if (match[1] !== undefined) return;
    begin = match.index + match[0].length;
  }
  throw invalid('is not multipart/form-data as its Content-Type says');
}

/** @param begin of the line break behind the delimiter. @returns null: the part has none; `end`: its content begins */
function headersOf(
  text: string,
  begin: number,
  end: number,
): { readonly headers: string; readonly end: number } | null {
  const head = text.slice(begin, Math.min(end, begin + MOST_HEADERS));
  const blank = /\r?\n\r?\n/.exec(head);
  if (blank)
    return { headers: head.slice(0, blank.index), end: begin + blank.index + blank[0].length };
  // Without content there may be no blank line.
  if (head.length === MOST_HEADERS) throw invalid(`expected headers below ${MOST_HEADERS} bytes`);
  return null;
}

/** Of the field in a part; null: it is not one. @throws ServiceError BODY_INVALID: it is encoded */
function nameOf(headers: string): string | null {
  const lines = headers.replaceAll(/\r?\n[ \t]+/g, ' ').split(/\r?\n/);
  const byName = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  const { type, parameters } = parseDisposition(byName.get('content-disposition') ?? '');
  if (type !== 'form-data') return null;
  const encoding = byName.get('content-transfer-encoding')?.toLowerCase() ?? 'binary';
  if (!['7bit', '8bit', 'binary'].includes(encoding)) {
    throw invalid('Content-Transfer-Encoding of a part: expected 7bit, 8bit or binary');
  }
  return parameters.name ?? null;
}

function invalid(problem: string): ServiceError {
  return new ServiceError('BODY_INVALID', `body: ${problem}`);
}
