import type { LabeledSpan } from './groups';
import { type DecodedEntity, decodePath, entitiesOf, type ViterbiDecoder } from './viterbi';

/** Token of a text, and the offset of its row in logits and scores. */
interface PlacedToken {
  readonly start: number;
  readonly end: number;
  readonly at: number;
}

/** Outputs of a token classifier for a text, with the shape [tokens, labels]. */
interface TokenOutputs {
  readonly text: string;
  readonly logits: Float32Array;
  readonly scores: Float32Array;
}

/**
 * Finds the entities of consecutive tokens by Viterbi decoding. A span has the mean score of the
 * labels of its tokens, and excludes white space at its ends, which byte-level tokens include.
 */
export async function decodedSpans(
  tokens: readonly PlacedToken[],
  { text, logits, scores }: TokenOutputs,
  decoder: ViterbiDecoder,
): Promise<readonly LabeledSpan[]> {
  const rows = tokens.map(({ at }) => at);
  const path = await decodePath({ logits, rows }, decoder);
  return entitiesOf(path, decoder).flatMap((entity) => {
    const span = trimmed(text, boundsOf(entity, tokens));
    if (span === null) return [];
    const label = entity.name;
    const score = meanScore(entity, { path, rows, scores });
    return [{ label, score, ...span, index: null, word: () => text.slice(span.start, span.end) }];
  });
}

interface Bounds {
  readonly start: number;
  readonly end: number;
}

function boundsOf({ begin, end }: DecodedEntity, tokens: readonly PlacedToken[]): Bounds {
  return {
    start: (tokens[begin] as PlacedToken).start,
    end: (tokens[end - 1] as PlacedToken).end,
  };
}

/** Excludes white space at the ends; null if nothing is left. */
function trimmed(text: string, { start, end }: Bounds): Bounds | null {
  const slice = text.slice(start, end);
  const word = slice.trim();
  if (word === '') return null;
  const first = start + slice.indexOf(word);
  return { start: first, end: first + word.length };
}

function meanScore(
  { begin, end }: DecodedEntity,
  {
    path,
    rows,
    scores,
  }: {
    readonly path: readonly number[];
    readonly rows: readonly number[];
    readonly scores: Float32Array;
  },
): number {
  let sum = 0;
  for (let token = begin; token < end; token++) {
    sum += scores[(rows[token] as number) + (path[token] as number)] as number;
  }
  return sum / (end - begin);
}
