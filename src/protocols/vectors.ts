import type { ServiceResponse } from '../serving/request-context';

/** Little-endian float32, as it lies in memory. */
export function toBase64({ buffer, byteOffset, byteLength }: Float32Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

/** An answer whose JSON is there already, in pieces. */
export function written(
  pieces: readonly (string | Buffer)[],
): Pick<ServiceResponse, 'body' | 'headers'> {
  const buffers = pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece));
  return {
    body: Buffer.concat(buffers),
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
  };
}

const [BEGIN, COMMA, END] = ['[', ',', ']'].map((text) => Buffer.from(text)) as [
  Buffer,
  Buffer,
  Buffer,
];

/** `[a,b]` */
export function listed(elements: readonly (string | Buffer)[]): readonly (string | Buffer)[] {
  const pieces: (string | Buffer)[] = [BEGIN];
  for (const element of elements) {
    if (pieces.length > 1) pieces.push(COMMA);
    pieces.push(element);
  }
  pieces.push(END);
  return pieces;
}
