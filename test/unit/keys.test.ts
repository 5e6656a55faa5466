import crypto from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type Grant, isPublicPath, UNLIMITED_GRANT } from '../../src/serving/access';
import { ApiKeys, bearerKeyOf, digestOf } from '../../src/serving/credentials/api-keys';
import { parseKeys } from '../../src/serving/credentials/key-file';

const WORDS = 'expected no scope after the key, or models=NAME,NAME or models=*, management, guard';

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
    expect(parseKeys(text)).toEqual(keys.map((key) => ({ key, grant: UNLIMITED_GRANT })));
  });

  it.each<[string, Grant]>([
    ['models=films', { models: ['films'], canManage: false }],
    ['models=films,reviews-2', { models: ['films', 'reviews-2'], canManage: false }],
    ['models=*', { models: null, canManage: false }],
    ['management', { models: [], canManage: true }],
    ['guard', { models: [], canManage: false, canUseGuard: true }],
    ['models=films guard', { models: ['films'], canManage: false, canUseGuard: true }],
    ['management \t models=films', { models: ['films'], canManage: true }],
    ['models=* management', UNLIMITED_GRANT],
  ])('reads what a key with %j is for', (words, grant) => {
    expect(parseKeys(`open\nlimited ${words} `)).toEqual([
      { key: 'open', grant: UNLIMITED_GRANT },
      { key: 'limited', grant },
    ]);
  });

  it.each([
    ['', 'contains no key'],
    ['\n# nothing\n \n', 'contains no key'],
    ['abc\nsecret key', `line 2: ${WORDS}`],
    ['secret # whose', `line 1: ${WORDS}`],
    ['secret models=', `line 1: ${WORDS}`],
    ['secret models=films,', `line 1: ${WORDS}`],
    ['secret models=../films', `line 1: ${WORDS}`],
    ['secret models=*,films', `line 1: ${WORDS}`],
    ['secret models=films models=reviews', `line 1: ${WORDS}`],
    ['secret Management', `line 1: ${WORDS}`],
    ['secret\nsecret management', 'line 2: duplicate key with a different scope'],
    ['sécret', 'line 1: expected a key of visible ASCII characters without spaces'],
    ['\n\nsecret\u0000', 'line 3: expected a key of visible ASCII characters without spaces'],
    ['\ufffdsecret', 'line 1: expected a key of visible ASCII characters without spaces'],
    [`abc\n${'k'.repeat(1025)}`, 'line 2: expected at most 1024 characters'],
    [Array.from({ length: 1001 }, (_, i) => `k${i}`).join('\n'), 'contains more than 1000 keys'],
  ])('refuses %j without quoting it', (text, message) => {
    expect(() => parseKeys(text)).toThrow(new Error(message));
  });
});

describe('ApiKeys', () => {
  const KEYS = ['first-key', 'second-key', 'k'];
  const known = (key: string) => ({ digest: digestOf(key), grant: UNLIMITED_GRANT });

  it('knows its keys, whole and exact', () => {
    const keys = new ApiKeys(KEYS.map((key) => known(key)));
    expect(keys.size).toBe(3);
    for (const key of KEYS) expect(keys.find(key)).toBe(UNLIMITED_GRANT);
    for (const key of ['', 'first-ke', 'first-keyy', 'First-key', 'kk', 'first-key\n']) {
      expect([key, keys.find(key)]).toEqual([key, null]);
    }
    const grant = { models: ['films'], canManage: false };
    keys.replace([{ ...known('third-key'), grant }]);
    expect([keys.size, keys.find('first-key'), keys.find('third-key')]).toEqual([1, null, grant]);
  });

  it.each(['first-key', 'second-key', 'k', 'unknown', ''])(
    'compares %j with every key, in constant time',
    (key) => {
      const keys = new ApiKeys(KEYS.map((key) => known(key)));
      const compare = jest.spyOn(crypto, 'timingSafeEqual');
      keys.find(key);
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
    expect(bearerKeyOf(ask(value))).toBe(key);
  });

  it('is null without a header, and with two', () => {
    expect(bearerKeyOf(ask())).toBeNull();
    expect(bearerKeyOf(ask('Bearer abc', 'Bearer abc'))).toBeNull();
  });
});

it('takes paths for public only as they are written', () => {
  const isPublic = isPublicPath(['/', '/main.js'], ['/health', '/ready', '/probe'], {
    metricsRequireKey: true,
  });
  for (const path of ['/health', '/ready', '/probe', '/', '/main.js']) {
    expect([path, isPublic(path)]).toEqual([path, true]);
  }
  for (const path of ['/Health', '/health/', '//health', '/info', '/metrics', '/analyze', '']) {
    expect([path, isPublic(path)]).toEqual([path, false]);
  }
  expect(isPublicPath([], ['/probe'], { metricsRequireKey: false })('/metrics')).toBe(true);
});
