import { ModelFileError } from '../files';
import { EVERY_KEY, TRAINING } from '../keys/every-model';
import { LFM2 as LFM2_KEYS, OPENAI_PRIVACY_FILTER } from '../keys/rotary-models';
import { each, honored, type KeyTable, type KeyUse, noEffect, only } from '../keys/table';

/**
 * config.json of a model whose code was not part of transformers when it was published. The keys
 * are translated to those of transformers.
 */
interface OriginalConfig {
  readonly isFor: (config: Config) => boolean;
  readonly modelType: string;
  readonly keys: KeyTable;
  /** Names in transformers by name in the file. */
  readonly names: Readonly<Record<string, string>>;
  /** Entries that no single key determines. */
  readonly entries?: (config: Config) => Config;
}

type Config = Readonly<Record<string, unknown>>;

const SAME_NUMBERS = noEffect('says how the same numbers are computed');
/** Layers beyond it are a load error of the native side. */
const MAX_LAYERS = 1000;
const OTHER_LAYERS = 'Other layers are not supported';

/** Source: configuration_hf_nomic_bert.py of nomic-ai/nomic-bert-2048. */
const NOMIC: OriginalConfig = {
  isFor: (config) => config.model_type === 'nomic_bert' && config.n_embd !== undefined,
  modelType: 'nomic_bert',
  keys: table({
    ...each(
      [
        ...['vocab_size', 'n_embd', 'n_layer', 'n_head', 'n_inner', 'n_positions'],
        ...['type_vocab_size', 'layer_norm_epsilon', 'rotary_emb_base'],
        ...['rotary_scaling_factor', 'max_trained_positions', 'tie_word_embeddings'],
      ],
      honored,
    ),
    activation_function: only(['swiglu'], 'Other activations are not supported'),
    ...each(
      [
        ...['prenorm', 'qkv_proj_bias', 'mlp_fc1_bias', 'mlp_fc2_bias', 'parallel_block', 'causal'],
        ...['rotary_emb_interleaved', 'use_rms_norm', 'scale_attn_by_inverse_layer_idx'],
      ],
      only([false], OTHER_LAYERS),
    ),
    rotary_emb_fraction: only([1], 'Rotary positions of a part are not supported'),
    rotary_emb_scale_base: only([], 'Scaled rotary positions are not supported'),
    scale_attn_weights: only([true], OTHER_LAYERS),
    ...each(['num_experts', 'moe_top_k'], only([0, 1], 'A mixture of experts is not supported')),
    moe_every_n_layers: only([0, -1], 'A mixture of experts is not supported'),
    ...each(['attn_pdrop', 'embd_pdrop', 'resid_pdrop'], TRAINING),
    ...each(['use_flash_attn', 'fused_bias_fc', 'fused_dropout_add_ln'], SAME_NUMBERS),
  }),
  names: {
    n_embd: 'hidden_size',
    n_layer: 'num_hidden_layers',
    n_head: 'num_attention_heads',
    n_positions: 'max_position_embeddings',
    layer_norm_epsilon: 'layer_norm_eps',
    max_trained_positions: 'original_max_position_embeddings',
  },
  entries: ({ n_embd, n_inner, rotary_emb_base, rotary_scaling_factor: factor }) => ({
    intermediate_size: roundUp(numberOr(n_inner, 4 * numberOr(n_embd, 0)), 256),
    rope_parameters: {
      rope_type: typeof factor === 'number' && factor !== 1 ? 'dynamic' : 'default',
      rope_theta: rotary_emb_base ?? 10_000,
      factor,
    },
  }),
};

/** Source: configuration.py of Alibaba-NLP/new-impl. */
const GTE: OriginalConfig = {
  isFor: (config) => config.model_type === 'new',
  modelType: 'new',
  keys: table({
    ...each(
      [
        ...['vocab_size', 'hidden_size', 'num_hidden_layers', 'num_attention_heads'],
        ...['intermediate_size', 'max_position_embeddings', 'type_vocab_size', 'hidden_act'],
        ...['layer_norm_eps', 'rope_theta', 'tie_word_embeddings'],
      ],
      honored,
    ),
    rope_scaling: {
      use: 'object',
      keys: {
        keys: {
          type: only(['ntk'], 'Others are not supported'),
          ...each(['factor', 'mixed_b'], honored),
        },
        unknownKeys: 'rejected',
      },
    },
    position_embedding_type: only(['rope'], 'Positions in a table are not supported'),
    layer_norm_type: only(['layer_norm'], OTHER_LAYERS),
    logn_attention_scale: only([false], 'Attention scaled by length is not supported'),
    pack_qkv: only([true], OTHER_LAYERS),
    ...each(
      ['unpad_inputs', 'use_memory_efficient_attention', 'logn_attention_clip1'],
      SAME_NUMBERS,
    ),
    ...each(
      ['hidden_dropout_prob', 'attention_probs_dropout_prob', 'classifier_dropout'],
      TRAINING,
    ),
    pad_token_id: noEffect('texts are not padded'),
  }),
  names: {},
  entries: ({ rope_theta, rope_scaling }) => ({
    rope_parameters: {
      rope_type: rope_scaling ? 'ntk' : 'default',
      rope_theta: rope_theta ?? 10_000,
      ...(rope_scaling as Config | undefined),
    },
  }),
};

/** Source: configuration_bert.py of jinaai/jina-bert-implementation. */
const JINA_BERT: OriginalConfig = {
  isFor: (config) => config.model_type === 'bert' && config.position_embedding_type === 'alibi',
  modelType: 'jina_bert',
  keys: table({
    ...each(
      [
        ...['vocab_size', 'hidden_size', 'num_hidden_layers', 'num_attention_heads'],
        ...['intermediate_size', 'max_position_embeddings', 'type_vocab_size'],
        ...['layer_norm_eps', 'feed_forward_type', 'position_embedding_type'],
        ...['tie_word_embeddings'],
      ],
      honored,
    ),
    hidden_act: noEffect('feed_forward_type says the activation'),
    ...each(
      ['hidden_dropout_prob', 'attention_probs_dropout_prob', 'classifier_dropout'],
      TRAINING,
    ),
    pad_token_id: noEffect('texts are not padded'),
    use_qk_norm: noEffect('the weights say it'),
    emb_pooler: noEffect('modules.json says how embeddings are pooled'),
  }),
  names: {},
  entries: ({ feed_forward_type: type }) => ({ hidden_act: activationOf(type) }),
};

/** Source: configuration_xlm_roberta.py of jinaai/xlm-roberta-flash-implementation. */
const JINA_V3: OriginalConfig = {
  isFor: ({ model_type, position_embedding_type: positions }) =>
    (model_type === 'xlm-roberta' || model_type === 'xlm-roberta-flash') && positions === 'rotary',
  modelType: 'jina_embeddings_v3',
  keys: table({
    ...each(
      [
        ...['vocab_size', 'hidden_size', 'num_hidden_layers', 'num_attention_heads'],
        ...['intermediate_size', 'max_position_embeddings', 'type_vocab_size', 'hidden_act'],
        ...['layer_norm_eps', 'rotary_emb_base', 'position_embedding_type', 'tie_word_embeddings'],
      ],
      honored,
    ),
    ...each(
      ['hidden_dropout_prob', 'attention_probs_dropout_prob', 'classifier_dropout'],
      TRAINING,
    ),
    ...each(['use_flash_attn', 'use_reg_token', 'load_trained_adapters'], SAME_NUMBERS),
    ...each(['lora_adaptations', 'lora_rank', 'lora_alpha', 'task_instructions'], honored),
    ...each(['lora_dropout_p', 'lora_main_params_trainable'], TRAINING),
    pad_token_id: noEffect('texts are not padded'),
    emb_pooler: noEffect('modules.json says how embeddings are pooled'),
  }),
  names: {},
  entries: ({ rotary_emb_base }) => ({
    rope_parameters: { rope_type: 'default', rope_theta: rotary_emb_base ?? 10_000 },
  }),
};

/** LFM2.5-Encoder: its code has the model_type of the decoder. */
const LFM2_BIDIRECTIONAL: OriginalConfig = {
  isFor: ({ model_type, architectures }) =>
    model_type === 'lfm2_bidirectional' ||
    (model_type === 'lfm2' && String(architectures).startsWith('Lfm2Bidirectional')),
  modelType: 'lfm2_bidirectional',
  keys: table(LFM2_KEYS),
  names: {},
  entries: lfm2Layers,
};

/** Source: configuration_lfm2.py of transformers, for files of its first versions. */
const LFM2: OriginalConfig = {
  isFor: ({ model_type, layer_types }) => model_type === 'lfm2' && layer_types == null,
  modelType: 'lfm2',
  keys: table(LFM2_KEYS),
  names: {},
  entries: lfm2Layers,
};

/** Without layer_types, full_attn_idxs names the layers with attention; without both, all have it. */
function lfm2Layers({ layer_types: types, full_attn_idxs, num_hidden_layers }: Config): Config {
  if (types != null) return {};
  const count = Math.min(numberOr(num_hidden_layers, 32), MAX_LAYERS);
  const withAttention = Array.isArray(full_attn_idxs) ? new Set<unknown>(full_attn_idxs) : null;
  return {
    layer_types: Array.from({ length: count }, (_, index) =>
      (withAttention?.has(index) ?? true) ? 'full_attention' : 'conv',
    ),
  };
}

/** Source: configuration_openai_privacy_filter.py of transformers, for files without rope_parameters. */
const PRIVACY_FILTER: OriginalConfig = {
  isFor: ({ model_type, rope_parameters }) =>
    model_type === 'openai_privacy_filter' && rope_parameters == null,
  modelType: 'openai_privacy_filter',
  keys: table(OPENAI_PRIVACY_FILTER),
  names: {},
  entries: () => ({
    rope_parameters: {
      rope_type: 'yarn',
      factor: 32,
      beta_fast: 32,
      beta_slow: 1,
      truncate: false,
      original_max_position_embeddings: 4096,
    },
  }),
};

const ORIGINALS = [NOMIC, GTE, JINA_BERT, JINA_V3, LFM2_BIDIRECTIONAL, LFM2, PRIVACY_FILTER];

/**
 * Translates config.json of original model code to the keys of transformers.
 *
 * @returns null if the file has the keys of transformers
 * @throws ModelFileError
 */
export function translateOriginalConfig<Given extends Config>(
  config: Given,
): { readonly config: Given & { readonly model_type: string }; readonly keys: KeyTable } | null {
  const original = ORIGINALS.find(({ isFor }) => isFor(config));
  if (original === undefined) return null;
  const renamed = Object.entries(config).map(([key, value]) => [original.names[key] ?? key, value]);
  return {
    config: {
      ...(Object.fromEntries(renamed) as Given),
      ...original.entries?.(config),
      model_type: original.modelType,
    },
    keys: original.keys,
  };
}

/** Returns a configuration with the keys of transformers. */
export function withTransformersKeys<Given extends Config>(config: Given): Given {
  return translateOriginalConfig(config)?.config ?? config;
}

function table(keys: Readonly<Record<string, KeyUse>>): KeyTable {
  return { keys: { ...EVERY_KEY, ...keys }, unknownKeys: 'ignored' };
}

/** @throws ModelFileError for an unknown type */
function activationOf(type: unknown): string {
  const known: Readonly<Record<string, string>> = { geglu: 'gelu', reglu: 'relu' };
  const name = known[String(type)];
  if (name !== undefined) return name;
  throw new ModelFileError(
    `config.json: feed_forward_type: expected geglu or reglu, received ${JSON.stringify(type)}`,
  );
}

function numberOr(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}

function roundUp(value: number, multiple: number): number {
  return Math.ceil(value / multiple) * multiple;
}
