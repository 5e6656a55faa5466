// SentencePiece models: their protocol buffers, pieces, and compiled normalization rules.
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Damage, type HostileCase, textCases } from './case';
import { takeTokenizer } from './tokenizers';

const FILE = 'spm.model';
const NAMED = /^spm\.model: /;

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7n) {
    if (rest < 128n) return Buffer.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 127n) | 128);
  }
}

const tag = (field: number, type: number): Buffer => varint(BigInt((field << 3) | type));
const bytes = (field: number, content: Buffer | string): Buffer =>
  Buffer.concat([tag(field, 2), varint(BigInt(Buffer.byteLength(content))), Buffer.from(content)]);
const number = (field: number, value: bigint): Buffer =>
  Buffer.concat([tag(field, 0), varint(value)]);
const float = (field: number, value: number): Buffer => {
  const bits = Buffer.alloc(4);
  bits.writeFloatLE(value);
  return Buffer.concat([tag(field, 5), bits]);
};
const piece = (text: Buffer | string, score = -1, kind = 1n): Buffer =>
  bytes(1, Buffer.concat([bytes(1, text), float(2, score), number(3, kind)]));

const GOOD = [
  piece('[PAD]'),
  piece('[CLS]'),
  piece('[SEP]'),
  piece('[UNK]', 0, 2n),
  piece('▁'),
  piece('a'),
];

/** In the place of tokenizer.json, a SentencePiece model: of DeBERTa's that is one. */
function model(...parts: readonly Buffer[]) {
  return (folder: string): void => {
    rmSync(path.join(folder, 'tokenizer.json'));
    writeFileSync(path.join(folder, FILE), Buffer.concat(parts));
  };
}

/** The fixture's own, changed. */
function damaged(change: (model: Buffer) => Buffer) {
  return (folder: string): void => {
    rmSync(path.join(folder, 'tokenizer.json'));
    takeTokenizer('deberta-v2', FILE, folder);
    const place = path.join(folder, FILE);
    writeFileSync(place, change(readFileSync(place)));
  };
}

const u32 = (...values: readonly number[]): Buffer => {
  const words = Buffer.alloc(values.length * 4);
  for (const [i, value] of values.entries()) words.writeUInt32LE(value, i * 4);
  return words;
};
const charsmap = (rules: Buffer): Buffer => bytes(3, bytes(2, rules));

const DAMAGES: readonly Damage[] = [
  ['that is empty', model(), NAMED],
  ['of zeros', model(Buffer.alloc(5000)), NAMED],
  ['of ones', model(Buffer.alloc(5000, 0xff)), NAMED],
  ['that is text', model(Buffer.from('#version: 0.2\na b\n')), NAMED],
  ['that is cut in a piece', damaged((all) => all.subarray(0, 21)), NAMED],
  ['that is cut before its end', damaged((all) => all.subarray(0, -1)), NAMED],
  ['without pieces', model(bytes(2, number(3, 1n))), /^spm\.model: .*no pieces/],
  [
    'of 8 GB',
    (folder) => {
      model(...GOOD)(folder);
      truncateSync(path.join(folder, FILE), 2 ** 33);
    },
    /^spm\.model: .*bytes/,
  ],
  ['of a field of 2^63 bytes', model(...GOOD, tag(1, 2), varint(2n ** 63n)), NAMED],
  ['of a number without end', model(...GOOD, tag(9, 0), Buffer.alloc(11, 0xff)), NAMED],
  ['of field 0', model(...GOOD, Buffer.from([0, 0])), NAMED],
  ['of a group', model(...GOOD, tag(9, 3)), NAMED],
  [
    'of a piece that is not UTF-8',
    model(...GOOD, piece(Buffer.from([0xc3, 0x28]))),
    /^spm\.model: .*pieces\[6\]/,
  ],
  [
    'of a piece whose score is NaN',
    model(...GOOD, piece('b', Number.NaN)),
    /^spm\.model: .*pieces\[6\]: score/,
  ],
  [
    'of a piece whose score is infinite',
    model(...GOOD, piece('b', Infinity)),
    /^spm\.model: .*pieces\[6\]: score/,
  ],
  [
    'of a piece of unknown type',
    model(...GOOD, piece('b', 0, 99n)),
    /^spm\.model: .*pieces\[6\]: type/,
  ],
  ['of a piece that is a number', model(...GOOD, number(1, 5n)), /^spm\.model: .*pieces\[6\]/],
  [
    'of 5,000,000 pieces',
    model(...GOOD, Buffer.alloc(2 * 5_000_000, bytes(1, ''))),
    /^spm\.model: .*pieces/,
  ],
  [
    'of more pieces than the table',
    model(...GOOD, ...Array.from({ length: 500 }, (_, i) => piece(`p${i}`))),
    /^spm\.model: .* 420 rows/,
  ],
  [
    'of rules that are too short',
    model(...GOOD, charsmap(Buffer.from([1]))),
    /^spm\.model: .*precompiled_charsmap/,
  ],
  [
    'of rules of a size that is a lie',
    model(...GOOD, charsmap(u32(2 ** 31, 0))),
    /^spm\.model: .*precompiled_charsmap/,
  ],
  [
    'of rules without a trie',
    model(...GOOD, charsmap(u32(0))),
    /^spm\.model: .*precompiled_charsmap/,
  ],
  [
    'of rules that lead out of the trie',
    model(...GOOD, charsmap(u32(4, 0x7ffffc00))),
    /^spm\.model: .*precompiled_charsmap/,
  ],
  [
    'of rules whose texts are not UTF-8',
    model(...GOOD, charsmap(Buffer.concat([u32(4, 0), Buffer.from([0xff])]))),
    /^spm\.model: .*precompiled_charsmap/,
  ],
];

export const SENTENCE_PIECES: readonly HostileCase[] = textCases(
  'deberta-v2-as-v3-float16',
  DAMAGES.map(([name, make, error]): Damage => [`an spm.model ${name}`, make, error]),
);
