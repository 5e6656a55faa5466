import { EVERY_KEY, type Keys, SIZES, TRAINING } from './every-model';
import { alias, each, honored, type KeyTable, type KeyUse, noEffect, object, only } from './table';

/** Keys of one kind of rotary positions. */
const ROPE: KeyTable = {
  keys: { rope_theta: honored, rope_type: only(['default'], 'Others are not supported') },
  unknownKeys: 'rejected',
};

/** Keys of encoders with Llama's layers, and of decoders that serve as embedders. */
const DECODER: Keys = {
  ...EVERY_KEY,
  ...each([...SIZES, 'intermediate_size', 'max_position_embeddings'], honored),
  ...each(['num_key_value_heads', 'head_dim', 'hidden_act', 'hidden_activation'], honored),
  ...each(['rms_norm_eps', 'rope_theta', 'tie_word_embeddings'], honored),
  ...each(['attention_bias', 'mlp_bias'], honored),
  rope_parameters: { use: 'object', keys: ROPE },
  rope_scaling: only([], 'Scaled rotary positions are not supported'),
  partial_rotary_factor: only([1], 'Rotary positions of a part are not supported'),
  attention_dropout: TRAINING,
  classifier_dropout: TRAINING,
  pretraining_tp: TRAINING,
  pad_token_id: noEffect('texts are not padded'),
};

const QWEN: Keys = {
  ...DECODER,
  use_sliding_window: only([false], 'Sliding windows are not supported'),
  ...each(
    ['sliding_window', 'max_window_layers', 'layer_types'],
    noEffect('of effect with use_sliding_window only'),
  ),
};

/** Keys of LFM2, with the older names of its configuration. */
export const LFM2: Keys = {
  ...EVERY_KEY,
  ...each([...SIZES, 'intermediate_size', 'max_position_embeddings'], honored),
  ...each(['num_key_value_heads', 'head_dim', 'norm_eps', 'tie_word_embeddings'], honored),
  ...each(['rope_theta', 'layer_types', 'full_attn_idxs', 'conv_L_cache', 'conv_bias'], honored),
  ...each(['block_ff_dim', 'block_auto_adjust_ff_dim'], honored),
  ...each(['block_multiple_of', 'block_ffn_dim_multiplier'], honored),
  rope_parameters: { use: 'object', keys: ROPE },
  rope_scaling: only([], 'Scaled rotary positions are not supported'),
  tie_embedding: only([true], 'Name it tie_word_embeddings'),
  attention_dropout: TRAINING,
  pad_token_id: noEffect('texts are not padded'),
};

/** Keys of rotary positions with YaRN scaling. */
const YARN: KeyUse = object(
  {
    rope_type: only(['yarn', 'default'], 'Others are not supported'),
    ...each(['rope_theta', 'factor', 'beta_fast', 'beta_slow', 'truncate'], honored),
    ...each(['original_max_position_embeddings', 'attention_factor'], honored),
    ...each(['mscale', 'mscale_all_dim'], honored),
  },
  'rejected',
);

/** Keys of openai/privacy-filter. */
export const OPENAI_PRIVACY_FILTER: Keys = {
  ...EVERY_KEY,
  ...each([...SIZES, 'intermediate_size', 'max_position_embeddings'], honored),
  ...each(['num_key_value_heads', 'head_dim', 'rms_norm_eps', 'rope_theta'], honored),
  ...each(['attention_bias', 'sliding_window', 'num_local_experts'], honored),
  ...each(['num_experts_per_tok', 'swiglu_alpha', 'swiglu_limit'], honored),
  num_experts: alias('num_local_experts'),
  rope_parameters: YARN,
  rope_scaling: only([], 'Name it rope_parameters'),
  original_max_position_embeddings: only([], 'Move it to rope_parameters'),
  partial_rotary_factor: only([1], 'Rotary positions of a part are not supported'),
  ...each(['attention_dropout', 'classifier_dropout', 'router_aux_loss_coef'], TRAINING),
  output_router_logits: noEffect('says what else is returned'),
  tie_word_embeddings: noEffect('no head has the weights of the embeddings'),
  pad_token_id: noEffect('texts are not padded'),
};

/** Keys of encoders with BERT's embeddings and rotary positions. */
const ROTARY_BERT: Keys = {
  ...EVERY_KEY,
  ...each([...SIZES, 'intermediate_size', 'max_position_embeddings', 'type_vocab_size'], honored),
  ...each(['hidden_act', 'layer_norm_eps', 'rope_theta', 'tie_word_embeddings'], honored),
  head_dim: honored,
  ...each(['hidden_dropout_prob', 'attention_probs_dropout_prob', 'classifier_dropout'], TRAINING),
  rope_parameters: { use: 'object', keys: ROPE },
  rope_scaling: only([], 'Scaled rotary positions are not supported'),
  pad_token_id: noEffect('texts are not padded'),
};

/** Keys of rotary position embeddings, one object per attention type. */
export function rotary(): KeyUse {
  const one: KeyUse = { use: 'object', keys: ROPE };
  return {
    use: 'object',
    keys: { keys: { full_attention: one, sliding_attention: one }, unknownKeys: 'rejected' },
  };
}

/** Key tables by model_type. */
export const ROTARY_MODELS = {
  eurobert: {
    ...DECODER,
    ...each(['classifier_pooling', 'mask_token_id'], honored),
  },
  gemma: { ...DECODER, use_bidirectional_attention: honored },
  gemma3_text: {
    ...DECODER,
    ...each(['use_bidirectional_attention', 'query_pre_attn_scalar'], honored),
    ...each(['layer_types', 'sliding_window', 'sliding_window_pattern'], honored),
    ...each(['_sliding_window_pattern', 'rope_local_base_freq'], honored),
    rope_parameters: rotary(),
    ...each(
      ['image_token_id', 'mm_tokens_per_image', 'text_config', 'vision_config'],
      noEffect('of effect for images only'),
    ),
    ...each(['final_logit_softcapping', 'attn_logit_softcapping'], only([], 'Not supported')),
  },
  gte: ROTARY_BERT,
  jina_embeddings_v3: ROTARY_BERT,
  lfm2: LFM2,
  nomic_bert: ROTARY_BERT,
  openai_privacy_filter: OPENAI_PRIVACY_FILTER,
  qwen2: QWEN,
  qwen3: QWEN,
} satisfies Record<string, Keys>;
