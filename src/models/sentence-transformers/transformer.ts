import { z } from 'zod';
import { ModelFileError } from '../files';
import { checkModelJson, quoted, readModelJson } from '../json';
import { CHAT_CONFIG, SENTENCE_BERT_CONFIG } from '../keys/sentence-transformers';
import { checkKeys } from '../keys/table';

/** Settings files of the Transformer module, in search order of sentence-transformers. */
export const TRANSFORMER_SETTINGS = [
  'sentence_bert_config.json',
  'sentence_roberta_config.json',
  'sentence_distilbert_config.json',
  'sentence_camembert_config.json',
  'sentence_albert_config.json',
  'sentence_xlm-roberta_config.json',
  'sentence_xlnet_config.json',
];

/**
 * Input and output of the transformer for each task, and the feature name under which modules read
 * the output.
 *
 * Source: sentence-transformers, base/modules/transformer.py (TRANSFORMER_TASK_DEFAULTS).
 */
const OUTPUTS = {
  'feature-extraction': { reads: 'text', method: 'last_hidden_state', module: 'token_embeddings' },
  'fill-mask': { reads: 'text', method: 'logits', module: 'token_embeddings' },
  'sequence-classification': { reads: 'text', method: 'logits', module: 'scores' },
  'text-generation': { reads: 'message', method: 'logits', module: 'causal_logits' },
} as const;

export type TransformerTask = keyof typeof OUTPUTS;

const length = z.int().positive();
const argumentsSchema = z.looseObject({ model_max_length: length.nullish() }).nullish();
const callSchema = z.looseObject({ max_length: length.nullish() }).nullish();

const modality = { method_output_name: z.unknown() };
const FORMATS = ['flat', 'structured', 'auto'] as const;

const transformerSchema = z.looseObject({
  max_seq_length: length.nullish(),
  do_lower_case: z.boolean().nullish(),
  tokenizer_args: argumentsSchema,
  processor_kwargs: argumentsSchema,
  processing_kwargs: z
    .looseObject({
      text: callSchema,
      common: callSchema,
      chat_template: z.looseObject({ restore_suffix: z.boolean().nullish() }).nullish(),
    })
    .nullish(),
  transformer_task: z.string().nullish(),
  modality_config: z
    .looseObject({
      text: z.looseObject(modality).nullish(),
      message: z.looseObject({ ...modality, format: z.enum(FORMATS).nullish() }).nullish(),
    })
    .nullish(),
  module_output_name: z.string().nullish(),
  query_length: length.nullish(),
  document_length: length.nullish(),
  query_expansion: z
    .strictObject({
      strategy: z.enum(['fixed', 'min'], { error: 'expected "fixed" or "min"' }),
      attend: z.boolean().nullish(),
      token: z.string().nullish(),
      length,
    })
    .nullish(),
});

type Settings = z.output<typeof transformerSchema>;

/** Settings of chat templates. */
export interface ChatSettings {
  /** Form of a message's content; auto: as the template accesses it. */
  readonly format: (typeof FORMATS)[number];
  /** Variables of the template. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** Whether the end of the template replaces the last tokens of a truncated text. */
  readonly restoresEnd: boolean;
}

/** Tokenization settings of the encoder folder. */
export interface Transformer {
  /**
   * Maximum length in tokens, including special tokens; null: the limit of tokenizer_config.json
   * applies.
   */
  readonly maxLength: number | null;
  /** Whether texts are converted to lower case before tokenization. */
  readonly lowercases: boolean;
  /** Maximum lengths of queries and documents for late-interaction models. */
  readonly lengths: Pick<Settings, 'query_length' | 'document_length' | 'query_expansion'>;
  /** Settings of chat templates. Other tasks than text generation ignore them. */
  readonly chat: ChatSettings;
  /**
   * Name of the settings file, for error messages; the default name if the folder has no settings
   * file.
   */
  readonly file: string;
}

/**
 * Reads the settings of the Transformer module.
 *
 * @param task task that the model is loaded for
 * @param presumed task of a settings file that specifies no task
 * @throws ModelFileError
 */
export function readTransformer(
  encoder: string,
  task: TransformerTask,
  presumed: TransformerTask,
): Transformer {
  for (const name of TRANSFORMER_SETTINGS) {
    const content = readModelJson(encoder, name);
    // An empty object counts as a missing file.
    if (content === undefined || isEmpty(content)) continue;
    const keys = OUTPUTS[task].reads === 'message' ? CHAT_CONFIG : SENTENCE_BERT_CONFIG;
    checkKeys(keys, name, content);
    const settings = checkModelJson(name, transformerSchema, content);
    requireTask(name, settings, task, presumed);
    return { ...readingOf(name, settings), chat: chatOf(settings), file: name };
  }
  requireTask(TRANSFORMER_SETTINGS[0] as string, {}, task, presumed);
  return {
    maxLength: null,
    lowercases: false,
    lengths: {},
    chat: chatOf({}),
    file: TRANSFORMER_SETTINGS[0] as string,
  };
}

function isEmpty(content: unknown): boolean {
  return typeof content === 'object' && content !== null && Object.keys(content).length === 0;
}

function chatOf({ modality_config, processing_kwargs }: Partial<Settings>): ChatSettings {
  const { restore_suffix, ...variables } = processing_kwargs?.chat_template ?? {};
  return {
    format: modality_config?.message?.format ?? 'auto',
    variables,
    restoresEnd: restore_suffix ?? true,
  };
}

/** Arguments of the tokenizer override max_seq_length; arguments of its calls override both. */
function readingOf(name: string, settings: Settings): Omit<Transformer, 'file' | 'chat'> {
  const { query_length, document_length, query_expansion } = settings;
  const { common, text } = settings.processing_kwargs ?? {};
  const ofCalls = common?.max_length ?? text?.max_length ?? null;
  const ofTokenizer =
    settings.processor_kwargs?.model_max_length ?? settings.tokenizer_args?.model_max_length;
  if (ofCalls !== null && (query_length ?? document_length ?? query_expansion)) {
    const what = 'processing_kwargs: max_length: expected none beside query_length';
    throw new ModelFileError(`${name}: ${what}, document_length or query_expansion. Remove it`);
  }
  return {
    maxLength: ofCalls ?? ofTokenizer ?? settings.max_seq_length ?? null,
    lowercases: settings.do_lower_case ?? false,
    lengths: { query_length, document_length, query_expansion },
  };
}

/**
 * Requires that the transformer returns the output of the task.
 *
 * @throws ModelFileError
 */
function requireTask(
  name: string,
  { transformer_task, modality_config, module_output_name }: Partial<Settings>,
  task: TransformerTask,
  presumed: TransformerTask,
): void {
  const given = transformer_task ?? presumed;
  if (given !== task) {
    const found = transformer_task == null ? `none, which means ${quoted(given)}` : quoted(given);
    throw new ModelFileError(`${name}: transformer_task: expected ${quoted(task)}, found ${found}`);
  }
  if (modality_config == null) return; // The task alone decides; other entries are ignored.
  const { reads, method, module } = OUTPUTS[task];
  const output = modality_config[reads]?.method_output_name;
  const only = Array.isArray(output) && output.length === 1 ? output[0] : output;
  if (only !== method) {
    const key = `modality_config.${reads}.method_output_name`;
    throw new ModelFileError(
      `${name}: ${key}: expected ${quoted(method)}, received ${quoted(output)}`,
    );
  }
  if (module_output_name !== module) {
    throw new ModelFileError(
      `${name}: module_output_name: expected ${quoted(module)}, received ${quoted(module_output_name)}`,
    );
  }
}
