import { honored, type KeyTable, noEffect, only } from '../keys/table';

const ANOTHER_ARCHITECTURE = 'GLiNER models that only find entities are supported';
const TRAINING = noEffect('only training uses it');

/** Keys of gliner_config.json. Source: gliner 0.2.29, config.py (`BaseGLiNERConfig`). */
export const GLINER_KEYS: KeyTable = {
  unknownKeys: 'ignored',
  keys: {
    name: honored,
    version: honored,
    model_name: noEffect('encoder_config describes the encoder'),
    model_type: noEffect('the other keys select the architecture'),
    encoder_config: honored,
    span_mode: honored,
    hidden_size: honored,
    max_width: honored,
    max_len: honored,
    num_rnn_layers: honored,
    embed_ent_token: honored,
    ent_token: honored,
    sep_token: honored,
    class_token_index: noEffect('ent_token names the token'),
    vocab_size: noEffect('encoder_config has the size'),
    labels_encoder: honored,
    labels_encoder_config: honored,
    labels_decoder: only([null], ANOTHER_ARCHITECTURE),
    relations_layer: only([null], ANOTHER_ARCHITECTURE),
    span_encoder_config: only([null], ANOTHER_ARCHITECTURE),
    subtoken_pooling: only(
      ['first'],
      'use a model whose words have the state of their first token',
    ),
    fuse_layers: only([false], 'use a model that reads only the last layer of its encoder'),
    post_fusion_schema: only([''], 'use a model without fusion layers after the encoder'),
    represent_spans: only([false], 'use a model whose token scores are the spans'),
    words_splitter_type: only(['whitespace'], 'use a model for words between spaces'),
    precomputed_prompts_mode: only([false], 'use a model that reads the labels of a request'),
    dropout: TRAINING,
    fine_tune: TRAINING,
    max_types: TRAINING,
    max_neg_type_ratio: TRAINING,
    num_post_fusion_layers: noEffect('there are no fusion layers'),
    token_loss_coef: TRAINING,
    span_loss_coef: TRAINING,
    neg_spans_ratio: TRAINING,
    id_to_classes: noEffect('requests name the labels'),
    _attn_implementation: noEffect('all implementations compute the same'),
  },
};
