import { loadBinding } from './load';

/** `[0.25,-1e-07]` of each vector, all of one length: each number with the fewest decimals of its float32. */
export async function writeVectors(vectors: readonly Float32Array[]): Promise<readonly Buffer[]> {
  const columns = vectors[0]?.length ?? 0;
  if (columns === 0) return [];
  const values = new Float32Array(vectors.length * columns);
  for (const [index, vector] of vectors.entries()) values.set(vector, index * columns);
  const { text, ends } = await loadBinding().rowsToJson(values, columns);
  return Array.from(ends, (end, index) => text.subarray(ends[index - 1] ?? 0, end));
}
