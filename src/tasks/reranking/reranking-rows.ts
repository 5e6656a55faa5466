import { UsageError } from '../../files/file-errors';
import type { FlagValues } from '../../files/flags';
import type { TextInput } from '../../native/engine';
import type { PairScore } from '../capabilities';
import type { AnswerFormat, InputRow, Rows, Taken } from '../rows';
import { TRUNCATED, textOf } from '../text-rows';
import { type RerankerMetadata, toPair } from './cross-encoder';

interface Scores {
  readonly scores: Float32Array;
  readonly truncated: boolean;
}

export const rerankingRows: Rows<TextInput, PairScore, RerankerMetadata> = {
  flags: {
    query: { value: 'TEXT', help: 'one for all documents' },
    'query-column': { value: 'NAME', help: 'of the queries (default: query)' },
    'document-column': { value: 'NAME', help: 'of the documents (default: document)' },
    'raw-scores': { help: "the model's outputs, without its activation" },
  },
  formats: [],
  readsRecordings: false,
  read: (values) => {
    const asked = queryOf(values);
    const documentColumn = values.get('document-column') ?? 'document';
    const rawScores = values.has('raw-scores');
    return {
      requiredColumns:
        asked.query === null ? [asked.queryColumn, documentColumn] : [documentColumn],
      decisive: { ...asked, documentColumn, rawScores },
      bind: (model) => ({
        ...scoreFormat(model.metadata.labels),
        omittedColumns: [],
        windowing: null,
        take: (row) => take(row, asked, documentColumn),
        lengthOf: ({ text, pair }) => text.length + (pair?.length ?? 0),
        run: async (input) => {
          const { scores, inference } = await model.run(input, {});
          return { scores: rawScores ? inference.values : scores, truncated: inference.truncated };
        },
      }),
    };
  },
};

/** The one of all documents, or the column of each one's own. */
type Query =
  | { readonly query: string; readonly queryColumn: null }
  | { readonly query: null; readonly queryColumn: string };

function queryOf(values: FlagValues): Query {
  const [query, column] = [values.get('query'), values.get('query-column')];
  if (query === undefined) return { query: null, queryColumn: column ?? 'query' };
  if (column === undefined) return { query, queryColumn: null };
  throw new UsageError('--query-column: --query is the query of all documents: choose one');
}

function take(row: InputRow, asked: Query, documentColumn: string): Taken<TextInput> {
  const query = asked.query === null ? textOf(row, asked.queryColumn) : asked.query;
  if (typeof query !== 'string') return query;
  const document = textOf(row, documentColumn);
  return typeof document === 'string' ? { input: toPair(query, document) } : document;
}

/** The model's own scores, not rounded; of a model with several labels one of each. */
function scoreFormat(labels: readonly string[]): AnswerFormat<Scores> {
  const score =
    labels.length === 1
      ? { name: 'score', extract: ({ scores }: Scores) => scores[0] }
      : { name: 'scores', parts: labels, extract: ({ scores }: Scores) => Array.from(scores) };
  return {
    fields: [{ type: 'number', ...score }, TRUNCATED],
    labels: [],
    summarize: ({ truncated }) => ({ labels: [], truncated }),
  };
}
