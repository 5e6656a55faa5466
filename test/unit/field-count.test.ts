import { countFields } from '../../src/grpc/field-count';
import type { CountedFields } from '../../src/protocols/grpc-service';

const COUNTED: CountedFields = { 5: { 3: 'packed', 5: { 1: 'packed' } }, 6: {} };
const MOST = 100;

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}

function field(number: number, content: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from([...varint(number * 8 + 2), ...varint(content.length)]),
    content,
  ]);
}

function repeated(bytes: Buffer, times: number): Buffer {
  return Buffer.concat(Array.from({ length: times }, () => bytes));
}

const EMPTY = Buffer.alloc(0);

it.each<[string, Buffer, number]>([
  ['nothing', EMPTY, 0],
  ['bytes and what is in them', field(1, Buffer.from([8, 1, 8, 1])), 1],
  ['fields of high numbers', repeated(field(100_000, EMPTY), 3), 3],
  ['numbers of every type', Buffer.from([8, 0xff, 1, 17, ...Array(8), 29, ...Array(4)]), 3],
  ['messages', field(6, repeated(field(1, EMPTY), 7)), 8],
  ['messages in messages', field(5, field(5, repeated(Buffer.from([16, 1]), 4))), 6],
  ['packed numbers', field(5, field(3, Buffer.alloc(9))), 11],
  ['packed numbers further in', field(5, field(5, field(1, Buffer.alloc(9)))), 12],
])('counts %s', (_name, bytes, count) => {
  expect(countFields(bytes, COUNTED, MOST)).toBe(count);
});

it.each<[string, Buffer]>([
  ['empty fields', repeated(field(7, EMPTY), 500_000)],
  ['empty messages', repeated(field(5, EMPTY), 500_000)],
  ['fields of a message', field(5, repeated(field(4, EMPTY), 500_000))],
  ['packed numbers', field(5, field(3, Buffer.alloc(1_000_000)))],
])('stops counting %s where there are too many', (_name, bytes) => {
  expect(countFields(bytes, COUNTED, MOST)).toBeGreaterThan(MOST);
});

it.each<[string, readonly number[]]>([
  ['a tag that does not end', [0xff, 0xff]],
  ['a tag that is too long', Array(20).fill(0xff)],
  ['a length that does not end', [10, 0xff]],
  ['a length over the end', [10, 5, 1]],
  ['the longest length', [10, ...Array(9).fill(0xff), 1]],
  ['a group', [11, 11, 11]],
  ['an unknown type', [15]],
  ['a number over the end', [9, 1]],
])('comes back from %s', (_name, bytes) => {
  expect(countFields(Buffer.from(bytes), COUNTED, MOST)).toBeLessThanOrEqual(bytes.length);
});

it('does not look beyond the end of a message within', () => {
  const inner = Buffer.from([10, 4]); // four bytes of the message around it
  const bytes = Buffer.concat([field(6, inner), field(1, EMPTY), field(1, EMPTY)]);
  expect(countFields(bytes, COUNTED, MOST)).toBe(4);
});
