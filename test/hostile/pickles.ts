// pytorch_model.bin of both formats: programs that are none of a state_dict, tensors beyond their
// storage, archives whose directory lies.
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { FIXTURES } from '../helpers/service';
import { type Damage, editJson, type HostileCase, textCases } from './case';
import {
  archive,
  global,
  legacy,
  pickled,
  type TensorEntry,
  tensor,
  text,
  zip,
} from './pickle-writer';

const FILE = 'pytorch_model.bin';
const NAMED = /^pytorch_model\.bin: /;

/** In the place of model.safetensors. */
function bin(content: () => Buffer) {
  return (folder: string): void => {
    rmSync(path.join(folder, 'model.safetensors'), { force: true });
    writeFileSync(path.join(folder, FILE), content());
  };
}

/** The fixture's own, changed. */
function damaged(change: (content: Buffer) => Buffer) {
  return (folder: string): void => {
    const place = path.join(folder, FILE);
    writeFileSync(place, change(readFileSync(place)));
  };
}

const WORDS = 'bert.embeddings.word_embeddings.weight';
const words = (more: Partial<TensorEntry> = {}): TensorEntry => ({
  name: WORDS,
  storage: '0',
  elements: 420 * 32,
  sizes: [420, 32],
  strides: [32, 1],
  ...more,
});
const STORAGES = { 0: Buffer.alloc(420 * 32 * 4) };

type Program = readonly [name: string, pickle: () => Buffer, error: RegExp];

const program =
  (...parts: readonly (string | Buffer)[]) =>
  (): Buffer =>
    Buffer.concat([
      Buffer.from([0x80, 2]),
      ...parts.map((part) => Buffer.from(part as string, 'latin1')),
    ]);

/** What both formats hold. */
const PROGRAMS: readonly Program[] = [
  [
    'that calls os.system',
    program(global('os', 'system'), '(', text('touch malicious-pickle-ran'), 'tR.'),
    /refers to os\.system/,
  ],
  [
    'that calls builtins.eval',
    program(global('builtins', 'eval'), '(', text('1'), 'tR.'),
    /refers to builtins\.eval/,
  ],
  [
    'that calls a storage',
    program(global('torch', 'FloatStorage'), ')R.'),
    /calls torch\.FloatStorage/,
  ],
  ['that makes an instance', program('(i', 'os\nsystem\n.'), /pickle instruction/],
  ['that loads by number', program(Buffer.from([0x82, 1]), '.'), /pickle instruction/],
  ['without an end', program('}'), /ends in the middle/],
  ['of an end alone', program('.'), /ends in the middle/],
  ['of 4,000,001 dictionaries', program('}'.repeat(4_000_001), '.'), /too many instructions/],
  [
    'of 3,000,000 lists in each other',
    program(']'.repeat(1_500_001), 'a'.repeat(1_500_000), '.'),
    /./,
  ],
  [
    'of a text longer than the file',
    program('X', Buffer.from([255, 255, 255, 127]), 'x.'),
    /ends in the middle/,
  ],
  ['of an entry that was never made', program('h', Buffer.from([9]), '.'), /./],
  ['of a mark that is not there', program('}u.'), /ends in the middle/],
  ['that is a number', program('K', Buffer.from([5]), '.'), /no dictionary/],
  [
    'of names that are numbers',
    program('}(K', Buffer.from([1]), 'K', Buffer.from([2]), 'u.'),
    /name is no string/,
  ],
  [
    'of values that are numbers',
    program('}(', text('a'), 'K', Buffer.from([2]), 'u.'),
    /a: is not a tensor/,
  ],
  ['of an odd number of entries', program('}(', text('a'), 'u.'), /./],
  ['of no tensors', () => pickled([]), /are missing/],
  [
    'of a name twice',
    () => pickled([words(), words({ sizes: [1], strides: [1] })]),
    /word_embeddings\.weight: .*is duplicated/,
  ],
  [
    'of a tensor that is larger than its storage',
    () => pickled([words({ sizes: [421, 32] })]),
    /word_embeddings\.weight: .*does not fit its storage/,
  ],
  [
    'of a tensor that begins behind its storage',
    () => pickled([words({ offset: 420 * 32 })]),
    /does not fit its storage/,
  ],
  [
    'of a tensor before its storage',
    () => pickled([words({ offset: -1 })]),
    /does not fit its storage/,
  ],
  ['of negative sizes', () => pickled([words({ sizes: [-420, -32] })]), /does not fit its storage/],
  [
    'of negative strides',
    () => pickled([words({ strides: [-32, -1] })]),
    /does not fit its storage/,
  ],
  [
    'of strides that overflow',
    () => pickled([words({ strides: [2 ** 62, 2 ** 62] })]),
    /does not fit its storage/,
  ],
  [
    'of sizes that overflow',
    () => pickled([words({ sizes: [2 ** 62, 2 ** 62], strides: [0, 0] })]),
    /./,
  ],
  [
    'of fewer strides than sizes',
    () => pickled([words({ strides: [1] })]),
    /does not fit its storage/,
  ],
  [
    'of 65 dimensions',
    () => pickled([words({ sizes: Array(65).fill(1), strides: Array(65).fill(1) })]),
    /too many dimensions/,
  ],
  [
    'of 200,000 tensors of 64 dimensions',
    () => {
      const one = tensor(words({ sizes: Array(64).fill(1), strides: Array(64).fill(1) }));
      // Its arguments are kept once, and called again and again.
      const again = Buffer.concat([
        global('torch._utils', '_rebuild_tensor'),
        Buffer.from('h\x01R'),
      ]);
      const calls = Buffer.alloc(again.length * 200_000, again);
      const kept = [one.subarray(0, -1), Buffer.from('q\x01R')];
      return program('}(', text('a'), ...kept, 'u(', text('b'), calls, '.')();
    },
    /too many values/,
  ],
  [
    'of a storage of a negative length',
    () => pickled([words({ elements: -1 })]),
    /impossible length|not as long/,
  ],
  [
    'of a storage of 2^61 elements',
    () => pickled([words({ elements: 2 ** 61 })]),
    /not as long|impossible|larger/,
  ],
  ['of a storage that is not there', () => pickled([words({ storage: '7' })]), /./],
  ['of a storage that leads out', () => pickled([words({ storage: '../../../etc/passwd' })]), /./],
  [
    'of a storage of an unknown type',
    () => pickled([words({ type: 'QInt8Storage' })]),
    /refers to torch\.QInt8Storage/,
  ],
  [
    'of a storage of two types',
    () => pickled([words(), words({ name: 'b', type: 'IntStorage', sizes: [1], strides: [1] })]),
    /two types/,
  ],
  [
    'of whole numbers',
    () => pickled([words({ type: 'IntStorage' })]),
    /word_embeddings\.weight: type Int is not supported/,
  ],
];

/** Of an old file's many pickles, an error may be found in the next one. */
const both = PROGRAMS.flatMap(([name, pickle, error]): readonly Damage[] => [
  [
    `an archive of a pickle ${name}`,
    bin(() => archive(pickle(), STORAGES)),
    new RegExp(`^pytorch_model\\.bin: (?=.*(${error.source}))`),
  ],
  [`an old file of a pickle ${name}`, bin(() => legacy(pickle(), STORAGES)), NAMED],
]);

const ARCHIVES: readonly Damage[] = [
  [
    'without a pickle',
    bin(() => zip([{ name: 'archive/version', content: Buffer.from('3\n') }])),
    NAMED,
  ],
  [
    'without a version',
    bin(() => zip([{ name: 'archive/data.pkl', content: pickled([words()]) }])),
    NAMED,
  ],
  ['without entries', bin(() => zip([])), NAMED],
  [
    'of a big-endian machine',
    bin(() =>
      zip([
        { name: 'archive/data.pkl', content: pickled([words()]) },
        { name: 'archive/byteorder', content: Buffer.from('big') },
        { name: 'archive/version', content: Buffer.from('3\n') },
      ]),
    ),
    /big-endian/,
  ],
  [
    'of a record that claims 4 GB',
    bin(() =>
      zip([
        { name: 'archive/data.pkl', content: pickled([words()]) },
        { name: 'archive/data/0', content: STORAGES[0], claims: { size: 2 ** 32 - 2 } },
        { name: 'archive/version', content: Buffer.from('3\n') },
      ]),
    ),
    NAMED,
  ],
  [
    'of a record that begins behind the file',
    bin(() =>
      zip([
        { name: 'archive/data.pkl', content: pickled([words()]), claims: { offset: 2 ** 31 } },
        { name: 'archive/version', content: Buffer.from('3\n') },
      ]),
    ),
    NAMED,
  ],
  [
    'of a record of unknown compression',
    bin(() =>
      zip([
        { name: 'archive/data.pkl', content: pickled([words()]), claims: { method: 99 } },
        { name: 'archive/version', content: Buffer.from('3\n') },
      ]),
    ),
    NAMED,
  ],
  [
    'of a record that is compressed, it says',
    bin(() =>
      zip([
        { name: 'archive/data.pkl', content: pickled([words()]), claims: { method: 8 } },
        { name: 'archive/version', content: Buffer.from('3\n') },
      ]),
    ),
    NAMED,
  ],
  [
    'of names with ..',
    bin(() =>
      zip([
        { name: '../archive/data.pkl', content: pickled([words()]) },
        { name: '../archive/version', content: Buffer.from('3\n') },
      ]),
    ),
    NAMED,
  ],
  [
    'of 60,000 records',
    bin(() =>
      zip([
        { name: 'archive/data.pkl', content: pickled([words()]) },
        ...Array.from({ length: 60_000 }, (_, i) => ({
          name: `archive/data/${i}`,
          content: Buffer.alloc(0),
        })),
        { name: 'archive/version', content: Buffer.from('3\n') },
      ]),
    ),
    NAMED,
  ],
];

/** A tensor of stride 0: any size, of one number. */
function expanded(format: typeof archive | typeof legacy) {
  const square = (name: string, rows: number, columns: number): TensorEntry =>
    words({ name, elements: 1, sizes: [rows, columns], strides: [0, 0] });
  return (folder: string): void => {
    const size = 20_000;
    editJson(
      'config.json',
      (config) =>
        void Object.assign(config, {
          hidden_size: size,
          intermediate_size: size,
          num_attention_heads: 4,
        }),
    )(folder);
    const layers = [0, 1].flatMap((layer) =>
      [
        'attention.self.query',
        'attention.self.key',
        'attention.self.value',
        'attention.output.dense',
        'intermediate.dense',
        'output.dense',
      ].map((name) => square(`bert.encoder.layer.${layer}.${name}.weight`, size, size)),
    );
    const tables = [
      square(WORDS, 420, size),
      square('bert.embeddings.position_embeddings.weight', 40, size),
      square('bert.embeddings.token_type_embeddings.weight', 2, size),
    ];
    bin(() => format(pickled([...tables, ...layers]), { 0: Buffer.alloc(4) }))(folder);
  };
}

const BOMBS: readonly Damage[] = [
  ['an archive of tensors of stride 0, of 20 GB', expanded(archive), /^pytorch_model\.bin: .*hold/],
  ['an old file of tensors of stride 0, of 20 GB', expanded(legacy), /^pytorch_model\.bin: .*hold/],
];

const LEGACY: readonly Damage[] = [
  [
    'of another protocol',
    bin(() => {
      const all = legacy(pickled([words()]), STORAGES);
      all[all.indexOf(Buffer.from([0x4d, 0xe9, 3])) + 1] = 0;
      return all;
    }),
    NAMED,
  ],
  ['without its storages', bin(() => legacy(pickled([words()]), {})), NAMED],
  [
    'of a storage that says 2^63 elements',
    bin(() => legacy(pickled([words()]), STORAGES, { 0: 2n ** 63n })),
    NAMED,
  ],
  [
    'of a storage that says 2^40 elements',
    bin(() => legacy(pickled([words()]), STORAGES, { 0: 2n ** 40n })),
    NAMED,
  ],
  [
    'of a storage that says one element less',
    bin(() => legacy(pickled([words()]), STORAGES, { 0: 420n * 32n - 1n })),
    NAMED,
  ],
  [
    'that is cut in its magic number',
    bin(() => legacy(pickled([words()]), STORAGES).subarray(0, 7)),
    NAMED,
  ],
  [
    'that is cut behind its pickle',
    bin(() => legacy(pickled([words()]), {}).subarray(0, -6)),
    NAMED,
  ],
];

const FILES: readonly Damage[] = [
  ['without a byte', bin(() => Buffer.alloc(0)), NAMED],
  ['that is text', bin(() => Buffer.from('no archive')), NAMED],
  [
    'that is a pipe',
    (folder) => {
      rmSync(path.join(folder, 'model.safetensors'));
      execFileSync('mkfifo', [path.join(folder, FILE)]);
    },
    /^pytorch_model\.bin: .*regular file/,
  ],
  [
    'that is a link to /dev/zero',
    (folder) => {
      rmSync(path.join(folder, 'model.safetensors'));
      symlinkSync('/dev/zero', path.join(folder, FILE));
    },
    NAMED,
  ],
  [
    'of a terabyte of nothing',
    (folder) => {
      bin(() => Buffer.alloc(0))(folder);
      truncateSync(path.join(folder, FILE), 2 ** 40);
    },
    NAMED,
  ],
  ...[
    'runs-code',
    'training-checkpoint',
    'list',
    'varied-legacy',
    'varied-zip',
    'varied-zip-protocol-4',
  ].map(
    (name): Damage => [
      `that is ${name}.bin`,
      (folder) => {
        rmSync(path.join(folder, 'model.safetensors'));
        copyFileSync(path.join(FIXTURES, 'archives', `${name}.bin`), path.join(folder, FILE));
      },
      NAMED,
    ],
  ),
];

const named = (damages: readonly Damage[], what: string): readonly Damage[] =>
  damages.map(([name, make, error]) => [`${what} ${name}`, make, error]);

const cuts = (share: number): Damage => [
  `a file of ${share * 100} % of its length`,
  damaged((all) => all.subarray(0, all.length * share)),
  NAMED,
];

export const PICKLES: readonly HostileCase[] = [
  ...textCases('bert-single-label', [
    ...both,
    ...named(ARCHIVES, 'an archive'),
    ...named(LEGACY, 'an old file'),
    ...BOMBS,
    ...named(FILES, 'a pytorch_model.bin'),
  ]),
  ...textCases('bert-regression-bin', named([0.01, 0.5, 0.9].map(cuts), 'an archive cut to')),
  ...textCases(
    'bert-legacy-bin-base-keys',
    named([0.0001, 0.01, 0.5, 0.9].map(cuts), 'an old file cut to'),
  ),
];
