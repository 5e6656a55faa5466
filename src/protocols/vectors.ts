import { addon } from '../native/engine';
import type { Answer } from '../serving/exchange';

/** `[0.25,-1e-07]` of each vector, all of one length: each number with the fewest decimals of its float32. */
export async function writeVectors(vectors: readonly Float32Array[]): Promise<readonly Buffer[]> {
  const columns = vectors[0]?.length ?? 0;
  if (columns === 0) return [];
  const values = new Float32Array(vectors.length * columns);
  for (const [index, vector] of vectors.entries()) values.set(vector, index * columns);
  const { text, ends } = await addon().rowsToJson(values, columns);
  return Array.from(ends, (end, index) => text.subarray(ends[index - 1] ?? 0, end));
}

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
