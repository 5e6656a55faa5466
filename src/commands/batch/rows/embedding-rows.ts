import { UsageError } from '../../../files/file-errors';
import { enumFlag, numberFlag } from '../../../files/flags';
import { embeddingsToJson } from '../../../native/addon';
import type { Embedding, EmbeddingInput, EmbeddingMetadata } from '../../../tasks/capabilities';
import { type PromptNames, postprocessEmbedding, selectPrompt } from '../../../tasks/embeddings';
import {
  type ResultFormat,
  type TaskRows,
  TEXT_COLUMN_FLAG,
  TRUNCATED_FIELD,
  textOf,
} from './rows';

interface EmbeddingResult {
  readonly vector: Float32Array;
  readonly truncated: boolean;
}

const WHOLE = { form: /^[1-9]\d{0,6}$/, what: 'a whole number above 0' };

export const embeddingRows: TaskRows<EmbeddingInput, Embedding, EmbeddingMetadata> = {
  flags: {
    ...TEXT_COLUMN_FLAG,
    'prompt-name': {
      value: 'NAME',
      help: 'prompt of the model to prepend to texts (default: its default prompt)',
    },
    task: {
      value: 'NAME',
      help: 'task of a model with LoRA adapters (default: that of model.json)',
    },
    dimensions: { value: 'N', help: 'truncates embeddings to N dimensions (default: all)' },
    normalize: {
      value: 'true|false',
      help: 'L2-normalizes embeddings (default: as the model specifies)',
    },
  },
  formats: ['npy'],
  readsRecordings: false,
  parse: (values) => {
    const textColumn = values.get('text-column') ?? 'text';
    const promptName = values.get('prompt-name') ?? null;
    const task = values.get('task') ?? null;
    const dimensions = numberFlag(values, 'dimensions', WHOLE);
    const flag = enumFlag(values, 'normalize', ['true', 'false']);
    const normalize = flag === null ? null : flag === 'true';
    return {
      requiredColumns: [textColumn],
      identity: { textColumn, promptName, task, dimensions, normalize },
      bind: (model) => {
        const { metadata } = model;
        requireDimensions(metadata, dimensions);
        const toResult = ({ vector, inference: { truncated } }: Embedding): EmbeddingResult => ({
          vector: postprocessEmbedding(vector, metadata, { dimensions, normalize }),
          truncated,
        });
        const prompt = requirePrompt(metadata, { promptName, task });
        return {
          ...embeddingFormat(dimensions ?? metadata.dimensions),
          omittedColumns: [],
          split: null,
          toInput: (row) => {
            const text = textOf(row, textColumn);
            return typeof text === 'string' ? { input: { text, ...prompt } } : text;
          },
          inputLength: (input) => ('ids' in input ? input.ids.length : input.text.length),
          run: async (input) => toResult(await model.run(input, {})),
          ...(model.monitor.description.readsLists && {
            runAll: async (inputs) => (await model.runAll(inputs, {})).map(toResult),
          }),
        };
      },
    };
  },
};

function embeddingFormat(length: number): ResultFormat<EmbeddingResult> {
  return {
    fields: [
      {
        name: 'embedding',
        type: 'vector',
        length,
        extract: ({ vector }) => vector,
        toJson: (vectors) => embeddingsToJson(vectors as readonly Float32Array[]),
      },
      TRUNCATED_FIELD,
    ],
    labels: [],
    summarize: ({ truncated }) => ({ labels: [], truncated }),
  };
}

function requireDimensions(metadata: EmbeddingMetadata, dimensions: number | null): void {
  if (dimensions === null || dimensions <= metadata.dimensions) return;
  throw new UsageError(
    `--dimensions: expected at most ${metadata.dimensions}, the dimensions of the model`,
  );
}

function requirePrompt(metadata: EmbeddingMetadata, names: PromptNames) {
  return selectPrompt(metadata, names, (field, known) => {
    const [flag, plural] = field === 'task' ? ['--task', 'tasks'] : ['--prompt-name', 'prompts'];
    const expected =
      known.length > 0
        ? `expected one of ${known.join(', ')}`
        : `this model has no ${plural}. Remove the flag`;
    throw new UsageError(`${flag}: ${expected}`);
  });
}
