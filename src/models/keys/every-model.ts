import { each, honored, type KeyUse, noEffect, only } from './table';

export type Keys = Readonly<Record<string, KeyUse>>;

export const TRAINING = noEffect('of effect in training only');
const GENERATING = noEffect('of effect for generating models only');

/** Keys of all models. */
export const EVERY_KEY: Keys = {
  ...each(['model_type', 'architectures', 'tokenizer_class'], honored),
  ...each(['id2label', 'label2id', 'num_labels', 'problem_type'], honored),
  ...each(['dtype', 'torch_dtype'], noEffect('DTYPE says in which numbers a model is multiplied')),
  ...each(
    ['output_hidden_states', 'output_attentions', 'return_dict', 'tie_last_hidden_states'],
    noEffect('says what else is returned'),
  ),
  ...each(
    [
      ...['_attn_implementation', 'attn_implementation'],
      ...['_experts_implementation', 'experts_implementation'],
    ],
    noEffect('says how the same numbers are computed'),
  ),
  chunk_size_feed_forward: noEffect('says how the same numbers are computed'),
  ...each(
    ['transformers_version', '_name_or_path', 'name_or_path', '_commit_hash'],
    noEffect('says what it is'),
  ),
  auto_map: noEffect('code of models is not run'),
  ...each(['is_encoder_decoder', 'use_cache', 'prefix'], GENERATING),
  custom_pipelines: noEffect('code of models is not run'),
  ...each(['bos_token_id', 'eos_token_id', 'cls_token_id', 'sep_token_id'], GENERATING),
  ...each(['initializer_range', 'gradient_checkpointing'], TRAINING),
  function_to_apply: noEffect('problem_type and the number of labels say it first'),
  per_layer_config: only([{}], 'Layers that differ are not supported'),
  quantization_config: only([], 'Quantized weights are not supported: save the model without'),
};

export const SIZES = ['vocab_size', 'hidden_size', 'num_hidden_layers', 'num_attention_heads'];
