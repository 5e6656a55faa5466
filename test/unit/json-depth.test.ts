import { isTooDeep, MAX_DEPTH } from '../../src/serving/json';
import { seededRandom } from '../helpers/random';

const nested = (levels: number, inside = '') => '['.repeat(levels) + inside + ']'.repeat(levels);
const tooDeep = (json: string) => isTooDeep(Buffer.from(json));

it.each([
  ['nothing', '', false],
  ['as many levels as there may be', nested(MAX_DEPTH), false],
  ['one more', nested(MAX_DEPTH + 1), true],
  ['as many objects', `${'{"a":'.repeat(MAX_DEPTH)}1${'}'.repeat(MAX_DEPTH)}`, false],
  ['one more object', `${'{"a":'.repeat(MAX_DEPTH + 1)}1${'}'.repeat(MAX_DEPTH + 1)}`, true],
  ['many beside each other', `[${Array(5000).fill('[{}]').join()}]`, false],
  ['brackets in a string', JSON.stringify(['['.repeat(5000)]), false],
  ['brackets behind an escaped quote', JSON.stringify([`"${'['.repeat(5000)}`]), false],
  ['brackets behind an escaped backslash', `["\\\\", ${nested(MAX_DEPTH)}]`, true],
  ['a string without end', `"${'['.repeat(5000)}`, false],
  ['a million brackets, none closed', '['.repeat(1e6), true],
])('%s', (_name, json, expected) => {
  expect(tooDeep(json)).toBe(expected);
});

it('agrees with the depth of what JSON.parse reads', () => {
  const random = seededRandom(7);
  const pick = (count: number) => Math.floor(random() * count);
  const STRINGS = ['', '"', '\\', '\\"', '[[[', ']}', '\\\\"[', 'é\u{1f600}{'];
  const grow = (levels: number): unknown => {
    if (levels === 0) return [1, null, STRINGS[pick(STRINGS.length)]][pick(3)];
    const inside = grow(levels - 1);
    const other = grow(Math.min(levels - 1, pick(2)));
    return pick(2)
      ? [other, inside, STRINGS[pick(8)]]
      : { [`${STRINGS[pick(8)]}`]: other, z: inside };
  };
  let deep = 0;
  for (let i = 0; i < 300; i++) {
    const value = grow(MAX_DEPTH - 2 + pick(5));
    const isDeep = depthOf(value) > MAX_DEPTH;
    if (isDeep) deep++;
    expect(tooDeep(JSON.stringify(value))).toBe(isDeep);
  }
  expect(deep).toBeGreaterThan(50);
  expect(deep).toBeLessThan(250);
});

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
