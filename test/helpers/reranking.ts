import { readFixture } from './golden';

/** What CrossEncoder of sentence-transformers says of a query. */
export interface RankedAnswer<Score = number | readonly number[]> {
  readonly query: string;
  readonly documents: readonly string[];
  /** Of a model with several labels those of each. */
  readonly predicted: readonly Score[];
  /** null: the model has several labels. */
  readonly ranked: readonly number[] | null;
}

/** A model of test/fixtures/models with other entries in config.json, and other files. */
export interface RerankingCase {
  readonly model: string;
  readonly config: object;
  readonly files: Readonly<Record<string, object>>;
  readonly answers: readonly RankedAnswer[];
}

/** Written by test/parity/cross_encoder_golden.py. */
export const { cases: RERANKING_CASES } = readFixture<{ readonly cases: readonly RerankingCase[] }>(
  'reranking.json',
);

/** That of a model of one label whose configuration says this. */
export function caseOfOneLabel(config: object): {
  readonly model: string;
  readonly answers: readonly (RankedAnswer<number> & { readonly ranked: readonly number[] })[];
} {
  const text = JSON.stringify(config);
  const found = RERANKING_CASES.find(
    (one) => JSON.stringify(one.config) === text && one.answers.every(({ ranked }) => ranked),
  );
  if (!found) throw new Error(`reranking.json has no case of ${text}`);
  return found as ReturnType<typeof caseOfOneLabel>;
}
