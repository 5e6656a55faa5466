// Tokenizers: garbage, depth, vocabularies that do not fit, regular expressions that explode.
import { execFileSync } from 'node:child_process';
import { copyFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FIXTURES } from '../helpers/service';
import { type Damage, deep, editJson, type HostileCase, replace, textCases } from './case';

const FILE = 'tokenizer.json';
const SETTINGS = 'tokenizer_config.json';
const NAMED = /^tokenizer\.json: /;

const edit = (change: Parameters<typeof editJson>[1]) => editJson(FILE, change);
const settings = (values: object) =>
  editJson(SETTINGS, (config) => void Object.assign(config, values));

const GARBAGE: readonly Damage[] = [
  ['that is empty', replace(FILE, ''), NAMED],
  ['that is no JSON', replace(FILE, '{"model":'), NAMED],
  ['that is a list', replace(FILE, '[]'), NAMED],
  ['that is an empty object', replace(FILE, '{}'), NAMED],
  [
    'that is binary',
    replace(FILE, Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7919) % 256))),
    NAMED,
  ],
  [
    'that is not UTF-8',
    replace(
      FILE,
      Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]),
    ),
    NAMED,
  ],
  ['1,000,000 deep', replace(FILE, deep(1_000_000)), NAMED],
  [
    'of a normalizer 100,000 deep',
    edit((file) => void Object.assign(file, { normalizer: null })),
    NAMED,
  ],
  [
    'of 60 MB of lists',
    replace(FILE, `{"model":{"vocab":{}},"x":[${'0,'.repeat(30_000_000)}0]}`),
    /^tokenizer\.json: .*values/,
  ],
  [
    'of 8 GB',
    (folder) => truncateSync(path.join(folder, FILE), 2 ** 33),
    /^tokenizer\.json: .*bytes/,
  ],
  [
    'that is a folder',
    (folder) => {
      rmSync(path.join(folder, FILE));
      execFileSync('mkdir', [path.join(folder, FILE)]);
    },
    /^tokenizer\.json: .*regular file/,
  ],
  [
    'that is a pipe',
    (folder) => {
      rmSync(path.join(folder, FILE));
      execFileSync('mkfifo', [path.join(folder, FILE)]);
    },
    /^tokenizer\.json: .*regular file/,
  ],
  ['without a model', edit((file) => void delete file.model), /^tokenizer\.json: model: /],
  [
    'of a model that is a text',
    edit((file) => {
      file.model = 'WordPiece';
    }),
    /^tokenizer\.json: model: /,
  ],
  [
    'without a vocabulary',
    edit((file) => void delete file.model.vocab),
    /^tokenizer\.json: model\.vocab: /,
  ],
  [
    'of an empty vocabulary',
    edit((file) => {
      file.model.vocab = {};
    }),
    /\[UNK\]/,
  ],
  [
    'of a vocabulary that is a list',
    edit((file) => {
      file.model.vocab = ['a'];
    }),
    /^tokenizer\.json: model\.vocab: /,
  ],
  [
    'of a token whose id is a text',
    edit((file) => {
      file.model.vocab.a = 'x';
    }),
    /^tokenizer\.json: model\.vocab: /,
  ],
  [
    'of a token whose id is negative',
    edit((file) => {
      file.model.vocab.a = -1;
    }),
    /^tokenizer\.json: model\.vocab: /,
  ],
  [
    'of a token whose id is a fraction',
    edit((file) => {
      file.model.vocab.a = 1.5;
    }),
    /^tokenizer\.json: model\.vocab: /,
  ],
  [
    'of a token whose id is 2^32',
    edit((file) => {
      file.model.vocab.a = 2 ** 32;
    }),
    /^tokenizer\.json: model\.vocab: /,
  ],
];

const FIT: readonly Damage[] = [
  [
    'of a token beyond the table',
    edit((file) => {
      file.model.vocab['[UNK]'] = 420;
    }),
    /^tokenizer\.json: .*`\[UNK\]`.* 420.*420 rows/,
  ],
  [
    'of a token with the id 2^32 − 1',
    edit((file) => {
      file.model.vocab.zzz = 2 ** 32 - 1;
    }),
    /^tokenizer\.json: .*`zzz`.* 4294967295.*420 rows/,
  ],
  [
    'of twice the vocabulary',
    edit(({ model }) => {
      for (let i = 0; i < 420; i++) model.vocab[`extra${i}`] = 420 + i;
    }),
    /^tokenizer\.json: .* 839.*420 rows/,
  ],
];

const SETTING: readonly Damage[] = [
  [
    'of a token that was added behind the table',
    settings({ additional_special_tokens: ['<new>'] }),
    /: .*`<new>`.* 420.*420 rows/,
  ],
  [
    'of 300,000 added tokens',
    settings({
      added_tokens_decoder: Object.fromEntries(
        Array.from({ length: 150_000 }, (_, i) => [i, { content: `<a${i}>` }]),
      ),
      additional_special_tokens: Array.from({ length: 150_000 }, (_, i) => `<b${i}>`),
    }),
    /: /,
  ],
  ['that is no JSON', replace(SETTINGS, '{'), /^tokenizer_config\.json: /],
  ['that is a list', replace(SETTINGS, '[1]'), /^tokenizer_config\.json: /],
  ['100,000 deep', replace(SETTINGS, `{"a":${deep(100_000)}}`), /^tokenizer_config\.json: /],
  [
    'of 8 GB',
    (folder) => truncateSync(path.join(folder, SETTINGS), 2 ** 33),
    /^tokenizer_config\.json: .*bytes/,
  ],
  [
    'of a class of Python',
    settings({ tokenizer_class: 'BertJapaneseTokenizer' }),
    /tokenizer_class: /,
  ],
  [
    'of a length of 0',
    settings({ model_max_length: 0 }),
    /^tokenizer_config\.json: model_max_length: /,
  ],
  ['of a length of 2', settings({ model_max_length: 2 }), /maximum length: /],
  [
    'of a negative length',
    settings({ model_max_length: -1 }),
    /^tokenizer_config\.json: model_max_length: /,
  ],
  [
    'of a length that is a text',
    settings({ model_max_length: '512' }),
    /^tokenizer_config\.json: model_max_length: /,
  ],
  [
    'of a side that is neither',
    settings({ truncation_side: 'middle' }),
    /^tokenizer_config\.json: truncation_side: /,
  ],
  [
    'of a flag that is a number',
    settings({ do_lower_case: 1 }),
    /^tokenizer_config\.json: do_lower_case: /,
  ],
  [
    'of a special token that is a number',
    settings({ cls_token: 5 }),
    /^tokenizer_config\.json: cls_token: /,
  ],
  ['of a special token that is not there', settings({ cls_token: '[NOPE]' }), /: /],
  [
    'of added tokens that are a list',
    settings({ added_tokens_decoder: [] }),
    /^tokenizer_config\.json: added_tokens_decoder: /,
  ],
  [
    'of an added token without an id',
    settings({ added_tokens_decoder: { x: { content: 'a' } } }),
    /^tokenizer_config\.json: added_tokens_decoder/,
  ],
  [
    'of an added token without content',
    settings({ added_tokens_decoder: { 5: {} } }),
    /^tokenizer_config\.json: added_tokens_decoder/,
  ],
];

/** tokenizer.json's own pre-tokenizer; this model's class leaves it as it is. */
export function pattern(regex: string) {
  return edit((file) => {
    file.pre_tokenizer = {
      type: 'Sequence',
      pretokenizers: [
        { type: 'Split', pattern: { Regex: regex }, behavior: 'Isolated', invert: false },
        { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false },
      ],
    };
  });
}

function replacing(regex: string) {
  return edit((file) => {
    file.normalizer = { type: 'Replace', pattern: { Regex: regex }, content: ' ' };
  });
}

const TOO_SLOW = /^tokenizer\.json: .*regular expression .*steps/;

const PATTERNS: readonly Damage[] = [
  ['of an expression that explodes', pattern('(a+)+$'), TOO_SLOW],
  ['of one that explodes by alternatives', pattern('^(a|a)*$'), TOO_SLOW],
  ['of one that explodes by a star in a star', pattern('(x*)*y'), TOO_SLOW],
  ['of one that explodes on spaces', pattern('(\\s+)+z'), TOO_SLOW],
  ['of one that explodes on words', pattern('([a-zA-Z]+)*1'), TOO_SLOW],
  ['of one that explodes on anything', pattern('^(.+)+\\x00'), TOO_SLOW],
  ['of one that explodes on a pair', pattern('((ab)+)+c'), TOO_SLOW],
  ['of one that explodes by a back-reference', pattern('(a+)\\1+b'), TOO_SLOW],
  ['of a Replace that explodes', replacing('(a+)+$'), TOO_SLOW],
  [
    'of a Replace in a Sequence that explodes',
    edit((file) => {
      file.normalizer = {
        type: 'Sequence',
        normalizers: [{ type: 'Replace', pattern: { Regex: '(a|aa)+$' }, content: '' }],
      };
    }),
    TOO_SLOW,
  ],
  [
    'of a Replace that makes a megabyte of a letter',
    edit((file) => {
      file.normalizer = { type: 'Replace', pattern: { String: 'a' }, content: 'b'.repeat(1e6) };
    }),
    /^tokenizer\.json: normalizer: content: /,
  ],
  ['of an expression that is none', pattern('(((('), NAMED],
  ['of one 100,000 parentheses deep', pattern('('.repeat(100_000) + ')'.repeat(100_000)), NAMED],
  ['of one of 10 MB', pattern('(a|b)'.repeat(2_000_000)), NAMED],
];

const BPE: readonly Damage[] = [
  ['of a merge whose result is unknown', edit((file) => void file.model.merges.push('q z')), NAMED],
  ['of a merge of three', edit((file) => void file.model.merges.push('a b c')), NAMED],
  ['of a merge that is a number', edit((file) => void file.model.merges.push(5)), NAMED],
  [
    'of a dropout of 2',
    edit((file) => {
      file.model.dropout = 2;
    }),
    NAMED,
  ],
  [
    'of a type that is unknown',
    edit((file) => {
      file.model.type = 'Magic';
    }),
    NAMED,
  ],
  [
    'of a post-processor of unknown tokens',
    edit((file) => {
      file.post_processor.special_tokens = {};
    }),
    NAMED,
  ],
  [
    'of a pre-tokenizer of unknown type',
    edit((file) => {
      file.pre_tokenizer = { type: 'Nope' };
    }),
    NAMED,
  ],
  [
    'of a normalizer that indexes where nothing is',
    edit((file) => {
      file.normalizer = {
        type: 'Precompiled',
        precompiled_charsmap: Buffer.from([4, 0, 0, 0, 255, 255, 255, 127]).toString('base64'),
      };
    }),
    NAMED,
  ],
  [
    'of a normalizer that is not base64',
    edit((file) => {
      file.normalizer = { type: 'Precompiled', precompiled_charsmap: '****' };
    }),
    NAMED,
  ],
  [
    'of a token beyond the table',
    edit((file) => {
      file.model.vocab.zzz = 420;
    }),
    /^tokenizer\.json: .*`zzz`.* 420.*420 rows/,
  ],
  [
    'of an added token beyond the table',
    edit((file) => {
      file.added_tokens.push({ ...file.added_tokens[0], id: 420, content: '<more>' });
    }),
    /: .*`<more>`.* 420.*420 rows/,
  ],
  [
    'of special tokens that leave no room',
    edit((file) => {
      file.post_processor.single = Array(200)
        .fill(file.post_processor.single[0])
        .concat(file.post_processor.single);
    }),
    /maximum length: /,
  ],
];

function deepNormalizer(folder: string): void {
  const layer = '{"type":"Sequence","normalizers":[';
  const text = `{"normalizer":${layer.repeat(100_000)}${']}'.repeat(100_000)},"model":{"vocab":{}}}`;
  writeFileSync(path.join(folder, FILE), text);
}

/** Vocabularies as older releases wrote them. */
const FILES: readonly HostileCase[] = [
  ...textCases('distilbert-two-labels', [
    ['a vocab.txt that is empty', replace('vocab.txt', ''), /\[UNK\]/],
    [
      'a vocab.txt that is binary',
      replace('vocab.txt', Buffer.from([0xff, 0xfe, 0, 1])),
      /^vocab\.txt: /,
    ],
    [
      'a vocab.txt of 8 GB',
      (folder) => truncateSync(path.join(folder, 'vocab.txt'), 2 ** 33),
      /^vocab\.txt: .*bytes/,
    ],
    [
      'a vocab.txt of more tokens than the table',
      replace(
        'vocab.txt',
        Array.from({ length: 5000 }, (_, i) =>
          i < 5 ? ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'][i] : `w${i}`,
        ).join('\n'),
      ),
      /^vocab\.txt: .* 4999.* rows/,
    ],
    [
      'a special_tokens_map.json that is a list',
      replace('special_tokens_map.json', '[]'),
      /^special_tokens_map\.json: /,
    ],
  ]),
  ...textCases('roberta-vocab-json-sharded', [
    ['a vocab.json that is a list', replace('vocab.json', '[]'), /^vocab\.json: /],
    ['a vocab.json of texts', replace('vocab.json', '{"a":"b"}'), /^vocab\.json: /],
    [
      'a vocab.json 100,000 deep',
      replace('vocab.json', `{"a":${deep(100_000)}}`),
      /^vocab\.json: /,
    ],
    [
      'a merges.txt of other words',
      replace('merges.txt', 'hello world again\n'),
      /^merges\.txt: line 1: /,
    ],
    ['a merges.txt whose results are unknown', replace('merges.txt', 'q q\n'), /^merges\.txt: /],
    [
      'a merges.txt that is binary',
      replace('merges.txt', Buffer.from([0xc3, 0x28, 0x0a])),
      /^merges\.txt: /,
    ],
    [
      'no merges.txt',
      (folder) => rmSync(path.join(folder, 'merges.txt')),
      /^merges\.txt: not found/,
    ],
  ]),
];

const named = (damages: readonly Damage[], file: string): readonly Damage[] =>
  damages.map(([name, make, error]) => [`a ${file} ${name}`, make, error]);

const garbage = GARBAGE.map(
  (damage): Damage =>
    damage[0].includes('normalizer 100,000') ? [damage[0], deepNormalizer, damage[2]] : damage,
);

export const TOKENIZERS: readonly HostileCase[] = [
  ...textCases('bert-single-label', [
    ...named([...garbage, ...FIT], FILE),
    ...named(SETTING, SETTINGS),
  ]),
  ...textCases('modernbert-float16', named([...PATTERNS, ...BPE], `BPE ${FILE}`)),
  ...FILES,
];

/** For tests of what else is done with a fixture's tokenizer. */
export function takeTokenizer(name: string, file: string, folder: string): void {
  copyFileSync(path.join(FIXTURES, 'tokenizers', name, file), path.join(folder, file));
}
