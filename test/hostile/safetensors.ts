// Weights in safetensors files: the header's length, its JSON, offsets, shapes, types, names, numbers.
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { type Damage, deep, type Json, textCases } from './case';

const FILE = 'model.safetensors';
const NAMED = /^model\.safetensors: /;

/** [420, 32] in this fixture. */
const TABLE = 'bert.embeddings.word_embeddings.weight';
const MATRIX = 'bert.encoder.layer.1.intermediate.dense.weight';
const BIAS = 'bert.encoder.layer.0.output.dense.bias';
const NORM = 'bert.encoder.layer.0.attention.output.LayerNorm.weight';

interface Parts {
  readonly header: Record<string, Json>;
  readonly data: Buffer;
}

function read(folder: string): Parts {
  const content = readFileSync(path.join(folder, FILE));
  const end = 8 + Number(content.readBigUInt64LE(0));
  return { header: JSON.parse(content.toString('utf8', 8, end)), data: content.subarray(end) };
}

/** A file of a header as it stands, and data. */
function write(folder: string, header: string | Buffer, data: Buffer, length?: bigint): void {
  const size = Buffer.alloc(8);
  const bytes = Buffer.from(header);
  size.writeBigUInt64LE(length ?? BigInt(bytes.length));
  writeFileSync(path.join(folder, FILE), Buffer.concat([size, bytes, data]));
}

function header(edit: (header: Record<string, Json>, data: Buffer) => void) {
  return (folder: string): void => {
    const parts = read(folder);
    edit(parts.header, parts.data);
    write(folder, JSON.stringify(parts.header), parts.data);
  };
}

/** The header as text, for what JSON.stringify would not write. */
function text(edit: (header: string) => string | Buffer) {
  return (folder: string): void => {
    const parts = read(folder);
    write(folder, edit(JSON.stringify(parts.header)), parts.data);
  };
}

function length(bytes: bigint) {
  return (folder: string): void => {
    const { header, data } = read(folder);
    write(folder, JSON.stringify(header), data, bytes);
  };
}

const cut = (bytes: number) => (folder: string) => truncateSync(path.join(folder, FILE), bytes);

/** Element `index` of a float32 tensor. */
function number(tensor: string, index: number, value: number) {
  return header((header, data) =>
    data.writeFloatLE(value, header[tensor].data_offsets[0] + index * 4),
  );
}

/** The file is something else. */
function instead(make: (file: string) => void) {
  return (folder: string): void => {
    const file = path.join(folder, FILE);
    rmSync(file);
    make(file);
  };
}

const LENGTHS: readonly Damage[] = [
  ['without a byte', cut(0), /^model\.safetensors: is empty/],
  ['of one byte', cut(1), NAMED],
  ['of seven bytes', cut(7), NAMED],
  ['of a length alone', cut(8), NAMED],
  ['cut after the first byte of the header', cut(9), NAMED],
  ['cut in the header', cut(2000), NAMED],
  ['cut before the last byte of the header', cut(8 + 4335), NAMED],
  ['cut behind the header', cut(8 + 4336), /^model\.safetensors: truncated or damaged/],
  ['cut in the middle', cut(60_000), /^model\.safetensors: truncated or damaged/],
  ['cut before its last byte', cut(136_707), /^model\.safetensors: truncated or damaged/],
  ['with a byte behind', (folder) => appendFileSync(path.join(folder, FILE), 'x'), NAMED],
  ['with a terabyte of nothing behind', cut(2 ** 40), /^model\.safetensors: /],
  ['of a header of 0 bytes', length(0n), NAMED],
  ['of a header of 1 byte', length(1n), NAMED],
  ['of a header that is a byte too short', length(4335n), NAMED],
  ['of a header that is a byte too long', length(4337n), NAMED],
  ['of a header of 100,000,001 bytes', length(100_000_001n), NAMED],
  ['of a header of 2^31 bytes', length(2n ** 31n), NAMED],
  ['of a header of 2^63 bytes', length(2n ** 63n), NAMED],
  ['of a header of 2^64 − 1 bytes', length(2n ** 64n - 1n), NAMED],
];

const HEADERS: readonly Damage[] = [
  ['of a header that is not UTF-8', text(() => Buffer.from([0x7b, 0xff, 0xfe, 0x7d])), NAMED],
  ['of a header that is no JSON', text((all) => all.slice(1)), NAMED],
  ['of a header that is a list', text(() => '[]'), NAMED],
  ['of a header that is null', text(() => 'null'), NAMED],
  ['of a header without tensors', text(() => '{}'), NAMED],
  ['of a header with something behind', text((all) => `${all}{}`), NAMED],
  ['of a header 100,000 deep', text(() => deep(100_000)), NAMED],
  ['of a tensor 100,000 deep', text((all) => all.replace('{', `{"a":${deep(100_000)},`)), NAMED],
  [
    'of a shape 1,000,000 deep',
    text((all) => all.replace('"shape":[32]', `"shape":${deep(1_000_000)}`)),
    NAMED,
  ],
  ['of metadata 100,000 deep', text((all) => all.replace('"pt"', deep(100_000))), NAMED],
  ['of metadata that is no text', text((all) => all.replace('"pt"', '1')), NAMED],
  [
    'of 60 MB of metadata',
    text((all) => all.replace('"pt"', `"${'x'.repeat(60_000_000)}"`)),
    /^model\.safetensors: .*header/,
  ],
  [
    'of 200,000 tensors of nothing',
    text((all) => {
      const entry = (_: unknown, i: number) =>
        `"e${i}":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}`;
      return `${all.slice(0, -1)},${Array.from({ length: 200_000 }, entry).join()}}`;
    }),
    /^model\.safetensors: .*header/,
  ],
  [
    'of 30,000 tensors of nothing',
    text((all) => {
      const entry = (_: unknown, i: number) =>
        `"e${i}":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}`;
      return `${all.slice(0, -1)},${Array.from({ length: 30_000 }, entry).join()}}`;
    }),
    /^model\.safetensors: e0, .* and 29995 more: unexpected/,
  ],
  [
    'of a tensor of 1,000,000 dimensions',
    header((all) => {
      all[BIAS].shape = [...Array(1_000_000).fill(1), 32];
    }),
    new RegExp(`^model\\.safetensors: (tensor \`)?${BIAS}`),
  ],
];

const offsets = (begin: Json, end: Json) =>
  header((all) => {
    all[BIAS].data_offsets = [begin, end];
  });

const OFFSETS: readonly Damage[] = [
  [
    'of tensors that overlap',
    header((all) => {
      all[BIAS].data_offsets = all[NORM].data_offsets;
    }),
    /^model\.safetensors: tensor `.*`: data_offsets: overlapping/,
  ],
  ['of reversed offsets', offsets(128, 0), NAMED],
  [
    'with a hole between tensors',
    header((all) => {
      delete all[BIAS];
    }),
    /^model\.safetensors: tensor `.*`: data_offsets: .*hole/,
  ],
  ['of offsets beyond the file', offsets(10_000_000, 10_000_128), NAMED],
  ['of offsets of 2^53', offsets(2 ** 53, 2 ** 53 + 128), NAMED],
  ['of negative offsets', offsets(-128, 0), NAMED],
  ['of fractions as offsets', offsets(0.5, 128.5), NAMED],
  ['of texts as offsets', offsets('0', '128'), NAMED],
  [
    'of offsets of 2^64 − 1',
    text((all) =>
      all.replace(
        '"data_offsets":[0,128]',
        '"data_offsets":[18446744073709551487,18446744073709551615]',
      ),
    ),
    NAMED,
  ],
  [
    'of offsets beyond 2^64',
    text((all) => all.replace('"data_offsets":[0,128]', `"data_offsets":[0,1${'0'.repeat(40)}]`)),
    NAMED,
  ],
  [
    'of one offset',
    header((all) => {
      all[BIAS].data_offsets = [0];
    }),
    NAMED,
  ],
  [
    'of three offsets',
    header((all) => {
      all[BIAS].data_offsets.push(1);
    }),
    NAMED,
  ],
  [
    'of no offsets',
    header((all) => {
      delete all[BIAS].data_offsets;
    }),
    NAMED,
  ],
];

const shape = (...sizes: Json[]) =>
  header((all) => {
    all[BIAS].shape = sizes;
  });
const dtype = (type: Json) =>
  header((all) => {
    all[BIAS].dtype = type;
  });
const OF_BIAS = new RegExp(`^model\\.safetensors: (tensor \`)?${BIAS.replaceAll('.', '\\.')}`);

const SHAPES: readonly Damage[] = [
  ['of a negative shape', shape(-32), NAMED],
  ['of a shape of fractions', shape(3.2, 10), NAMED],
  ['of a shape of text', shape('32'), NAMED],
  ['of a shape that is null', shape(null), NAMED],
  ['of a shape that is larger than its bytes', shape(33), OF_BIAS],
  ['of a shape that is smaller than its bytes', shape(31), OF_BIAS],
  ['of a shape whose size overflows to its own', shape(2 ** 32, 2 ** 32, 32), OF_BIAS],
  [
    'of a shape of 2^63',
    text((all) => all.replace('"shape":[32]', '"shape":[9223372036854775808]')),
    NAMED,
  ],
  [
    'of a shape of nothing and of all',
    header((all) => {
      all.empty = { dtype: 'F32', shape: [0, 2 ** 52, 2 ** 52], data_offsets: [0, 0] };
    }),
    /^model\.safetensors: (tensor `)?empty`?: /,
  ],
  [
    'of a shape of nothing and 2^63',
    text(
      (all) =>
        `{"empty":{"dtype":"F32","shape":[0,9223372036854775808],"data_offsets":[0,0]},${all.slice(1)}`,
    ),
    /^model\.safetensors: tensor `empty`: shape: /,
  ],
  ['of a matrix where a vector should be', shape(8, 4), OF_BIAS],
  ['of a scalar', shape(), OF_BIAS],
  [
    'of a transposed matrix',
    header((all) => {
      all[MATRIX].shape.reverse();
    }),
    /^model\.safetensors: bert\.encoder\.layer\.1\.intermediate\.dense\.weight: has shape \[32, 64\]/,
  ],
  ['of an unknown type', dtype('F31'), NAMED],
  ['of a type in lower case', dtype('f32'), NAMED],
  ['of a type that is a number', dtype(32), NAMED],
  [
    'of another type of the same size',
    dtype('I32'),
    /^model\.safetensors: .*\.bias: type I32 is not supported/,
  ],
  ['of a smaller type', dtype('F16'), OF_BIAS],
  ['of a larger type', dtype('F64'), OF_BIAS],
  [
    'of complex numbers',
    header((all) => {
      Object.assign(all[BIAS], { dtype: 'C64', shape: [16] });
    }),
    OF_BIAS,
  ],
  [
    'of numbers of 8 bits',
    header((all) => {
      Object.assign(all[BIAS], { dtype: 'F8_E4M3', shape: [128] });
    }),
    /^model\.safetensors: .*\.bias: type F8_E4M3 is not supported/,
  ],
  [
    'of numbers of 4 bits',
    header((all) => {
      Object.assign(all[BIAS], { dtype: 'F4', shape: [256] });
    }),
    OF_BIAS,
  ],
];

const KEYS: readonly Damage[] = [
  [
    'with a key twice',
    text((all) => all.replace('{', `{"${BIAS}":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},`)),
    /^model\.safetensors: .*output\.dense\.bias.*repeated key/,
  ],
  [
    'with a key twice, the same',
    text((all) => all.replace(/("bert\.embeddings\.LayerNorm\.bias":\{[^}]*\},)/, '$1$1')),
    /^model\.safetensors: .*LayerNorm\.bias.*repeated key/,
  ],
  [
    'with a layer norm of an old and a new name',
    header((all) => {
      all[NORM.replace('weight', 'gamma')] = { ...all[NORM], shape: [0], data_offsets: [0, 0] };
    }),
    /^model\.safetensors: .*LayerNorm\.weight: is duplicated/,
  ],
  [
    'without a tensor',
    header((all) => {
      all['cls.predictions'] = all[BIAS];
      delete all[BIAS];
    }),
    /^model\.safetensors: .*output\.dense\.bias: is missing/,
  ],
  [
    'with a tensor renamed',
    header((all) => {
      all[`${BIAS}2`] = all[BIAS];
      delete all[BIAS];
    }),
    /^model\.safetensors: .*output\.dense\.bias: is missing.*the file has .*bias2/,
  ],
  [
    'with all tensors renamed',
    header((all) => {
      for (const key of Object.keys(all)) {
        if (key === '__metadata__') continue;
        all[`x${key}`] = all[key];
        delete all[key];
      }
    }),
    /^model\.safetensors: bert\.embeddings\.word_embeddings\.weight/,
  ],
  [
    'with a tensor that nobody knows',
    header((all) => {
      all['bert.back.door'] = { dtype: 'F32', shape: [0], data_offsets: [0, 0] };
    }),
    /^model\.safetensors: bert\.back\.door: unexpected/,
  ],
  [
    'with a name of a megabyte',
    header((all) => {
      all['n'.repeat(1_000_000)] = { dtype: 'F32', shape: [0], data_offsets: [0, 0] };
    }),
    /^model\.safetensors: .{1,2000}$/,
  ],
  [
    'with a name of several lines',
    header((all) => {
      all['a\nb\u001b[31m'] = { dtype: 'F32', shape: [0], data_offsets: [0, 0] };
    }),
    /^model\.safetensors: \P{Cc}*: unexpected/u,
  ],
  [
    'with a name of nothing',
    header((all) => {
      all[''] = { dtype: 'F32', shape: [0], data_offsets: [0, 0] };
    }),
    NAMED,
  ],
  [
    'with __proto__ for a name',
    text((all) => `{"__proto__":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},${all.slice(1)}`),
    /^model\.safetensors: __proto__: unexpected/,
  ],
];

const NUMBERS: readonly Damage[] = [
  [
    'of a NaN in a matrix',
    number(MATRIX, 1000, Number.NaN),
    new RegExp(`^model\\.safetensors: ${MATRIX}: .*NaN`),
  ],
  [
    'of an infinity in a table',
    number(TABLE, 13_000, Infinity),
    new RegExp(`^model\\.safetensors: ${TABLE}: `),
  ],
  ['of −∞ in a bias', number(BIAS, 31, -Infinity), new RegExp(`^model\\.safetensors: ${BIAS}: `)],
  [
    'of a NaN in a layer norm',
    number(NORM, 0, Number.NaN),
    new RegExp(`^model\\.safetensors: ${NORM}: `),
  ],
  [
    'of nothing but NaN',
    header((_, data) => {
      data.fill(0xff);
    }),
    /^model\.safetensors: bert\.embeddings\.word_embeddings\.weight: .*NaN/,
  ],
  [
    'of numbers so large that every answer is NaN',
    header((all, data) => {
      const [begin, end] = all[MATRIX].data_offsets;
      for (let i = begin; i < end; i += 4) data.writeFloatLE(3e38 * (i % 8 ? 1 : -1), i);
    }),
    /^the weights, or numbers of config\.json: .*NaN/,
  ],
];

const FILES: readonly Damage[] = [
  [
    'that is a Git LFS pointer',
    (folder) =>
      writeFileSync(
        path.join(folder, FILE),
        'version https://git-lfs.github.com/spec/v1\noid sha256:0\n',
      ),
    /^model\.safetensors: is a Git LFS pointer/,
  ],
  ['that is a folder', instead((file) => mkdirSync(file)), /^model\.safetensors: .*regular file/],
  [
    'that is a pipe',
    instead((file) => execFileSync('mkfifo', [file])),
    /^model\.safetensors: .*regular file/,
  ],
  ['that is a link to nowhere', instead((file) => symlinkSync('nowhere', file)), NAMED],
  ['that is a link to itself', instead((file) => symlinkSync(FILE, file)), NAMED],
  ['that is /dev/zero', instead((file) => symlinkSync('/dev/zero', file)), NAMED],
  [
    'that is a ZIP archive',
    (folder) => writeFileSync(path.join(folder, FILE), `PK\x03\x04${'\0'.repeat(100)}`),
    NAMED,
  ],
];

/** Numbers of 16 bits have other patterns for the same. */
function nan16(tensor: string, bits: number) {
  return header((all, data) => data.writeUInt16LE(bits, all[tensor].data_offsets[1] - 2));
}

const named = (damages: readonly Damage[]): readonly Damage[] =>
  damages.map(([name, make, error]) => [`a model.safetensors ${name}`, make, error]);

export const SAFETENSORS = [
  ...textCases(
    'bert-single-label',
    named([...LENGTHS, ...HEADERS, ...OFFSETS, ...SHAPES, ...KEYS, ...NUMBERS, ...FILES]),
  ),
  ...textCases(
    'roberta-three-labels-float16',
    named([
      [
        'of a float16 NaN',
        nan16('roberta.encoder.layer.0.attention.self.key.weight', 0x7e00),
        /^model\.safetensors: roberta\.encoder\.layer\.0\.attention\.self\.key\.weight: .*NaN/,
      ],
      [
        'of a float16 infinity',
        nan16('roberta.embeddings.word_embeddings.weight', 0xfc00),
        /^model\.safetensors: roberta\.embeddings\.word_embeddings\.weight: /,
      ],
    ]),
  ),
  ...textCases(
    'bert-multi-label-bfloat16',
    named([
      [
        'of a bfloat16 NaN',
        nan16('classifier.weight', 0x7fc0),
        /^model\.safetensors: classifier\.weight: .*NaN/,
      ],
    ]),
  ),
];
