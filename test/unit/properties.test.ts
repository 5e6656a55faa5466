import { parseProperties } from '../../src/commands/import-torchserve/properties';

test.each([
  ['a=1', { a: '1' }],
  ['a = 1 ', { a: '1' }],
  ['a: 1', { a: '1' }],
  ['a 1', { a: '1' }],
  ['a=x=y:z', { a: 'x=y:z' }],
  ['a=', { a: '' }],
  ['a', { a: '' }],
  ['a=1\na=2', { a: '2' }],
  ['# a=1\n! b=2\n\n  c=3', { c: '3' }],
  ['a=1,\\\n  2,\\\r\n  3', { a: '1,2,3' }],
  ['a=x\\\\\nb=2', { a: 'x\\', b: '2' }],
  ['a\\=b\\:c\\ d=1', { 'a=b:c d': '1' }],
  ['a=\\u00e9\\tx\\q', { a: 'é\txq' }],
  ['a=1\\', { a: '1' }],
  ['a={"b": {"1.0": {"c": 1}}}', { a: '{"b": {"1.0": {"c": 1}}}' }],
])('%j', (text, expected) => {
  expect(Object.fromEntries(parseProperties(text))).toEqual(expected);
});
