/**
 * Keys of config.json in transformers 5.23: keys of `PreTrainedConfig`, of the model class, and of
 * its modeling file. These tables apply to models with weights; a program contains its
 * configuration.
 */
import { EVERY_KEY, type Keys, SIZES, TRAINING } from './every-model';
import { ROTARY_MODELS, rotary } from './rotary-models';
import { alias, each, honored, type KeyTable, noEffect, only } from './table';

const NO_DECODER: Keys = {
  is_decoder: only(
    [false],
    'Causal (decoder) attention is not supported: export the model as a program',
  ),
  add_cross_attention: only([false], 'Cross-attention is not supported'),
};

/** Keys of models without rotary position embeddings. */
const ROTARY = each(['rope_scaling', 'rope_theta'], noEffect('the model has no rotary positions'));

/** Keys of models whose embedding size equals the hidden size. */
const SAME_WIDTH = {
  embedding_size: noEffect('says that heads need not share hidden_size, which is not loaded'),
};

const BERT: Keys = {
  ...EVERY_KEY,
  ...NO_DECODER,
  ...ROTARY,
  ...SAME_WIDTH,
  ...each([...SIZES, 'intermediate_size', 'max_position_embeddings', 'type_vocab_size'], honored),
  ...each(['hidden_act', 'layer_norm_eps', 'tie_word_embeddings'], honored),
  ...each(['hidden_dropout_prob', 'attention_probs_dropout_prob', 'classifier_dropout'], TRAINING),
  pad_token_id: noEffect('texts are not padded'),
  position_embedding_type: only(['absolute'], 'Relative positions are not supported'),
};

/** Position ids start after the padding id. */
const ROBERTA: Keys = { ...BERT, pad_token_id: honored };

const DECODERS = Object.keys(NO_DECODER);

const without = (keys: Keys, names: readonly string[]): Keys => {
  return Object.fromEntries(Object.entries(keys).filter(([key]) => !names.includes(key)));
};

/** BERT's keys without those of decoders. */
const ENCODER = without(BERT, [...DECODERS, 'classifier_dropout', 'position_embedding_type']);

/** Key tables by model_type. */
export const CONFIGS: Readonly<Record<string, KeyTable>> = Object.fromEntries(
  Object.entries({
    albert: {
      ...ENCODER,
      ...each(['embedding_size', 'num_hidden_groups', 'inner_group_num'], honored),
      classifier_dropout_prob: TRAINING,
    },
    bert: BERT,
    camembert: ROBERTA,
    'data2vec-text': ROBERTA,
    'deberta-v2': {
      ...ENCODER,
      ...each(['relative_attention', 'max_relative_positions', 'position_buckets'], honored),
      ...each(['pos_att_type', 'share_att_key', 'norm_rel_ebd', 'position_biased_input'], honored),
      ...each(['attention_head_size', 'embedding_size', 'legacy'], honored),
      ...each(['conv_kernel_size', 'conv_groups', 'conv_act'], honored),
      ...each(['pooler_hidden_size', 'pooler_hidden_act'], honored),
      ...each(['pooler_dropout', 'cls_dropout'], TRAINING),
    },
    distilbert: {
      ...EVERY_KEY,
      ...ROTARY,
      ...each(['vocab_size', 'max_position_embeddings', 'tie_word_embeddings'], honored),
      ...each(['dim', 'hidden_dim', 'n_layers', 'n_heads', 'activation'], honored),
      hidden_size: alias('dim'),
      num_attention_heads: alias('n_heads'),
      num_hidden_layers: alias('n_layers'),
      ...each(['dropout', 'attention_dropout', 'qa_dropout', 'seq_classif_dropout'], TRAINING),
      sinusoidal_pos_embds: noEffect('the table is among the weights'),
      pad_token_id: noEffect('texts are not padded'),
    },
    electra: {
      ...BERT,
      embedding_size: honored,
      ...each(
        [
          ...['summary_type', 'summary_use_proj', 'summary_activation', 'summary_last_dropout'],
          ...['summary_first_dropout', 'summary_proj_to_labels'],
        ],
        noEffect('of effect for multiple choice only'),
      ),
    },
    ...ROTARY_MODELS,
    ernie: { ...BERT, ...each(['use_task_id', 'task_type_vocab_size'], honored) },
    modernbert: {
      ...EVERY_KEY,
      ...each([...SIZES, 'intermediate_size', 'max_position_embeddings'], honored),
      ...each(['hidden_activation', 'norm_eps', 'norm_bias', 'tie_word_embeddings'], honored),
      ...each(['attention_bias', 'mlp_bias', 'decoder_bias', 'classifier_bias'], honored),
      ...each(['layer_types', 'global_attn_every_n_layers', 'local_attention'], honored),
      ...each(['classifier_pooling', 'classifier_activation'], honored),
      ...each(['global_rope_theta', 'local_rope_theta'], honored),
      rope_parameters: rotary(),
      rope_scaling: only(
        [{ rope_type: 'default' }, { type: 'default' }],
        'Scaled rotary positions are not supported',
      ),
      head_dim: only([], 'It is hidden_size divided by num_attention_heads: remove it'),
      sliding_window: only([], 'Write twice as much as local_attention'),
      partial_rotary_factor: only([1], 'Rotary positions of a part are not supported'),
      rope_theta: noEffect('each kind of attention has its own'),
      ...each(['attention_dropout', 'embedding_dropout', 'mlp_dropout'], TRAINING),
      ...each(['classifier_dropout', 'initializer_cutoff_factor'], TRAINING),
      ...each(['sparse_prediction', 'sparse_pred_ignore_index'], TRAINING),
      deterministic_flash_attn: noEffect('says how the same numbers are computed'),
      pad_token_id: noEffect('texts are not padded'),
    },
    mpnet: { ...without(ENCODER, ['type_vocab_size']), relative_attention_num_buckets: honored },
    roberta: ROBERTA,
    'xlm-roberta': ROBERTA,
  } satisfies Record<string, Keys>).map(([type, keys]) => [type, { keys, unknownKeys: 'ignored' }]),
);
