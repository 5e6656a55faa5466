import { setImmediate } from 'node:timers/promises';
import { isLarge, jsonInTurns } from '../../src/serving/json';

const numbers = (count: number) => Float32Array.from({ length: count }, (_, i) => i / 7);
const many = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ label: `l${i}`, score: i / 3, none: undefined }));

const BODIES: readonly (readonly [string, object])[] = [
  ['nothing', {}],
  ['few values', { a: 1, b: [null, 'x', { c: undefined }], d: undefined }],
  ['an empty list', []],
  ['a long list of objects', many(5000)],
  ['a long list in an object', { results: many(3000), ok: true, none: undefined }],
  ['lists of lists', Array.from({ length: 40 }, (_, i) => many(i * 20))],
  ['long texts', { texts: Array(50).fill('"\\\u2028 \ud800 é\n'.repeat(5000)) }],
  ['large elements between small ones', [1, many(2000), 2, 3, many(900), undefined, [], {}]],
  ['a large element first and last', [many(900), 1, many(900)]],
  [
    'an object with many names',
    Object.fromEntries(many(4000).map((one) => [one.label, one.score])),
  ],
  ['numbers that JSON does not have', Array(3000).fill(Number.NaN)],
];

it.each(BODIES)('writes what JSON.stringify writes: %s', async (_, body) => {
  const written = await jsonInTurns(body, Number.POSITIVE_INFINITY);
  expect(written.toString()).toBe(JSON.stringify(body));
});

it('writes typed arrays as lists', async () => {
  const body = { a: numbers(0), b: [numbers(3), Uint32Array.of(7)], c: numbers(10_000) };
  const plain = { a: [], b: [[...numbers(3)], [7]], c: [...numbers(10_000)] };
  expect((await jsonInTurns(body, 1e9)).toString()).toBe(JSON.stringify(plain));
});

it('knows which bodies are small', () => {
  expect([{}, many(100), { text: 'x'.repeat(10_000) }].map(isLarge)).toEqual([false, false, false]);
  expect([many(3000), { text: 'x'.repeat(200_000) }].map(isLarge)).toEqual([true, true]);
});

it('gives others their turn', async () => {
  let turns = 0;
  let isWritten = false;
  const others = (async () => {
    for (; !isWritten; turns++) await setImmediate();
  })();
  await jsonInTurns({ values: numbers(1_000_000) }, 1e9);
  isWritten = true;
  await others;
  expect(turns).toBeGreaterThan(10);
});

it('stops where a response is too large', async () => {
  const body = { values: numbers(1_000_000) };
  await expect(jsonInTurns(body, 100_000)).rejects.toMatchObject({
    code: 'RESPONSE_TOO_LARGE',
    message: expect.stringMatching(
      /^The response would have at least \d{6} bytes, over the limit of 100000 \(RESPONSE_LIMIT\)\./,
    ),
  });
});
