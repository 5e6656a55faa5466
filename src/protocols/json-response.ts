import type { ServiceResponse } from '../serving/request-context';

/** A response from pieces of serialized JSON. */
export function jsonResponse(
  pieces: readonly (string | Buffer)[],
): Pick<ServiceResponse, 'body' | 'headers'> & { readonly body: Buffer } {
  return {
    body: concat(pieces),
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
  };
}

/** Pieces of a JSON array from its serialized elements. */
export function jsonArray(elements: readonly (string | Buffer)[]): readonly (string | Buffer)[] {
  const pieces: (string | Buffer)[] = ['['];
  for (const element of elements) {
    if (pieces.length > 1) pieces.push(',');
    pieces.push(element);
  }
  pieces.push(']');
  return pieces;
}

/** Consecutive strings are encoded together: a Buffer for each would take longer than their bytes. */
function concat(pieces: readonly (string | Buffer)[]): Buffer {
  const buffers: Buffer[] = [];
  let text = '';
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      text += piece;
    } else {
      if (text !== '') buffers.push(Buffer.from(text));
      text = '';
      buffers.push(piece);
    }
  }
  buffers.push(Buffer.from(text));
  return Buffer.concat(buffers);
}
