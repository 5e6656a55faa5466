/** JSON within a text: what its strings say is read, and what is written back is the same JSON. */
import { decodedJson, readJsonText } from '../../src/protocols/json-text';
import { seededRandom } from '../helpers/random';

const PIECES = [
  'a',
  '@',
  '"',
  '\\',
  '\n',
  '\u{1f600}',
  'é',
  '\u2028',
  '{',
  '[1]',
  ':',
  ',',
  '0',
  ' ',
];

it('has keys, strings and numbers in their order, without escapes', () => {
  const source =
    '{"a\\u0040b": ["\\u00fc\\n", 12345678901234567890, true, null, -1.50e3], "\\"": {}}';
  const json = readJsonText(source);
  expect(json?.texts).toEqual(['a@b', 'ü\n', '12345678901234567890', '-1.50e3', '"']);
  expect(json?.decoded).toBe(
    '{"a@b": ["ü\n", 12345678901234567890, true, null, -1.50e3], """: {}}',
  );
  expect(json?.write(json.texts)).toBe(source);
});

it('has what is in strings that are JSON themselves', () => {
  const within = JSON.stringify({ to: 'ann@b\u00fccher.example', list: ['x\ny'] });
  const source = JSON.stringify({ body: JSON.stringify({ within }), other: '{no JSON' });
  const json = readJsonText(source);
  expect(json?.texts).toEqual([
    'body',
    'within',
    'to',
    'ann@bücher.example',
    'list',
    'x\ny',
    'other',
    '{no JSON',
  ]);
  const written = json?.write(json.texts.map((text) => text.replace('ann@bücher.example', '<E>')));
  const { body } = JSON.parse(written as string) as { body: string };
  expect(JSON.parse((JSON.parse(body) as { within: string }).within)).toEqual({
    to: '<E>',
    list: ['x\ny'],
  });
});

it('what is no object or array of JSON is left as it is', () => {
  for (const text of ['', 'a', '"a"', '12', '{', '{"a": 1,}', '[1] and more', '{a: 1}']) {
    expect(readJsonText(text)).toBeNull();
    expect(decodedJson(text)).toBe(text);
  }
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  expect(readJsonText(deep)).toBeNull();
});

describe('any JSON', () => {
  const random = seededRandom(43);
  const below = (most: number): number => Math.floor(random() * most);
  const text = (): string =>
    Array.from({ length: below(6) }, () => PIECES[below(PIECES.length)]).join('');
  const value = (levels: number): unknown => {
    const kind = below(levels > 0 ? 7 : 4);
    if (kind < 2) return text();
    if (kind === 2) return below(1e9) / 100;
    if (kind === 3) return [true, false, null][below(3)];
    if (kind === 4) return JSON.stringify(value(levels - 1));
    const items = Array.from({ length: below(4) }, () => value(levels - 1));
    if (kind === 5) return items;
    return Object.fromEntries(items.map((item, index) => [`${index}${text()}`, item]));
  };
  const sources = Array.from({ length: 2000 }, () => {
    const source = JSON.stringify([value(4)], null, below(2) * 2);
    // Escapes where none are needed, too.
    return source.replaceAll(/[@é]/g, (one) =>
      below(2) === 0 ? `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}` : one,
    );
  });

  it('is written back as it was, and stays JSON whatever its texts become', () => {
    for (const source of sources) {
      const json = readJsonText(source);
      if (!json) throw new Error(source);
      expect(json.write(json.texts)).toBe(source);
      const changed = json.texts.map((one) => (below(2) === 0 ? `<"${one}\\>` : one));
      const written = json.write(changed);
      expect(readJsonText(written)?.texts.filter((one) => one.startsWith('<"'))).toEqual(
        changed.filter((one) => one.startsWith('<"')),
      );
    }
  });
});
