// config.json: sizes that are absurd, negative, of another type or missing; texts that are no JSON.
import { execFileSync } from 'node:child_process';
import { rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Damage, deep, editJson, type HostileCase, replace, textCases } from './case';

const FILE = 'config.json';

const set = (values: object) => editJson(FILE, (config) => void Object.assign(config, values));

function size(key: string): readonly Damage[] {
  const values: readonly [string, unknown][] = [
    ['0', 0],
    ['negative', -32],
    ['a fraction', 32.5],
    ['a text', '32'],
    ['true', true],
    ['a list', [32]],
    ['a billion', 1e9],
    ['2^40', 2 ** 40],
    ['2^63', 2 ** 63],
    ['1e308', 1e308],
  ];
  // A size that may be one is named with the weight that it does not fit.
  const error = new RegExp(
    `^(config\\.json: .*(${key}|number of attention heads)|model\\.safetensors: (bert|classifier)\\.)`,
  );
  const missing: Damage = [
    `a config.json without ${key}`,
    editJson(FILE, (config) => void delete config[key]),
    new RegExp(`^config\\.json: ${key}: expected .*missing`),
  ];
  const wrong = values.map(
    ([name, value]): Damage => [`a ${key} that is ${name}`, set({ [key]: value }), error],
  );
  return [...wrong, missing];
}

const SIZES = [
  'hidden_size',
  'num_hidden_layers',
  'num_attention_heads',
  'intermediate_size',
  'vocab_size',
  'max_position_embeddings',
  'type_vocab_size',
].flatMap(size);

const VALUES: readonly Damage[] = [
  [
    'a num_labels of a billion',
    editJson(FILE, (config) => {
      delete config.id2label;
      config.num_labels = 1e9;
    }),
    /^(config\.json: num_labels|model\.safetensors: classifier\.)/,
  ],
  [
    'a num_labels of 2^53',
    editJson(FILE, (config) => {
      delete config.id2label;
      config.num_labels = 2 ** 53 - 1;
    }),
    /^(config\.json: num_labels|model\.safetensors: classifier\.)/,
  ],
  ['a num_labels of −1', set({ num_labels: -1 }), /^config\.json: num_labels: /],
  ['a num_labels of 2.5', set({ num_labels: 2.5 }), /^config\.json: num_labels: /],
  [
    'a million labels',
    replace(FILE, `{"id2label":{${'"1":"one",'.repeat(1_000_000)}"0":"x"}}`),
    /^config\.json: /,
  ],
  [
    '100,000 labels',
    set({ id2label: Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [i, 'x'])) }),
    /^model\.safetensors: classifier\./,
  ],
  ['no labels', set({ id2label: {} }), /^config\.json: id2label: /],
  ['a label without a number', set({ id2label: { a: 'x' } }), /^config\.json: id2label/],
  ['a label that is a list', set({ id2label: { 0: ['x'] } }), /^config\.json: id2label/],
  ['labels that are a text', set({ id2label: 'abc' }), /^config\.json: id2label/],
  [
    'a hidden_act that is no function',
    set({ hidden_act: '__import__("os")' }),
    /^config\.json: hidden_act: /,
  ],
  ['a hidden_act that is a number', set({ hidden_act: 7 }), /^config\.json: hidden_act: /],
  [
    'a layer_norm_eps that is negative',
    set({ layer_norm_eps: -1 }),
    /^config\.json: layer_norm_eps: /,
  ],
  [
    'a layer_norm_eps that is a text',
    set({ layer_norm_eps: '1e-12' }),
    /^config\.json: layer_norm_eps: /,
  ],
  ['a layer_norm_eps of 1e308', set({ layer_norm_eps: 1e308 }), /^config\.json: layer_norm_eps: /],
  [
    'a layer_norm_eps beyond a double',
    (folder) => {
      set({ layer_norm_eps: 12345 })(folder);
      execFileSync('sed', ['-i', 's/12345/1e999/', path.join(folder, FILE)]);
    },
    /^config\.json: layer_norm_eps: /,
  ],
  ['a model_type that is a number', set({ model_type: 1 }), /^config\.json: model_type: /],
  [
    'a model_type of another world',
    set({ model_type: '../../bert' }),
    /^config\.json: model_type: .*is not supported/,
  ],
  [
    'a model_type of a megabyte',
    set({ model_type: 'b'.repeat(1_000_000) }),
    /^config\.json: model_type: .{1,2000}$/,
  ],
  ['architectures that are a text', set({ architectures: 'Bert' }), /^config\.json: architectures/],
  [
    'architectures of 100,000 names',
    set({ architectures: Array(100_000).fill('Bert') }),
    /^config\.json: architectures: .{1,2000}$/,
  ],
  [
    'a problem_type that is unknown',
    set({ problem_type: 'guess' }),
    /^config\.json: problem_type: /,
  ],
  [
    'a position_embedding_type that is unknown',
    set({ position_embedding_type: 'none' }),
    /^config\.json: position_embedding_type: /,
  ],
  [
    '100,000 levels of lists',
    editJson(FILE, (config) => {
      config.deep = 'here';
    }),
    /^config\.json: /,
  ],
  ['a million further entries', set({ more: Array(1_000_000).fill(0) }), /^config\.json: /],
];

/** The one above whose JSON cannot be made by writing an object. */
function writeDeep(folder: string): void {
  const config = `{"model_type":"bert","deep":${deep(100_000)}}`;
  writeFileSync(path.join(folder, FILE), config);
}

const TEXTS: readonly Damage[] = [
  ['an empty config.json', replace(FILE, ''), /^config\.json: .*JSON/],
  ['a config.json of spaces', replace(FILE, ' '.repeat(1000)), /^config\.json: .*JSON/],
  ['a config.json that is a list', replace(FILE, '[]'), /^config\.json: /],
  ['a config.json that is null', replace(FILE, 'null'), /^config\.json: /],
  ['a config.json that is cut', replace(FILE, '{"model_type": "be'), /^config\.json: /],
  ['a config.json of NUL', replace(FILE, Buffer.alloc(1000)), /^config\.json: /],
  [
    'a config.json in UTF-16',
    replace(FILE, Buffer.from('{"model_type":"bert"}', 'utf16le')),
    /^config\.json: /,
  ],
  [
    'a config.json that is binary',
    replace(FILE, Buffer.from([0x80, 2, 0x7d, 0x71, 0])),
    /^config\.json: /,
  ],
  ['a config.json 1,000,000 deep', replace(FILE, deep(1_000_000)), /^config\.json: /],
  [
    'a config.json of 4 GB',
    (folder) => truncateSync(path.join(folder, FILE), 2 ** 32),
    /^config\.json: .*bytes/,
  ],
  [
    'a config.json that is a folder',
    (folder) => {
      rmSync(path.join(folder, FILE));
      execFileSync('mkdir', [path.join(folder, FILE)]);
    },
    /^config\.json: .*regular file/,
  ],
  [
    'a config.json that is a pipe',
    (folder) => {
      rmSync(path.join(folder, FILE));
      execFileSync('mkfifo', [path.join(folder, FILE)]);
    },
    /^config\.json: .*regular file/,
  ],
];

const values = VALUES.map(
  (damage): Damage =>
    damage[0] === '100,000 levels of lists' ? [damage[0], writeDeep, damage[2]] : damage,
);

/** Keys that only some architectures have. */
const OTHERS: readonly HostileCase[] = [
  ...textCases('albert-one-shared-layer', [
    [
      'an ALBERT of a billion layers',
      set({ num_hidden_layers: 1e9 }),
      /^config\.json: num_hidden_layers: /,
    ],
    [
      'an ALBERT of a million layers',
      set({ num_hidden_layers: 1e6 }),
      /^config\.json: num_hidden_layers: /,
    ],
    [
      'an ALBERT of a million groups',
      set({ num_hidden_layers: 1e6, num_hidden_groups: 1e6 }),
      /^config\.json: num_hidden/,
    ],
    [
      'an ALBERT of a billion inner layers',
      set({ inner_group_num: 1e9 }),
      /^(config\.json: inner_group_num|model\.safetensors: albert)/,
    ],
    [
      'an ALBERT of a billion embeddings',
      set({ embedding_size: 1e9 }),
      /^(config\.json: embedding_size|model\.safetensors: albert)/,
    ],
  ]),
  ...textCases('deberta-v2-as-v3-float16', [
    [
      'a DeBERTa of a billion positions',
      set({ max_position_embeddings: 1e9 }),
      /^config\.json: max_position_embeddings: /,
    ],
    [
      'a DeBERTa of ten million positions',
      set({ max_position_embeddings: 1e7 }),
      /^config\.json: max_position_embeddings: /,
    ],
    [
      'a DeBERTa of a billion buckets',
      set({ position_buckets: 1e9 }),
      /^(config\.json: position_buckets|model\.safetensors: deberta)/,
    ],
    [
      'a DeBERTa of −5 buckets',
      set({ position_buckets: -5 }),
      /^(config\.json|model\.safetensors): /,
    ],
    [
      'a DeBERTa of −3 token types',
      set({ type_vocab_size: -3 }),
      /^config\.json: type_vocab_size: /,
    ],
    ['a DeBERTa of −3 embeddings', set({ embedding_size: -3 }), /^config\.json: embedding_size: /],
    [
      'a DeBERTa of a huge convolution',
      set({ conv_kernel_size: 999_999_999 }),
      /^(config\.json: conv_kernel_size|model\.safetensors: deberta)/,
    ],
    [
      'a DeBERTa of a pos_att_type that is a number',
      set({ pos_att_type: 5 }),
      /^config\.json: pos_att_type: /,
    ],
  ]),
  ...textCases('roberta-three-labels-float16', [
    ['a RoBERTa that pads with −100', set({ pad_token_id: -100 }), /^config\.json: pad_token_id: /],
    [
      'a RoBERTa that pads with a billion',
      set({ pad_token_id: 1e9 }),
      /^config\.json: (pad_token_id|max_position_embeddings): /,
    ],
    [
      'a RoBERTa that pads with 2^62',
      set({ pad_token_id: 2 ** 62 }),
      /^config\.json: pad_token_id: /,
    ],
  ]),
  ...textCases('modernbert-float16', [
    [
      'a ModernBERT of a billion positions',
      set({ max_position_embeddings: 1e9 }),
      /^config\.json: max_position_embeddings: /,
    ],
    [
      'a ModernBERT that turns by 0',
      set({
        rope_parameters: {
          full_attention: { rope_theta: 0 },
          sliding_attention: { rope_theta: 1 },
        },
      }),
      /^config\.json: rope_parameters/,
    ],
    [
      'a ModernBERT that turns by −1',
      set({
        rope_parameters: {
          full_attention: { rope_theta: -1 },
          sliding_attention: { rope_theta: 1 },
        },
      }),
      /^config\.json: rope_parameters/,
    ],
    [
      'a ModernBERT of a layer of no known kind',
      set({ layer_types: ['a', 'b', 'c', 'd'] }),
      /^config\.json: layer_types/,
    ],
    [
      'a ModernBERT of a million layers',
      set({ num_hidden_layers: 1e6, layer_types: null, global_attn_every_n_layers: 3 }),
      /^config\.json: num_hidden_layers: /,
    ],
    [
      'a ModernBERT that attends to −1 tokens',
      set({ local_attention: -1 }),
      /^config\.json: local_attention: /,
    ],
  ]),
  ...textCases('mpnet-regression-float16', [
    [
      'an MPNet of a billion buckets',
      set({ relative_attention_num_buckets: 1e9 }),
      /^(config\.json: relative_attention|model\.safetensors: mpnet)/,
    ],
    [
      'an MPNet of −1 buckets',
      set({ relative_attention_num_buckets: -1 }),
      /^config\.json: relative_attention_num_buckets: /,
    ],
  ]),
  ...textCases('ernie-task-embedding-float16', [
    [
      'an ERNIE of −1 tasks',
      set({ use_task_id: true, task_type_vocab_size: -1 }),
      /^config\.json: task_type_vocab_size: /,
    ],
  ]),
  ...textCases('electra-narrow-embeddings-float16', [
    [
      'an ELECTRA of −16 embeddings',
      set({ embedding_size: -16 }),
      /^config\.json: embedding_size: /,
    ],
    ['an ELECTRA of 0 embeddings', set({ embedding_size: 0 }), /^config\.json: embedding_size: /],
  ]),
];

export const CONFIGS = [
  ...textCases('bert-single-label', [...SIZES, ...values, ...TEXTS]),
  ...OTHERS,
];
