import { honored, type KeyTable, noEffect } from '../keys/table';

const TRAINING = noEffect('only training uses it');

/** Keys of rl_agent_config.json. Source: laya 0.4.15, agent.py (`Agent`) and common.py. */
export const LAYA_KEYS: KeyTable = {
  unknownKeys: 'ignored',
  keys: {
    encoder: noEffect('encoder/config.json describes the encoder'),
    head_layers: honored,
    max_len: honored,
    head_max_len: honored,
    temperature: honored,
    temperature_by_options: honored,
    act_costs: honored,
    amp_dtype: noEffect('of effect on a GPU; DTYPE sets the number format'),
    option_layout: honored,
    lr: TRAINING,
    epochs: TRAINING,
    batch_size: TRAINING,
  },
};
