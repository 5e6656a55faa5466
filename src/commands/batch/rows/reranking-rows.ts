import { UsageError } from '../../../files/file-errors';
import type { FlagValues } from '../../../files/flags';
import type { TextInput } from '../../../native/engine';
import type { PairScore } from '../../../tasks/capabilities';
import { type RerankerMetadata, toPair } from '../../../tasks/reranking/cross-encoder';
import {
  type InputRow,
  type ResultFormat,
  type RowInput,
  type TaskRows,
  TRUNCATED_FIELD,
  textOf,
} from './rows';

interface Scores {
  readonly scores: Float32Array;
  readonly truncated: boolean;
}

export const rerankingRows: TaskRows<TextInput, PairScore, RerankerMetadata> = {
  flags: {
    query: { value: 'TEXT', help: 'query of all documents' },
    'query-column': { value: 'NAME', help: 'column of the queries (default: query)' },
    'document-column': { value: 'NAME', help: 'column of the documents (default: document)' },
    'raw-scores': { help: 'outputs of the model without its activation function' },
  },
  formats: [],
  readsRecordings: false,
  parse: (values) => {
    const source = queryOf(values);
    const documentColumn = values.get('document-column') ?? 'document';
    const rawScores = values.has('raw-scores');
    return {
      requiredColumns:
        source.query === null ? [source.queryColumn, documentColumn] : [documentColumn],
      identity: { ...source, documentColumn, rawScores },
      bind: (model) => ({
        ...scoreFormat(model.metadata.labels),
        omittedColumns: [],
        split: null,
        toInput: (row) => toInput(row, source, documentColumn),
        inputLength: ({ text, pair }) => text.length + (pair?.length ?? 0),
        run: async (input) => {
          const { scores, inference } = await model.run(input, {});
          return { scores: rawScores ? inference.values : scores, truncated: inference.truncated };
        },
      }),
    };
  },
};

/** Query of all documents, or the column with the query of each document. */
type Query =
  | { readonly query: string; readonly queryColumn: null }
  | { readonly query: null; readonly queryColumn: string };

function queryOf(values: FlagValues): Query {
  const [query, column] = [values.get('query'), values.get('query-column')];
  if (query === undefined) return { query: null, queryColumn: column ?? 'query' };
  if (column === undefined) return { query, queryColumn: null };
  throw new UsageError('--query, --query-column: use one of them, not both');
}

function toInput(row: InputRow, source: Query, documentColumn: string): RowInput<TextInput> {
  const query = source.query === null ? textOf(row, source.queryColumn) : source.query;
  if (typeof query !== 'string') return query;
  const document = textOf(row, documentColumn);
  return typeof document === 'string' ? { input: toPair(query, document) } : document;
}

/** Scores of the model, not rounded: a score, or a score per label. */
function scoreFormat(labels: readonly string[]): ResultFormat<Scores> {
  const score =
    labels.length === 1
      ? { name: 'score', extract: ({ scores }: Scores) => scores[0] }
      : { name: 'scores', parts: labels, extract: ({ scores }: Scores) => Array.from(scores) };
  return {
    fields: [{ type: 'number', ...score }, TRUNCATED_FIELD],
    labels: [],
    summarize: ({ truncated }) => ({ labels: [], truncated }),
  };
}
