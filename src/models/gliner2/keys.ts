import { EVERY_KEY } from '../keys/every-model';
import { each, honored, type KeyTable, noEffect, only } from '../keys/table';

const TRAINING = noEffect('only training uses it');

/** Keys of config.json with the model_type extractor. Source: gliner2 2.1.0, configuration.py (`ExtractorConfig`). */
export const GLINER2_KEYS: KeyTable = {
  unknownKeys: 'ignored',
  keys: {
    ...EVERY_KEY,
    ...each(['name', 'version', 'architecture', 'counting_layer'], honored),
    ...each(['max_width', 'span_head', 'boundary_head'], honored),
    model_name: noEffect('encoder_config describes the encoder'),
    architecture_version: noEffect('there is one version of each architecture'),
    config_version: noEffect('of effect for structures and relations only'),
    token_pooling: only(['first'], 'use a model whose words have the state of their first token'),
    max_len: TRAINING,
  },
};
