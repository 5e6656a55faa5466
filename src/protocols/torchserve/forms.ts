import { parse as parseDisposition } from 'content-disposition';
import { parse as parseContentType } from 'content-type';
import { ServiceError } from '../../serving/errors';

/** Maximum parts of a form, and maximum characters of the headers of a part. */
const MAX_PARTS = 100;
const MAX_HEADERS = 8192;
/** Maximum length of a boundary (RFC 2046, 5.1.1). */
const MAX_BOUNDARY = 70;

/** Bytes of the first field of each requested name. */
export type Fields = ReadonlyMap<string, Buffer>;

/**
 * Reads application/x-www-form-urlencoded.
 *
 * @param names names of the fields to read
 */
export function readUrlEncoded(bytes: Buffer, names: readonly string[]): Fields {
  const fields = new Map<string, Buffer>();
  let begin = 0;
  while (begin < bytes.length) {
    const found = bytes.indexOf('&', begin);
    const end = found < 0 ? bytes.length : found;
    const equals = bytes.subarray(begin, end).indexOf('=');
    const nameEnd = equals < 0 ? end : begin + equals;
    // Longer names cannot match, even if each byte is encoded.
    if (nameEnd - begin <= MAX_HEADERS) {
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
  const text = bytes.toString('latin1').replaceAll('+', ' '); // one character per byte
  const decode = (_: string, digits: string): string =>
    String.fromCharCode(Number.parseInt(digits, 16));
  return Buffer.from(text.replaceAll(/%([\da-f]{2})/gi, decode), 'latin1');
}

/**
 * Reads multipart/form-data (RFC 7578). Supports what RFC 2046 and RFC 2183 allow: a preamble, an epilogue, white space
 * after a boundary, folded headers in any case, unquoted parameters. Lines may end without a carriage return.
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
  if (boundary === '' || boundary.length > MAX_BOUNDARY) {
    throw invalid(`boundary of the Content-Type: expected 1 to ${MAX_BOUNDARY} characters`);
  }
  const fields = new Map<string, Buffer>();
  const text = bytes.toString('latin1'); // one character per byte
  let count = 0;
  for (const [begin, end] of partsOf(text, boundary)) {
    if (++count > MAX_PARTS) throw invalid(`expected at most ${MAX_PARTS} parts`);
    const part = headersOf(text, begin, end);
    const name = part && nameOf(part.headers);
    if (part && name != null && names.includes(name) && !fields.has(name)) {
      fields.set(name, bytes.subarray(part.end, end));
    }
  }
  return fields;
}

/** Offsets of the parts: from the end of their delimiter line to the line break before the next delimiter. */
function* partsOf(
  text: string,
  boundary: string,
): Generator<readonly [begin: number, end: number]> {
  const escaped = boundary.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  // A line that only starts with the boundary is content.
  const delimiter = new RegExp(`(?:^|\\r?\\n)--${escaped}(--)?[ \\t]*(?=\\r?\\n|$)`, 'g');
  let begin = -1;
  for (const match of text.matchAll(delimiter)) {
    // For an empty part, the line break before a delimiter is the line break after the previous delimiter.
    if (begin >= 0) yield [begin, Math.max(begin, match.index)];
    if (match[1] !== undefined) return;
    begin = match.index + match[0].length;
  }
  throw invalid('is not valid multipart/form-data, although its Content-Type says so');
}

/**
 * @param begin offset of the line break after the delimiter
 * @returns headers, and `end`: offset of the content; null: the part has no headers
 */
function headersOf(
  text: string,
  begin: number,
  end: number,
): { readonly headers: string; readonly end: number } | null {
  const head = text.slice(begin, Math.min(end, begin + MAX_HEADERS));
  const blank = /\r?\n\r?\n/.exec(head);
  if (blank)
    return { headers: head.slice(0, blank.index), end: begin + blank.index + blank[0].length };
  // A part without content may lack the blank line.
  if (head.length === MAX_HEADERS) throw invalid(`expected headers below ${MAX_HEADERS} bytes`);
  return null;
}

/** Name of the field; null: the part is not a field. @throws ServiceError BODY_INVALID: the content is encoded */
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
