import type { ServiceResponse } from '../serving/request-context';

const BEGIN = Buffer.from('[');
const COMMA = Buffer.from(',');
const END = Buffer.from(']');

/** A response from pieces of serialized JSON. */
export function jsonResponse(
  pieces: readonly (string | Buffer)[],
): Pick<ServiceResponse, 'body' | 'headers'> & { readonly body: Buffer } {
  const buffers = pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece));
  return {
    body: Buffer.concat(buffers),
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
  };
}

/** Pieces of a JSON array from its serialized elements. */
export function jsonArray(elements: readonly (string | Buffer)[]): readonly (string | Buffer)[] {
  const pieces: (string | Buffer)[] = [BEGIN];
  for (const element of elements) {
    if (pieces.length > 1) pieces.push(COMMA);
    pieces.push(element);
  }
  pieces.push(END);
  return pieces;
}
