import type { SparseEntries } from './capabilities';

/** JSON object of the weights of a sparse embedding by token ID, as `lexical_weights` of FlagEmbedding. */
export function lexicalWeightsToJson({ ids, values }: SparseEntries): string {
  const entries = Array.from(ids, (id, i) => `"${id}":${toShortest(values[i] as number)}`);
  return `{${entries.join(',')}}`;
}

/** Shortest decimals that give the same float32. */
function toShortest(value: number): string {
  for (let digits = 6; digits < 9; digits++) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return String(Number(text));
  }
  return String(value);
}
