import { dumpJson, entriesOf, floatText } from '../../src/lib/python-json';
import { parseForPython } from '../../src/lib/python-json-parser';

/** JSON, and `json.dumps(json.loads(…), ensure_ascii=False)` of CPython 3.11. */
const CASES: readonly (readonly [string, string])[] = [
  ['{"b":1,"a":[true,null,"x"]}', '{"b": 1, "a": [true, null, "x"]}'],
  [
    '[1.0,1,-0,-0.0,1e5,1E16,123456789012345680.0]',
    '[1.0, 1, 0, -0.0, 100000.0, 1e+16, 1.2345678901234568e+17]',
  ],
  ['[0.0001,0.00001,1.5e-7,-2.50,1e400]', '[0.0001, 1e-05, 1.5e-07, -2.5, Infinity]'],
  [
    '[12345678901234567890,9007199254740993,-9007199254740993]',
    '[12345678901234567890, 9007199254740993, -9007199254740993]',
  ],
  ['{"10":1,"9":{"2":1.0,"1":2},"a":3}', '{"10": 1, "9": {"2": 1.0, "1": 2}, "a": 3}'],
  ['{"\\u0031":1,"0":2,"01":3}', '{"1": 1, "0": 2, "01": 3}'],
  ['["1.0","a \\"2.5\\" b","\\\\",1.0]', '["1.0", "a \\"2.5\\" b", "\\\\", 1.0]'],
  [
    '["\\u00e9\\ud83d\\ude00\\u007f","\\n\\t\\b\\u0001","\\/"]',
    '["é😀\u007f", "\\n\\t\\b\\u0001", "/"]',
  ],
  ['{"__proto__":1.5,"a":{}}', '{"__proto__": 1.5, "a": {}}'],
  ['[]', '[]'],
  ['{}', '{}'],
];

it.each(CASES)('%s', async (json, dumped) => {
  expect(dumpJson(await parseForPython(json))).toBe(dumped);
});

it('keeps the structure of JSON.parse without floats and index keys', async () => {
  const json = '{"a": [1, {"b": "2"}], "c": null}';
  expect(await parseForPython(json)).toEqual(JSON.parse(json));
});

it('keeps the order of the keys', async () => {
  expect(entriesOf((await parseForPython('{"b":1,"2":2,"1":3}')) as object)).toEqual([
    ['b', 1],
    ['2', 2],
    ['1', 3],
  ]);
});

it('writes values of JavaScript', () => {
  expect(dumpJson({ a: 1, b: 1.5, c: undefined, d: 2 ** 60, e: null })).toBe(
    '{"a": 1, "b": 1.5, "d": 1.152921504606847e+18, "e": null}',
  );
});

it.each([
  [0.1, '0.1'],
  [-0.00012, '-0.00012'],
  [5e-324, '5e-324'],
  [1.7976931348623157e308, '1.7976931348623157e+308'],
  [9999999999999998, '9999999999999998.0'],
])('repr of %d', (value, text) => {
  expect(floatText(value)).toBe(text);
});
