import { UsageError } from '../../../files/file-errors';
import { type FlagValues, numberFlag } from '../../../files/flags';
import type { ResultField } from '../../../files/job-spec';
import { embeddingsToJson } from '../../../native/addon';
import type {
  EmbeddingMetadata,
  MultiEmbedding,
  MultiEmbeddingInput,
  Parts,
  SparseEntries,
} from '../../../tasks/capabilities';
import { lexicalWeightsToJson } from '../../../tasks/lexical-weights';
import { type TaskRows, TEXT_COLUMN_FLAG, TRUNCATED_FIELD, textOf } from './rows';

const PARTS = ['dense', 'sparse', 'colbert'] as const;
const TOKENS = { form: /^([3-9]|[1-9]\d{1,6})$/, what: 'a whole number of tokens from 3' };

/** Maximum number of elements of the ColBERT vectors of rows that are written together, if each character is a token. */
const COLBERT_ELEMENTS_PER_PART = 2 ** 24;

/** Result of a row, with `truncated` in the place of the inference. */
interface MultiResult extends Pick<MultiEmbedding, 'dense' | 'sparse' | 'colbert'> {
  readonly truncated: boolean;
}

/** Rows of bge-m3: the fields of POST /encode. */
export const multiEmbeddingRows: TaskRows<MultiEmbeddingInput, MultiEmbedding, EmbeddingMetadata> =
  {
    flags: {
      ...TEXT_COLUMN_FLAG,
      parts: { value: 'A,B', help: `embeddings: ${PARTS.join(', ')} (default: dense)` },
      'max-length': { value: 'TOKENS', help: 'truncates texts (default: limit of the model)' },
    },
    formats: [],
    readsRecordings: false,
    parse: (values) => {
      const textColumn = values.get('text-column') ?? 'text';
      const parts = partsOf(values);
      const maxTokens = numberFlag(values, 'max-length', TOKENS);
      const options = { parts, ...(maxTokens !== null && { maxTokens }) };
      return {
        requiredColumns: [textColumn],
        identity: { textColumn, ...options },
        bind: (model) => {
          const { dimensions, isMulti } = model.metadata;
          if (!isMulti) {
            const files = 'sparse_linear.pt and colbert_linear.pt';
            throw new UsageError(`--model: expected bge-m3, a folder with ${files}. Use embed`);
          }
          return {
            fields: fieldsOf(parts, dimensions),
            labels: [],
            ...(parts.colbert && {
              charactersPerPart: Math.ceil(COLBERT_ELEMENTS_PER_PART / dimensions),
            }),
            summarize: ({ truncated }: MultiResult) => ({ labels: [], truncated }),
            omittedColumns: [],
            split: null,
            toInput: (row) => {
              const text = textOf(row, textColumn);
              return typeof text === 'string' ? { input: { text, ...options } } : text;
            },
            inputLength: (input) => ('ids' in input ? input.ids.length : input.text.length),
            run: async (input): Promise<MultiResult> => {
              const { inference, dense, sparse, colbert } = await model.run(input, {});
              return { dense, sparse, colbert, truncated: inference.truncated };
            },
          };
        },
      };
    },
  };

function partsOf(values: FlagValues): Parts {
  const names = (values.get('parts') ?? 'dense').split(',');
  const unknown = names.find((name) => !PARTS.some((part) => part === name));
  if (unknown !== undefined) {
    throw new UsageError(`--parts: expected some of ${PARTS.join(',')}, received "${unknown}"`);
  }
  return {
    dense: names.includes('dense'),
    sparse: names.includes('sparse'),
    colbert: names.includes('colbert'),
  };
}

function fieldsOf(parts: Parts, length: number): readonly ResultField<MultiResult>[] {
  return [
    ...(parts.dense ? [denseField(length)] : []),
    ...(parts.sparse ? [SPARSE_FIELD] : []),
    ...(parts.colbert ? [COLBERT_FIELD] : []),
    TRUNCATED_FIELD,
  ];
}

function denseField(length: number): ResultField<MultiResult> {
  return {
    name: 'dense_vecs',
    type: 'vector',
    length,
    extract: ({ dense }) => dense,
    toJson: (vectors) => embeddingsToJson(vectors as readonly Float32Array[]),
  };
}

const SPARSE_FIELD: ResultField<MultiResult> = {
  name: 'lexical_weights',
  type: 'json',
  extract: ({ sparse }) => sparse,
  toJson: async (entries) =>
    entries.map((each) => Buffer.from(lexicalWeightsToJson(each as SparseEntries))),
};

const COLBERT_FIELD: ResultField<MultiResult> = {
  name: 'colbert_vecs',
  type: 'json',
  extract: ({ colbert }) => colbert,
  toJson: (texts) => Promise.all(texts.map((rows) => rowsToJson(rows as readonly Float32Array[]))),
};

async function rowsToJson(rows: readonly Float32Array[]): Promise<Buffer> {
  if (rows.length === 0) return Buffer.from('[]');
  const texts = await embeddingsToJson(rows);
  const parts = texts.flatMap((text, index) => [Buffer.from(index === 0 ? '[' : ','), text]);
  return Buffer.concat([...parts, Buffer.from(']')]);
}
