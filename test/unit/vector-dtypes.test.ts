/** Number formats of embeddings, compared with `quantize_embeddings` of sentence-transformers. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as client from '../../src/client';
import * as engines from '../../src/index';
import { encodeVector, int8Range, VECTOR_DTYPES } from '../../src/tasks/vector-dtypes';

type Case = Record<'vector' | 'int8' | 'uint8' | 'binary' | 'ubinary', number[]>;
const CASES = JSON.parse(
  readFileSync(path.join(__dirname, '../fixtures/vector-dtypes/quantized.json'), 'utf8'),
) as Case[];

describe.each(CASES.map((each) => [each.vector.length, each] as const))(
  '%i dimensions',
  (_, each) => {
    it.each(['int8', 'uint8', 'binary', 'ubinary'] as const)('as %s', (dtype) => {
      expect([...encodeVector(Float32Array.from(each.vector), dtype)]).toEqual(each[dtype]);
    });
  },
);

it('clips components outside of the range', () => {
  const vector = Float32Array.from([2 * int8Range(3), -2 * int8Range(3), 0]);
  expect([...encodeVector(vector, 'int8')]).toEqual([127, -128, -1]);
  expect([...encodeVector(vector, 'uint8')]).toEqual([255, 0, 127]);
});

it('returns float vectors as they are', () => {
  const vector = new Float32Array(4);
  expect(encodeVector(vector, 'float')).toBe(vector);
  expect(VECTOR_DTYPES[0]).toBe('float');
});

it('is part of the package', () => {
  expect(engines.encodeVector).toBe(encodeVector);
  expect(client.encodeVector).toBe(encodeVector);
});
