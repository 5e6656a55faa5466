/**
 * Keys of the files of sentence-transformers 6.2.
 *
 * Source: base/modules/transformer.py, base/model.py and the files of the modules.
 */
import { each, honored, type KeyTable, noEffect, object, only } from './table';

const NUMBERS = 'DTYPE says in which numbers a model is multiplied';
const LOADING = 'says from where, or how, files are loaded';

/** Keys for downloads from the Hub; sentence-transformers overwrites most of them. */
const OF_THE_HUB = each(
  [
    ...['cache_dir', 'force_download', 'local_files_only', 'proxies', 'resume_download'],
    ...['revision', 'code_revision', 'subfolder', 'token', 'trust_remote_code', 'use_auth_token'],
  ],
  noEffect(LOADING),
);

/** Arguments of tokenizer calls. */
const CALL = {
  max_length: honored,
  truncation: only([true, 'longest_first'], 'Texts are cut where they are too long: remove it'),
  add_special_tokens: only([true], 'Special tokens are always added: remove it'),
  split_special_tokens: only([false], 'Set it in tokenizer_config.json'),
  is_split_into_words: only([false], 'Texts are not split: remove it'),
  padding_side: only(['right'], 'Texts are not padded: remove it'),
  return_attention_mask: only([true], 'Remove it'),
  return_token_type_ids: only([], 'Set model_input_names in tokenizer_config.json'),
  return_overflowing_tokens: only([false], 'Remove it'),
  ...each(['padding', 'pad_to_multiple_of'], noEffect('padding has no part in an answer')),
  ...each(['return_tensors', 'verbose'], noEffect('says how tokens are handed over')),
  stride: noEffect('of effect with return_overflowing_tokens only'),
  logits_to_keep: noEffect('of effect for generating models only'),
};

const calls = object(CALL, 'rejected');

const MODEL = object(
  {
    ...OF_THE_HUB,
    ...each(['dtype', 'torch_dtype'], noEffect(NUMBERS)),
    ...each(
      ['attn_implementation', 'device_map', 'low_cpu_mem_usage', 'max_memory', 'offload_folder'],
      noEffect('says how the same numbers are computed'),
    ),
    use_safetensors: only([true], 'Weights are looked for as safetensors first: remove it'),
    add_pooling_layer: noEffect('the pooler has no part in states of tokens'),
  },
  'rejected',
);

const TOKENIZER_KEYS = {
  ...OF_THE_HUB,
  model_max_length: honored,
  use_fast: noEffect('all tokenizers are fast'),
  clean_up_tokenization_spaces: noEffect('of effect when tokens become text'),
};

const TOKENIZER = object(
  { ...TOKENIZER_KEYS, padding_side: only(['right'], 'Texts are not padded: remove it') },
  'rejected',
);

const CONFIG = object(
  {
    ...OF_THE_HUB,
    ...each(['dtype', 'torch_dtype'], noEffect(NUMBERS)),
    ...each(
      ['attn_implementation', 'output_attentions', 'output_hidden_states', 'return_dict'],
      noEffect('says what else is returned, or how the same numbers are computed'),
    ),
    use_cache: noEffect('of effect for generating models only'),
  },
  'rejected',
);

const OTHER_MODALITY = noEffect('texts alone are served');

/** Keys of sentence_bert_config.json and its older names. */
export const SENTENCE_BERT_CONFIG: KeyTable = {
  keys: {
    ...each(['max_seq_length', 'do_lower_case'], honored),
    ...each(['query_length', 'document_length', 'query_expansion'], honored),
    // The valid values depend on the task, see `requireTask`.
    ...each(['transformer_task', 'module_output_name'], honored),
    modality_config: object(
      {
        text: object(
          {
            method: only(['forward'], 'Only what the model itself computes is supported'),
            method_output_name: honored,
            format: noEffect('of effect for messages only'),
          },
          'ignored',
        ),
        message: only([], 'Chat templates are for rerankers with LogitScore only: remove it'),
        ...each(['audio', 'image', 'video'], OTHER_MODALITY),
      },
      'ignored',
    ),
    processing_kwargs: object(
      {
        text: calls,
        common: calls,
        ...each(['audio', 'image', 'video'], OTHER_MODALITY),
        chat_template: noEffect('of effect for messages only'),
      },
      'ignored',
    ),
    model_args: MODEL,
    model_kwargs: MODEL,
    tokenizer_args: TOKENIZER,
    processor_kwargs: TOKENIZER,
    config_args: CONFIG,
    config_kwargs: CONFIG,
    tokenizer_name_or_path: only([], "Copy the tokenizer's files into the folder"),
    unpad_inputs: noEffect('says how the same numbers are computed'),
    backend: noEffect('sentence-transformers overwrites it'),
    cache_dir: noEffect(LOADING),
  },
  // The keys are arguments of the class, which rejects unknown arguments.
  unknownKeys: 'rejected',
};

/** Variables of chat templates are free; these arguments of `apply_chat_template` are not. */
const CHAT_CALL = object(
  {
    restore_suffix: honored,
    ...each(['max_length', 'truncation'], only([], 'Move it to processing_kwargs.text')),
    ...each(['padding', 'return_tensors'], noEffect('padding has no part in an answer')),
    ...each(
      ['chat_template', 'continue_final_message', 'return_assistant_tokens_mask'],
      only([], 'Remove it'),
    ),
    ...each(['tokenize', 'return_dict'], only([true], 'Remove it')),
  },
  'ignored',
);

/** Either side: texts are not padded. */
const CHAT_TOKENIZER = object(
  { ...TOKENIZER_KEYS, padding_side: noEffect('texts are not padded') },
  'rejected',
);

/** Keys of sentence_bert_config.json for decoders that read messages. */
export const CHAT_CONFIG: KeyTable = {
  keys: {
    ...SENTENCE_BERT_CONFIG.keys,
    modality_config: object(
      {
        text: noEffect('texts are read as messages'),
        message: object(
          {
            method: only(['forward'], 'Only what the model itself computes is supported'),
            method_output_name: honored,
            format: honored,
          },
          'ignored',
        ),
        ...each(['audio', 'image', 'video'], OTHER_MODALITY),
      },
      'ignored',
    ),
    processing_kwargs: object(
      {
        text: calls,
        common: calls,
        ...each(['audio', 'image', 'video'], OTHER_MODALITY),
        chat_template: CHAT_CALL,
      },
      'ignored',
    ),
    tokenizer_args: CHAT_TOKENIZER,
    processor_kwargs: CHAT_TOKENIZER,
  },
  unknownKeys: 'rejected',
};

/** Keys of a modules.json entry. */
export const MODULES_JSON: KeyTable = {
  keys: {
    ...each(['path', 'type'], honored),
    ...each(['idx', 'name'], noEffect('modules run in the order of the list')),
    kwargs: noEffect('of effect where a program passes such arguments'),
  },
  unknownKeys: 'ignored',
};

const DIMENSION = noEffect('the size of the states is that of the weights');

/** Keys of a module's config.json, by class name in modules.json. */
export const MODULE_CONFIGS = {
  Pooling: {
    keys: {
      ...each(['pooling_mode', 'include_prompt'], honored),
      ...each(
        [
          ...['pooling_mode_cls_token', 'pooling_mode_max_tokens', 'pooling_mode_mean_tokens'],
          ...['pooling_mode_mean_sqrt_len_tokens', 'pooling_mode_weightedmean_tokens'],
          'pooling_mode_lasttoken',
        ],
        honored,
      ),
      ...each(['embedding_dimension', 'word_embedding_dimension'], DIMENSION),
    },
    unknownKeys: 'rejected',
  },
  Dense: {
    keys: {
      ...each(['in_features', 'out_features', 'bias', 'activation_function'], honored),
      ...each(['module_input_name', 'module_output_name', 'use_residual'], honored),
      ...each(['init_weight', 'init_bias'], noEffect('the weights of the file replace them')),
    },
    unknownKeys: 'ignored',
  },
  LayerNorm: { keys: { dimension: honored }, unknownKeys: 'rejected' },
  Normalize: {
    keys: each(['module_input_name', 'module_output_name'], honored),
    unknownKeys: 'ignored',
  },
  LogitScore: {
    keys: each(['true_token_id', 'false_token_id', 'module_input_name'], honored),
    unknownKeys: 'rejected',
  },
  Dropout: { keys: { dropout: noEffect('of effect in training only') }, unknownKeys: 'ignored' },
  MultiVectorMask: {
    keys: {
      ...each(['skiplist_words', 'skiplist_tasks'], honored),
      keep_only_token_ids: only([[]], 'It is for models of images, which are not supported'),
    },
    unknownKeys: 'rejected',
  },
  SpladePooling: {
    keys: {
      ...each(['pooling_strategy', 'activation_function'], honored),
      ...each(['embedding_dimension', 'word_embedding_dimension'], DIMENSION),
      chunk_size: noEffect('says how the same numbers are computed'),
    },
    unknownKeys: 'rejected',
  },
} as const satisfies Readonly<Record<string, KeyTable>>;

const LATE = [
  ...['query_prefix', 'document_prefix', 'query_length', 'document_length'],
  ...['do_query_expansion', 'attend_to_expansion_tokens', 'attend_to_mask_tokens'],
  'skiplist_words',
];

const OF_TRANSFORMER = 'Move it to sentence_bert_config.json';

const SETTINGS = {
  ...each(['model_type', 'prompts', 'default_prompt_name'], honored),
  ...each(['similarity_fn_name', 'truncate_dim', 'activation_fn'], honored),
  max_active_dims: only([], 'Weights are not cut to the largest: remove it'),
  keep_in_fp32_modules: noEffect(NUMBERS),
  ...each(['__version__', 'requirements'], noEffect('says with which versions it was made')),
  query_expansion: only([], OF_TRANSFORMER),
};

/**
 * Keys of config_sentence_transformers.json. The last keys apply to model_type "ColBERT" (PyLate).
 */
export const CONFIG_SENTENCE_TRANSFORMERS: KeyTable = {
  keys: { ...SETTINGS, ...each(LATE, honored) },
  unknownKeys: 'ignored',
};

/** Keys of config_sentence_transformers.json for other late-interaction models. */
export const CONFIG_MULTI_VECTOR: KeyTable = {
  keys: { ...SETTINGS, ...each(LATE, only([], OF_TRANSFORMER)) },
  unknownKeys: 'ignored',
};
