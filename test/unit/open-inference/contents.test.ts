import { readNumbers, readTexts, writeRaw } from '../../../src/protocols/open-inference/contents';
import type { Contents, InputTensor } from '../../../src/protocols/open-inference/tensor';

const TEXTS = ['a', '', 'été ☃ 😀', 'a\0b'];

function tensor(shape: readonly number[], contents: Contents, datatype = 'BYTES'): InputTensor {
  return { name: 'T', datatype, shape, contents };
}

const json = (data: unknown): Contents => ({ form: 'json', data });
const raw = (bytes: Buffer): Contents => ({ form: 'raw', bytes });

/** An element of BYTES whose length may be a lie. */
function element(text: string, length = Buffer.byteLength(text)): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32LE(length);
  return Buffer.concat([head, Buffer.from(text)]);
}

function floats(values: readonly number[]): Buffer {
  return Buffer.from(Float32Array.from(values).buffer);
}

describe('BYTES', () => {
  const encoded = Buffer.concat(TEXTS.map((text) => element(text)));

  it.each<[string, Contents, readonly number[]]>([
    ['flat JSON', json(TEXTS), [4]],
    ['flat JSON of two axes', json(TEXTS), [4, 1]],
    ['nested JSON', json(TEXTS.map((text) => [text])), [4, 1]],
    ['raw', raw(encoded), [4]],
    ['raw of two axes', raw(encoded), [4, 1]],
    ['typed', { form: 'typed', values: TEXTS.map((text) => Buffer.from(text)) }, [4]],
  ])('is read as %s', (_name, contents, shape) => {
    expect(readTexts(tensor(shape, contents))).toEqual(TEXTS);
  });

  it('is written as it is read', () => {
    const output = { name: 'T', datatype: 'BYTES', shape: [4], values: TEXTS } as const;
    expect(writeRaw(output)).toEqual(encoded);
  });

  it('may have no elements', () => {
    for (const contents of [
      json([]),
      raw(Buffer.alloc(0)),
      { form: 'typed', values: [] } as const,
    ]) {
      expect(readTexts(tensor([0], contents))).toEqual([]);
    }
  });

  it('keeps what JSON alone can hold', () => {
    expect(readTexts(tensor([1], json(['\ud800'])))).toEqual(['\ud800']);
  });

  it.each<[string, Contents, readonly number[], string]>([
    ['no data', json(undefined), [1], 'T: data: expected an array'],
    ['a string for an array', json('a'), [1], 'T: data: expected an array'],
    ['too few', json(['a']), [2], 'T: expected 2 elements for the shape [2], received 1'],
    ['too many', json(['a', 'b']), [1], 'T: expected 1 elements for the shape [1], received 2'],
    ['a number', json(['a', 5]), [2], 'T[1]: expected a string'],
    ['null', json([null]), [1, 1], 'T[0][0]: expected a string'],
    ['an array later', json(['a', ['b']]), [2], 'T[1]: expected a string'],
    ['nested too deep', json([[['a']]]), [1, 1], 'T[0][0]: expected a string'],
    [
      'nested unevenly',
      json([['a'], ['b', 'c']]),
      [2, 1],
      'T[1]: expected an array of 1 for the shape [2, 1]',
    ],
    [
      'nested in the wrong shape',
      json([['a', 'b']]),
      [2, 1],
      'T: expected an array of 2 for the shape [2, 1]',
    ],
    [
      'no length',
      raw(Buffer.alloc(3)),
      [1],
      'T[0]: missing, because the data ends before this element',
    ],
    [
      'a missing element',
      raw(element('a')),
      [2],
      'T[1]: missing, because the data ends before this element',
    ],
    [
      'a length without data',
      raw(element('abc', 4)),
      [1],
      'T[0]: has a length of 4 bytes, but only 3 are left',
    ],
    [
      'the longest length',
      raw(element('abc', 0xffffffff)),
      [1],
      'T[0]: has a length of 4294967295 bytes, but only 3 are left',
    ],
    [
      'more than the shape says',
      raw(Buffer.concat([element('a'), element('b')])),
      [1],
      'T: 5 bytes follow the 1 elements of [1]',
    ],
    [
      'what is not UTF-8',
      raw(Buffer.concat([element('a'), Buffer.from([1, 0, 0, 0, 0xff])])),
      [2],
      'T[1]: is not valid UTF-8',
    ],
    [
      'typed data that is not UTF-8',
      { form: 'typed', values: [Buffer.from([0xc0, 0x80])] },
      [1],
      'T[0]: is not valid UTF-8',
    ],
    ['typed numbers', { form: 'typed', values: [1] }, [1], 'T[0]: expected a string'],
    [
      'typed data of another type',
      { form: 'typed', values: [] },
      [1],
      'T: expected 1 elements for the shape [1], received 0',
    ],
  ])('is refused as %s', (_name, contents, shape, message) => {
    expect(() => readTexts(tensor(shape, contents))).toThrow(message);
  });
});

describe('FP32 and FP64', () => {
  const VALUES = [0, -1.5, 3.25, 1e30, 2, 4];

  it.each<[string, Contents, readonly number[]]>([
    ['flat JSON', json(VALUES), [2, 3]],
    ['nested JSON', json([VALUES.slice(0, 3), VALUES.slice(3)]), [2, 3]],
    ['deeply nested JSON', json([[VALUES.slice(0, 3)], [VALUES.slice(3)]]), [2, 1, 3]],
    ['typed', { form: 'typed', values: VALUES }, [2, 3]],
  ])('are read as %s', (_name, contents, shape) => {
    expect([...readNumbers(tensor(shape, contents), 'FP32')]).toEqual(VALUES);
  });

  it('are read as raw, wherever they begin', () => {
    const single = floats(VALUES);
    const double = Buffer.from(Float64Array.from(VALUES).buffer);
    for (const shift of [0, 1, 3]) {
      const shifted = (bytes: Buffer) =>
        raw(Buffer.concat([Buffer.alloc(shift), bytes]).subarray(shift));
      const read32 = readNumbers(tensor([2, 3], shifted(single)), 'FP32');
      const read64 = readNumbers(tensor([2, 3], shifted(double)), 'FP64');
      expect([...read32]).toEqual(VALUES.map(Math.fround));
      expect([...read64]).toEqual(VALUES);
    }
  });

  it('are written as they are read', () => {
    const values = Float32Array.from(VALUES);
    const output = { name: 'T', datatype: 'FP32', shape: [6], values } as const;
    expect(writeRaw(output)).toEqual(floats(VALUES));
  });

  it.each<[string, 'FP32' | 'FP64', Contents, string]>([
    ['a string', 'FP32', json([1, '2', 3, 4]), 'T[0][1]: expected a number'],
    ['a boolean', 'FP32', json([1, 2, true, 4]), 'T[1][0]: expected a number'],
    ['null', 'FP64', json([1, 2, 3, null]), 'T[1][1]: expected a number'],
    ['1e400', 'FP64', json(JSON.parse('[1, 2, 3, 1e400]')), 'T[1][1]: expected a finite number'],
    [
      'nested null',
      'FP64',
      json([
        [1, 2],
        [3, null],
      ]),
      'T[1][1]: expected a number',
    ],
    ['raw NaN', 'FP32', raw(floats([1, Number.NaN, 3, 4])), 'T[0][1]: expected a finite number'],
    [
      'raw infinity',
      'FP32',
      raw(floats([1, 2, 3, Number.NEGATIVE_INFINITY])),
      'T[1][1]: expected a finite number',
    ],
    [
      'typed NaN',
      'FP32',
      { form: 'typed', values: [Number.NaN, 2, 3, 4] },
      'T[0][0]: expected a finite number',
    ],
    [
      'too few bytes',
      'FP32',
      raw(Buffer.alloc(15)),
      'T: expected 16 bytes for FP32 [2, 2], received 15',
    ],
    [
      'too many bytes',
      'FP32',
      raw(Buffer.alloc(17)),
      'T: expected 16 bytes for FP32 [2, 2], received 17',
    ],
    [
      'bytes of the other type',
      'FP64',
      raw(Buffer.alloc(16)),
      'T: expected 32 bytes for FP64 [2, 2], received 16',
    ],
    [
      'too few numbers',
      'FP32',
      json([1, 2, 3]),
      'T: expected 4 elements for the shape [2, 2], received 3',
    ],
  ])('are refused as %s', (_name, datatype, contents, message) => {
    expect(() => readNumbers(tensor([2, 2], contents, datatype), datatype)).toThrow(message);
  });
});
