// The archive of torch.export.save: its records, its settings, its weights and its JSON.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { FIXTURES } from '../helpers/service';
import { deep, type HostileCase, type Json } from './case';
import { type Archive, archiveCase, bytesCase, good, programCase } from './exported-archive';
import {
  global,
  pickled,
  pickleOf,
  archive as saved,
  text,
  type ZipEntry,
  zip,
} from './pickle-writer';

const GRAPH = 'models/model.json';
const WEIGHTS = 'model_weights_config.json';
const CNN = 'plain-cnn';
const MEGABYTES = 1 << 20;

const version = (name: string): Buffer =>
  readFileSync(path.join(FIXTURES, 'exported', 'versions', `${name}.pt2`));

const ZIPS: readonly HostileCase[] = (
  [
    ['that is empty', () => Buffer.alloc(0), /./],
    ['of NUL', () => Buffer.alloc(100_000), /is not a zip archive, or is truncated/],
    [
      'without its last byte',
      (all) => all.subarray(0, -1),
      /is not a zip archive, or is truncated/,
    ],
    [
      'of a half',
      (all) => all.subarray(0, all.length / 2),
      /is not a zip archive, or is truncated/,
    ],
    ['that is a directory alone', (all) => all.subarray(-22), /has a damaged zip directory/],
    ['with a byte behind it', (all) => Buffer.concat([all, Buffer.of(0)]), /is not a zip archive/],
    [
      'that is TorchScript',
      () => readFileSync(path.join(FIXTURES, 'eeg/plain-cnn-scripted.pt')),
      /plain-cnn-scripted\/code\/\S+: is compressed; records of such files must not be/,
    ],
  ] satisfies [string, (all: Buffer) => Buffer, RegExp][]
).map(([name, change, error]) =>
  bytesCase(`an exported program ${name}`, good(CNN), change, error),
);

type Records = readonly [name: string, change: (archive: Archive) => void, error: RegExp];

function without(ending: string) {
  return (archive: Archive): void => archive.replace(archive.find(ending));
}

function put(ending: string, content: Buffer | string) {
  return (archive: Archive): void => archive.put(ending, content);
}

/** What the directory says of one record. */
function claim(ending: string, claims: NonNullable<ZipEntry['claims']>) {
  return (archive: Archive): void => {
    const entry = archive.find(ending);
    archive.replace(entry, { ...entry, claims });
  };
}

function also(ending: string, name: (of: string) => string) {
  return (archive: Archive): void => {
    const entry = archive.find(ending);
    archive.replace(entry, entry, { ...entry, name: name(entry.name) });
  };
}

const RECORDS: readonly Records[] = [
  ['without archive_format', without('archive_format'), /is no archive of torch\.export\.save/],
  ['of another format', put('archive_format', 'pt3'), /is no archive of torch\.export\.save/],
  [
    'of archive_version 1',
    put('archive_version', '1'),
    /archive_version: expected 0, found 1: exp/,
  ],
  [
    'of an archive_version of 5 MB',
    put('archive_version', '9'.repeat(5 * MEGABYTES)),
    /archive_version: expected 0, found 9{20}: export/,
  ],
  ['without archive_version', without('archive_version'), /has no record archive_version/],
  ['of another byte order', put('byteorder', 'big'), /was written on a big-endian machine/],
  ['without a graph', without(GRAPH), /holds no model/],
  [
    'of two graphs',
    also(GRAPH, (name) => name.replace('model.json', 'other.json')),
    /holds several models: expected one/,
  ],
  [
    'of a graph that is packed',
    claim(GRAPH, { method: 8 }),
    /\S+models\/model\.json: is compressed; records of such files must not be/,
  ],
  [
    'of a weight that is packed',
    claim('weight_4', { method: 8 }),
    /\S+weight_4: is compressed; records/,
  ],
  [
    'of a record twice',
    also('weight_4', (name) => name),
    /\S+weight_4: is duplicated in the zip dir/,
  ],
  [
    'of a record of 4 GB',
    claim('weight_4', { size: 0xfffffff0 }),
    /\S+weight_4: its zip record ends outside the file/,
  ],
  [
    'of a record outside the file',
    claim('weight_4', { offset: 0xfffffff0 }),
    /is not a zip archive, or is truncated/,
  ],
  [
    'of records that overlap',
    claim('weight_4', { offset: 0 }),
    /\S+weight_4: its zip record has another name/,
  ],
  [
    'of a record that runs into the next one',
    claim('weight_4', { size: 1925 }),
    /\S+weight_4: its zip record shares bytes with \S+weight_5/,
  ],
  [
    'of 65,535 records',
    (archive) => {
      for (let i = archive.entries.length; i < 65_535; i++) {
        archive.entries.push({ name: `n${i}`, content: Buffer.alloc(0) });
      }
      archive.put('archive_version', '1');
    },
    /archive_version: expected 0/,
  ],
  [
    'of machine code alone',
    (archive) => {
      const code = Buffer.from('\x7fELF');
      archive.replace(archive.find(GRAPH), {
        name: 'plain-cnn/data/aotinductor/model/a.so',
        content: code,
      });
    },
    /holds machine code that AOTInductor made, which is not run: save the exported program itself/,
  ],
  [
    'without a weight',
    without('weight_4'),
    /model_weights_config\.json: has no record data\/weights\/weight_4/,
  ],
  [
    'without the list of its weights',
    without(WEIGHTS),
    /has no tensor features\.0\.weight, which its signature names/,
  ],
  [
    'of a weight that is too short',
    put('weight_4', Buffer.alloc(1919)),
    /model_weights_config\.json: config\.features\.4\.weight: has a shape that does not fit the 1919 bytes of data\/weights\/weight_4/,
  ],
  ['of a graph that is empty', put(GRAPH, ''), /its graph is not valid JSON: EOF/],
  [
    'of a graph that is cut off',
    put(GRAPH, '{"graph_module":{'),
    /its graph is not valid JSON: EOF/,
  ],
  ['of a graph of NUL', put(GRAPH, Buffer.alloc(100_000)), /its graph is not valid JSON: /],
  [
    'of a graph of NaN',
    put(GRAPH, '{"schema_version":{"major":NaN}}'),
    /its graph is not valid JSON: /,
  ],
  [
    'of a graph of no UTF-8',
    put(GRAPH, Buffer.from('{"\xff":1}', 'latin1')),
    /its graph is not valid JSON: /,
  ],
  [
    'of a number beyond a double',
    put(GRAPH, '{"schema_version":{"major":1e400}}'),
    /its graph is not valid JSON: number out of range/,
  ],
  [
    'of a key twice',
    put(GRAPH, '{"schema_version":1,"schema_version":2}'),
    /its graph is not valid JSON: schema_version: repeated key/,
  ],
  [
    'of JSON 1,000,000 deep',
    put(GRAPH, deep(1_000_000)),
    /its graph is not valid JSON: recursion limit/,
  ],
  ['of JSON 120 deep', put(GRAPH, deep(120)), /expected an object/],
  ['of JSON that is a list', put(GRAPH, '[]'), /expected an object/],
  ['of JSON that is null', put(GRAPH, 'null'), /expected an object/],
  [
    'of JSON that is a text of 40 MB',
    put(GRAPH, JSON.stringify('x'.repeat(40 * MEGABYTES))),
    /expected an object/,
  ],
  [
    'of JSON of 5,000,000 lists',
    put(GRAPH, `{"schema_version":{"major":8},"x":[${'[],'.repeat(6_000_000)}0]}`),
    /holds more values of JSON than any that is written/,
  ],
  [
    'of weights that are no JSON',
    put(WEIGHTS, 'x'),
    /model_weights_config\.json: expected value at line 1/,
  ],
  [
    'of weights that are a list',
    put(WEIGHTS, '[]'),
    /model_weights_config\.json: expected an object/,
  ],
  [
    'of weights that are a text',
    put(WEIGHTS, '{"config":"x"}'),
    /model_weights_config\.json: config: expected an obj/,
  ],
];

type Weight = readonly [
  name: string,
  change: (entry: Json) => void,
  error: RegExp,
  failsAt?: 'request',
];

/** Of the entry of features.4.weight, [12, 8, 5]. */
const IN = 'model_weights_config\\.json: config\\.features\\.4\\.weight';
const UNFIT = new RegExp(
  `${IN}: has a shape that does not fit the 1920 bytes of data/weights/weight_4`,
);

const sizes = (...numbers: readonly number[]): Json => numbers.map((as_int) => ({ as_int }));
const meta = (change: object) => (entry: Json) => Object.assign(entry.tensor_meta, change);

const WEIGHT: readonly Weight[] = [
  [
    'that is pickled',
    (entry) => {
      entry.use_pickle = true;
    },
    new RegExp(
      `${IN}: is pickled. Pickled objects are not supported, because loading them executes code`,
    ),
  ],
  [
    'pickled as a text',
    (entry) => {
      entry.use_pickle = 'yes';
    },
    new RegExp(`${IN}\\.use_pickle: expected true or false`),
  ],
  [
    'outside the folder',
    (entry) => {
      entry.path_name = '../../../etc/passwd';
    },
    /model_weights_config\.json: has no record data\/weights\/\.\.\/\.\.\/\.\.\/etc\/passwd/,
  ],
  [
    'of a name with a line break',
    (entry) => {
      entry.path_name = 'a\nb\r\u001b[2Jc';
    },
    /model_weights_config\.json: has no record data\/weights\/a/,
  ],
  [
    'of a name of 5 MB',
    (entry) => {
      entry.path_name = 'x'.repeat(5 * MEGABYTES);
    },
    /model_weights_config\.json: has no record data\/weights\/x{1,3000}/,
  ],
  [
    'of a name that is a number',
    (entry) => {
      entry.path_name = 4;
    },
    new RegExp(`${IN}\\.path_name: expected a string`),
  ],
  [
    'without a layout',
    (entry) => {
      delete entry.tensor_meta.layout;
    },
    new RegExp(`${IN}\\.tensor_meta: has no layout`),
  ],
  [
    'without anything',
    (entry) => {
      for (const key of Object.keys(entry)) delete entry[key];
    },
    new RegExp(`${IN}: has no use_pickle`),
  ],
  [
    'that is sparse',
    meta({ layout: 1 }),
    new RegExp(`${IN}\\.tensor_meta: expected a dense tensor`),
  ],
  [
    'of an unknown type',
    meta({ dtype: 28 }),
    new RegExp(`${IN}\\.tensor_meta\\.dtype: unknown type of numbers 28`),
  ],
  [
    'of the type 0',
    meta({ dtype: 0 }),
    new RegExp(`${IN}\\.tensor_meta\\.dtype: unknown type of numbers 0`),
  ],
  [
    'of a type of -2^63',
    meta({ dtype: -(2 ** 63) }),
    new RegExp(`${IN}\\.tensor_meta\\.dtype: expected an integer`),
  ],
  [
    'of a type that is a text',
    meta({ dtype: 'float32' }),
    new RegExp(`${IN}\\.tensor_meta\\.dtype: expected an integer`),
  ],
  ['of a type that is too wide', meta({ dtype: 8 }), UNFIT],
  ['of more rows', meta({ sizes: sizes(13, 8, 5) }), UNFIT],
  ['of a negative size', meta({ sizes: sizes(-12, 8, 5) }), UNFIT],
  [
    'of sizes whose product overflows',
    meta({ sizes: sizes(2 ** 40, 2 ** 40, 5), strides: sizes(0, 0, 1) }),
    UNFIT,
  ],
  [
    'of sizes whose product overflows to 0',
    meta({ sizes: sizes(2 ** 32, 2 ** 32, 5), strides: sizes(0, 0, 1) }),
    UNFIT,
  ],
  ['of a size of 2^53', meta({ sizes: sizes(2 ** 53, 1, 1) }), UNFIT],
  [
    'of a size that is a fraction',
    meta({ sizes: [{ as_int: 1.5 }] }),
    new RegExp(`${IN}\\.tensor_meta\\.sizes\\[0\\]\\.as_int: expected an integer`),
  ],
  [
    'of a size that is an expression',
    meta({ sizes: [{ as_expr: { expr_str: 's0' } }] }),
    new RegExp(`${IN}\\.tensor_meta\\.sizes\\[0\\]: has no as_int`),
  ],
  ['of a negative stride', meta({ strides: sizes(-40, 5, 1) }), UNFIT],
  ['of a stride that overflows', meta({ strides: sizes(2 ** 62, 5, 1) }), UNFIT],
  ['of fewer strides', meta({ strides: sizes(40, 5) }), UNFIT],
  [
    'of 100,000 dimensions',
    meta({ sizes: sizes(...Array(100_000).fill(1)), strides: sizes(...Array(100_000).fill(0)) }),
    new RegExp(`${IN}\\.tensor_meta\\.sizes: expected 64 dimensions or fewer`),
  ],
  ['of a negative offset', meta({ storage_offset: { as_int: -1 } }), UNFIT],
  [
    'of an offset of 2^63',
    meta({ storage_offset: { as_int: 2 ** 63 } }),
    new RegExp(`${IN}\\.tensor_meta\\.storage_offset\\.as_int: expected an integer`),
  ],
  ['of an offset of 2^62', meta({ storage_offset: { as_int: 2 ** 62 } }), UNFIT],
  [
    'of another shape',
    meta({ sizes: sizes(12, 5, 8) }),
    /conv1d_1: Given groups=1, weight of size \[12, 5, 8\]/,
    'request',
  ],
  [
    'that repeats its numbers, of 20 GB',
    meta({ sizes: sizes(50_000, 100_000, 1), strides: sizes(0, 0, 1) }),
    /features\.4\.weight: is larger than what the file holds of it/,
  ],
];

const SAVED = 'serialized_state_dict.pt';
const STATE: readonly Records[] = [
  [
    'whose weights run code',
    put(
      SAVED,
      saved(
        pickleOf([
          [
            'w',
            Buffer.concat([
              global('os', 'system'),
              Buffer.from('('),
              text('true'),
              Buffer.from('tR'),
            ]),
          ],
        ]),
        {},
      ),
    ),
    /serialized_state_dict\.pt: .*refers to os\.system/,
  ],
  [
    'whose weights are no archive',
    put(SAVED, 'x'.repeat(1000)),
    /serialized_state_dict\.pt: is not a zip archive, or is truncated/,
  ],
  [
    'whose weights are archives of themselves',
    (archive) =>
      archive.put(SAVED, zip([{ name: 'archive/data.pkl', content: archive.find(SAVED).content }])),
    /serialized_state_dict\.pt: /,
  ],
  [
    'whose weights are outside',
    put(
      SAVED,
      saved(pickled([{ name: 'w', storage: '0', elements: 1000, sizes: [1000], strides: [1] }]), {
        0: Buffer.alloc(16),
      }),
    ),
    /serialized_state_dict\.pt: /,
  ],
  ['whose weights are missing', put(SAVED, ''), /has no tensor /],
  [
    'whose pickle is 100,000 deep',
    put(
      SAVED,
      saved(
        Buffer.concat([Buffer.from([0x80, 2]), Buffer.from('('.repeat(100_000)), Buffer.from('.')]),
        {},
      ),
    ),
    /serialized_state_dict\.pt: /,
  ],
  ['without weights', without(SAVED), /has no record serialized_state_dict\.pt/],
  [
    'of infinity unclosed',
    (archive) => archive.put('serialized_exported_program.json', '{"schema_version":-Infinity"'),
    /its graph is not valid JSON/,
  ],
  [
    'of NaN alone',
    (archive) => archive.put('serialized_exported_program.json', 'NaN'),
    /expected an object/,
  ],
];

const VERSIONS: readonly (readonly [string, Json, RegExp])[] = [
  [
    '7',
    { major: 7, minor: 3 },
    /is of version 7 of torch\.export's schema, by PyTorch \S+, expected 8: export the model again/,
  ],
  ['9', { major: 9, minor: 0 }, /is of version 9 of torch\.export's schema/],
  ['of a text', { major: '8', minor: 20 }, /schema_version\.major: expected an integer/],
  ['that is a list', [8, 20], /schema_version: expected an object/],
  ['that is null', null, /has no schema_version/],
  ['that is infinite', { major: 1e300 }, /schema_version\.major: expected /],
];

const of = (cases: readonly Records[], model: string | Buffer, kind: string): HostileCase[] =>
  cases.map(([name, change, error]) => archiveCase(`${kind} ${name}`, model, change, error));

export const EXPORTED_CONTAINERS: readonly HostileCase[] = [
  ...ZIPS,
  ...of(RECORDS, CNN, 'an exported program'),
  ...of(STATE, version('2.6.0-training'), 'an exported program of PyTorch 2.6'),
  ...WEIGHT.map(([name, change, error, failsAt]) =>
    archiveCase(
      `an exported program with a weight ${name}`,
      CNN,
      (archive) => {
        archive.editJson(WEIGHTS, ({ config }) => {
          change(config['features.4.weight']);
        });
      },
      error,
      failsAt,
    ),
  ),
  ...VERSIONS.map(([name, schema_version, error]) =>
    programCase(
      `an exported program of a schema version ${name}`,
      CNN,
      (program) => ({ ...program, schema_version }),
      error,
    ),
  ),
];
