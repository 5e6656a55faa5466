import { UsageError } from '../../files/file-errors';
import { enumFlag, numberFlag } from '../../files/flags';
import { embeddingsToJson } from '../../native/addon';
import type { Embedding, EmbeddingInput, EmbeddingMetadata } from '../capabilities';
import { postprocessEmbedding } from '../embeddings';
import type { AnswerFormat, Rows } from '../rows';
import { TEXT_COLUMN, TRUNCATED, textOf } from '../text-rows';

interface Vector {
  readonly vector: Float32Array;
  readonly truncated: boolean;
}

const WHOLE = { form: /^[1-9]\d{0,6}$/, what: 'a whole number above 0' };

export const embeddingRows: Rows<EmbeddingInput, Embedding, EmbeddingMetadata> = {
  flags: {
    ...TEXT_COLUMN,
    'prompt-name': {
      value: 'NAME',
      help: "of the model's prompts, put before each text (default: its own)",
    },
    dimensions: { value: 'N', help: 'so many of the first numbers (default: all)' },
    normalize: {
      value: 'true|false',
      help: "vectors have a length of 1 (default: where the model's have)",
    },
  },
  formats: ['npy'],
  readsRecordings: false,
  read: (values) => {
    const textColumn = values.get('text-column') ?? 'text';
    const promptName = values.get('prompt-name') ?? null;
    const dimensions = numberFlag(values, 'dimensions', WHOLE);
    const asked = enumFlag(values, 'normalize', ['true', 'false']);
    const normalize = asked === null ? null : asked === 'true';
    return {
      requiredColumns: [textColumn],
      decisive: { textColumn, promptName, dimensions, normalize },
      bind: (model) => {
        const { metadata } = model;
        requireDimensions(metadata, dimensions);
        const prompt = promptName === null ? {} : { prompt: requirePrompt(metadata, promptName) };
        return {
          ...vectorFormat(dimensions ?? metadata.dimensions),
          omittedColumns: [],
          windowing: null,
          take: (row) => {
            const text = textOf(row, textColumn);
            return typeof text === 'string' ? { input: { text, ...prompt } } : text;
          },
          lengthOf: (input) => ('ids' in input ? input.ids.length : input.text.length),
          run: async (input) => {
            const { vector, inference } = await model.run(input, {});
            const { truncated } = inference;
            return {
              vector: postprocessEmbedding(vector, metadata, { dimensions, normalize }),
              truncated,
            };
          },
        };
      },
    };
  },
};

function vectorFormat(length: number): AnswerFormat<Vector> {
  return {
    fields: [
      {
        name: 'embedding',
        type: 'vector',
        length,
        extract: ({ vector }) => vector,
        toJson: (vectors) => embeddingsToJson(vectors as readonly Float32Array[]),
      },
      TRUNCATED,
    ],
    labels: [],
    summarize: ({ truncated }) => ({ labels: [], truncated }),
  };
}

function requireDimensions(metadata: EmbeddingMetadata, dimensions: number | null): void {
  if (dimensions === null || dimensions <= metadata.dimensions) return;
  throw new UsageError(
    `--dimensions: expected at most ${metadata.dimensions}, as the model has them`,
  );
}

function requirePrompt({ prompts }: EmbeddingMetadata, name: string): string {
  const prompt = Object.hasOwn(prompts, name) ? prompts[name] : undefined;
  if (prompt !== undefined) return prompt;
  const known = Object.keys(prompts).join(', ') || 'it has none';
  throw new UsageError(`--prompt-name: the model has no prompt “${name}” (${known})`);
}
