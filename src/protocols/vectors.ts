import type { Answer } from '../serving/exchange';

/** Little-endian float32, as it lies in memory. */
export function toBase64({ buffer, byteOffset, byteLength }: Float32Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

/** An answer whose JSON is there already, in pieces. */
export function written(pieces: readonly (string | Buffer)[]): Pick<Answer, 'body' | 'headers'> {
  const buffers = pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece));
  return {
    body: Buffer.concat(buffers),
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
  };
}

/** `[a,b]` */
export function listed(elements: readonly (string | Buffer)[]): readonly (string | Buffer)[] {
  const separated = elements.flatMap((element, index) =>
    index === 0 ? [element] : [',', element],
  );
  return ['[', ...separated, ']'];
}
