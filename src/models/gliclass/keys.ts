import { each, honored, type KeyTable, noEffect, only } from '../keys/table';

const TRAINING = noEffect('only training uses it');
const OTHER_ARCHITECTURE = noEffect('of effect for other architectures only');

/** Keys of config.json with the model_type GLiClass. Source: gliclass 0.1.21, config.py (`GLiClassModelConfig`). */
export const GLICLASS_KEYS: KeyTable = {
  unknownKeys: 'ignored',
  keys: {
    ...each(['name', 'version', 'model_type', 'encoder_config', 'vocab_size'], honored),
    ...each(['class_token_index', 'text_token_index', 'hidden_size'], honored),
    ...each(['projector_hidden_act', 'pooling_strategy', 'class_token_pooling'], honored),
    ...each(['embed_class_token', 'extract_text_features', 'prompt_first'], honored),
    ...each(['scorer_type', 'scorer_num_heads', 'scorer_mlp_hidden_size'], honored),
    ...each(['normalize_features', 'use_lstm'], honored),
    architecture_type: only(
      ['uni-encoder'],
      'GLiClass models with one encoder for labels and text are supported',
    ),
    squeeze_layers: only([false], 'use a model that reads only the last layer of its encoder'),
    encoder_layer_id: only([-1], 'use a model that reads only the last layer of its encoder'),
    use_segment_embeddings: only([false], 'use a model without segment embeddings'),
    use_calibrator: only([false], 'remove the calibrator before saving the model'),
    multimodal: only([false], 'GLiClass models of texts are supported'),
    encoder_model: noEffect('encoder_config describes the encoder'),
    encoder_model_name: noEffect('encoder_config describes the encoder'),
    label_model_name: OTHER_ARCHITECTURE,
    label_model_config: OTHER_ARCHITECTURE,
    example_token_index: noEffect('requests have no examples'),
    logit_scale_init_value: noEffect('the weights contain the factor'),
    layer_wise: TRAINING,
    max_num_classes: noEffect('requests determine the number of labels'),
    max_labels_alloc: noEffect('requests determine the number of labels'),
    problem_type: noEffect('requests choose between one label and several labels'),
    pad_token_id: noEffect('texts are not padded'),
    ...each(['dropout', 'scorer_attn_dropout', 'initializer_range', 'ignore_index'], TRAINING),
    ...each(['focal_loss_alpha', 'focal_loss_gamma', 'focal_loss_reduction'], TRAINING),
    ...each(['contrastive_loss_coef', 'freeze_media_encoders'], TRAINING),
    ...each(['scorer_encoder_num_layers', 'scorer_full_sequence'], OTHER_ARCHITECTURE),
    use_embedding_projection: noEffect('of effect for EmbeddingGemma 2 only'),
  },
};
