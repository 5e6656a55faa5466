/** Keys of adapter_config.json in peft 0.21: tuners/lora/config.py (LoraConfig) and config.py. */
import { each, honored, type KeyTable, noEffect, only } from './table';

const MERGE = 'Merge the adapter into its base with merge_and_unload() of peft, and save the model';
const TARGETS = noEffect('the tensors of the adapter specify the adapted layers');
const INITIALIZATION = noEffect('of effect for init_lora_weights only');

/** Initializations that do not change the weights of the base model. */
const INITIALIZATIONS = [true, false, 'gaussian', 'eva', 'orthogonal'];

export const ADAPTER_CONFIG: KeyTable = {
  keys: {
    ...each(['peft_type', 'task_type', 'base_model_name_or_path', 'auto_mapping'], honored),
    ...each(['r', 'lora_alpha', 'use_rslora', 'rank_pattern', 'alpha_pattern'], honored),
    ...each(['modules_to_save', 'bias'], honored),
    ...each(
      ['target_modules', 'exclude_modules', 'layers_to_transform', 'layers_pattern'],
      TARGETS,
    ),
    ...each(
      ['use_dora', 'use_qalora', 'lora_bias', 'fan_in_fan_out', 'ensure_weight_tying'],
      only([false], MERGE),
    ),
    ...each(
      [
        ...['alora_invocation_tokens', 'arrow_config', 'kasa_config', 'layer_replication'],
        ...['monteclora_config', 'target_parameters', 'trainable_token_indices', 'use_bdlora'],
        ...['velora_config', 'megatron_config'],
      ],
      only([], MERGE),
    ),
    init_lora_weights: only(
      INITIALIZATIONS,
      'Save the adapter with path_initial_model_for_weight_conversion, or merge it into its base',
    ),
    ...each(['loftq_config', 'eva_config', 'corda_config', 'lora_ga_config'], INITIALIZATION),
    qalora_group_size: noEffect('of effect for use_qalora only'),
    megatron_core: noEffect('of effect for megatron_config only'),
    ...each(['lora_dropout', 'inference_mode'], noEffect('of effect in training only')),
    ...each(['peft_version', 'revision'], noEffect('says what it is')),
    runtime_config: noEffect('says how the same numbers are computed'),
  },
  unknownKeys: 'ignored',
};
