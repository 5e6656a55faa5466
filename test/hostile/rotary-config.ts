// config.json of models with rotary positions: sizes that no weight of the file limits.
import { type Damage, editJson, type HostileCase, textCases } from './case';

const set = (values: object) =>
  editJson('config.json', (config) => void Object.assign(config, values));

const HEADS: readonly Damage[] = [
  [
    'a billion heads of 2',
    set({ num_attention_heads: 1e9, head_dim: 2 }),
    /^config\.json: num_attention_heads: expected at most/,
  ],
  [
    'more heads than numbers',
    set({ num_attention_heads: 4000, head_dim: null }),
    /^(config\.json: head_dim|model\.safetensors: )/,
  ],
  ['heads of −8', set({ head_dim: -8 }), /^config\.json: head_dim: expected an even number/],
  ['heads of 7', set({ head_dim: 7 }), /^config\.json: head_dim: expected an even number/],
  ['heads of 2^40', set({ head_dim: 2 ** 40 }), /^config\.json: head_dim: expected/],
  [
    'a billion positions',
    set({ max_position_embeddings: 1e9 }),
    /^config\.json: max_position_embeddings: expected at most/,
  ],
  ['positions that turn by 0', set({ rope_parameters: { rope_theta: 0 } }), /^config\.json: rope/],
  [
    'scaled positions of an unknown kind',
    set({ rope_parameters: { rope_theta: 1e4, rope_type: 'yarn' } }),
    /^config\.json: rope_parameters\.rope_type: /,
  ],
];

const named = (model: string, damages: readonly Damage[]): readonly Damage[] =>
  damages.map(([name, make, error]) => [`${model}: ${name}`, make, error]);

export const ROTARY_CONFIGS: readonly HostileCase[] = [
  ...textCases('nomic-bert-float16', named('a NomicBert', HEADS)),
  ...textCases('qwen3-float16', named('a Qwen3', HEADS)),
  ...textCases(
    'qwen3-float16',
    named('a Qwen3', [
      ['0 key heads', set({ num_key_value_heads: 0 }), /^config\.json: num_key_value_heads: /],
      ['3 key heads of 4', set({ num_key_value_heads: 3 }), /^config\.json: num_key_value_heads: /],
      ['a million layers', set({ num_hidden_layers: 1e6 }), /^config\.json: num_hidden_layers: /],
      ['sliding windows', set({ use_sliding_window: true }), /^config\.json: use_sliding_window: /],
    ]),
  ),
  ...textCases(
    'gemma3-float16',
    named('a Gemma 3', [
      ['a window of 0', set({ sliding_window: 0 }), /^config\.json: sliding_window/],
      ['a window of −9', set({ sliding_window: -9 }), /^config\.json: sliding_window/],
      ['a pattern of 0', set({ sliding_window_pattern: 0 }), /^config\.json: sliding_window/],
      [
        'too few layer types',
        set({ layer_types: ['full_attention'] }),
        /^config\.json: layer_types/,
      ],
      ['a scale of −1', set({ query_pre_attn_scalar: -1 }), /^config\.json: query_pre_attn_scalar/],
    ]),
  ),
];
