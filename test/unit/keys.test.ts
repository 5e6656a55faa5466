import crypto from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isPublicPath } from '../../src/serving/authentication';
import { parseKeys } from '../../src/serving/credentials/key-file';
import { ApiKeys, digestOf, keyOf } from '../../src/serving/credentials/keys';

describe('parseKeys', () => {
  it.each([
    ['one', 'abc', ['abc']],
    [
      'several, comments, empty lines, white space',
      '# ours\nabc\n\n  def \t\r\n#x\nghi',
      ['abc', 'def', 'ghi'],
    ],
    ['a byte order mark', '\ufeffabc\n', ['abc']],
    [
      'all characters that a key can have',
      '!"$%&\'()*+,-./:;<=>?@[]^_`{|}~#z',
      ['!"$%&\'()*+,-./:;<=>?@[]^_`{|}~#z'],
    ],
    ['the same twice', 'abc\nabc\n', ['abc']],
    ['the longest', 'k'.repeat(1024), ['k'.repeat(1024)]],
  ])('reads %s', (_name, text, keys) => {
    expect(parseKeys(text)).toEqual(keys);
  });

  it.each([
    ['', 'holds no key'],
    ['\n# nothing\n \n', 'holds no key'],
    ['abc\nsecret key', 'line 2: expected a key of visible ASCII characters without spaces'],
    ['secret # whose', 'line 1: expected a key of visible ASCII characters without spaces'],
    ['sécret', 'line 1: expected a key of visible ASCII characters without spaces'],
    ['\n\nsecret\u0000', 'line 3: expected a key of visible ASCII characters without spaces'],
    ['\ufffdsecret', 'line 1: expected a key of visible ASCII characters without spaces'],
    [`abc\n${'k'.repeat(1025)}`, 'line 2: expected at most 1024 characters'],
    [Array.from({ length: 1001 }, (_, i) => `k${i}`).join('\n'), 'holds over 1000 keys'],
  ])('refuses %j without quoting it', (text, message) => {
    expect(() => parseKeys(text)).toThrow(new Error(message));
  });
});

describe('ApiKeys', () => {
  const KEYS = ['first-key', 'second-key', 'k'];

  it('knows its keys, whole and exact', () => {
    const keys = new ApiKeys(KEYS.map(digestOf));
    expect(keys.size).toBe(3);
    for (const key of KEYS) expect(keys.has(key)).toBe(true);
    for (const key of ['', 'first-ke', 'first-keyy', 'First-key', 'kk', 'first-key\n']) {
      expect([key, keys.has(key)]).toEqual([key, false]);
    }
    keys.replace([digestOf('third-key')]);
    expect([keys.size, keys.has('first-key'), keys.has('third-key')]).toEqual([1, false, true]);
  });

  it.each(['first-key', 'second-key', 'k', 'unknown', ''])(
    'compares %j with every key, in constant time',
    (key) => {
      const keys = new ApiKeys(KEYS.map(digestOf));
      const compare = jest.spyOn(crypto, 'timingSafeEqual');
      keys.has(key);
      const lengths = compare.mock.calls.map(([a, b]) => [a.byteLength, b.byteLength]);
      compare.mockRestore();
      expect(lengths).toEqual(KEYS.map(() => [32, 32]));
    },
  );
});

describe('keyOf', () => {
  function ask(...values: readonly string[]): IncomingMessage {
    const rawHeaders = ['Host', 'x', ...values.flatMap((value) => ['AUTHorization', value])];
    // Node keeps the first.
    return { headers: { host: 'x', authorization: values[0] }, rawHeaders } as IncomingMessage;
  }

  it.each([
    ['Bearer abc', 'abc'],
    ['bearer abc', 'abc'],
    ['BEARER   a=b/c', 'a=b/c'],
    ['Bearer', null],
    ['Bearer ', null],
    ['abc', null],
    ['Bearer a b', null],
    ['Bearer a,b', 'a,b'],
    ['Bearer é', null],
    ['Basic abc', null],
    ['XBearer abc', null],
  ])('of %j', (value, key) => {
    expect(keyOf(ask(value))).toBe(key);
  });

  it('is null without a header, and with two', () => {
    expect(keyOf(ask())).toBeNull();
    expect(keyOf(ask('Bearer abc', 'Bearer abc'))).toBeNull();
  });
});

it('takes paths for public only as they are written', () => {
  const isPublic = isPublicPath(['/', '/main.js'], ['/health', '/ready', '/probe'], {
    metricsNeedKey: true,
  });
  for (const path of ['/health', '/ready', '/probe', '/', '/main.js']) {
    expect([path, isPublic(path)]).toEqual([path, true]);
  }
  for (const path of ['/Health', '/health/', '//health', '/info', '/metrics', '/analyze', '']) {
    expect([path, isPublic(path)]).toEqual([path, false]);
  }
  expect(isPublicPath([], ['/probe'], { metricsNeedKey: false })('/metrics')).toBe(true);
});
