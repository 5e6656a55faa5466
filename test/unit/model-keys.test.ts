/** Each key of src/models/keys that is rejected names itself, whatever its value. */
import { MODEL_KEYS, PACKAGE_KEYS } from '../../src/models/keys';
import { checkKeys, type KeyTable, type KeyUse } from '../../src/models/keys/table';

const VALUES: readonly unknown[] = [
  ...[true, false, 0, 1, -1, 0.5, '', 'x', 'default'],
  ...[[], ['x'], [[]], {}, { x: 1 }, { rope_type: 'linear' }],
];

/** All keys with the way to them, those of objects too. */
function* paths({ keys }: KeyTable, way: readonly string[]): Generator<[string[], KeyUse]> {
  for (const [key, use] of Object.entries(keys)) {
    yield [[...way, key], use];
    if (use.use === 'object') yield* paths(use.keys, [...way, key]);
  }
}

const nested = (way: readonly string[], value: unknown): unknown =>
  way.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);

const FILES = Object.entries({ ...MODEL_KEYS, ...PACKAGE_KEYS }).map(([file, table]) => ({
  file,
  table,
  keys: [...paths(table, [])].map(([way, use]) => ({ way, use, name: way.join('.') })),
}));

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

it('knows each use', () => {
  const uses = new Set(FILES.flatMap(({ keys }) => keys.map(({ use }) => use.use)));
  expect(uses).toEqual(new Set(['honored', 'rejected', 'no effect', 'alias', 'object']));
});

/** What the check of a value says; null: nothing. */
function problemOf(table: KeyTable, way: readonly string[], value: unknown): string | null {
  try {
    checkKeys(table, 'file', nested(way, value));
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

it.each(FILES)('$file: any value but those that change nothing is rejected', ({ table, keys }) => {
  const wrong = keys.flatMap(({ way, use, name }) => {
    const accepted = use.use === 'rejected' ? use.accepts : [];
    const isFree = use.use === 'honored' || use.use === 'no effect';
    return [null, ...(use.use === 'object' ? [] : VALUES)].flatMap((value) => {
      const problem = problemOf(table, way, value);
      const isAccepted = isFree || value === null || accepted.some((one) => same(one, value));
      const isRight = isAccepted
        ? problem === null
        : problem?.startsWith(`file: ${name}: expected `);
      return isRight ? [] : [{ name, value, problem }];
    });
  });
  expect(wrong).toEqual([]);
});

it('overlooks keys that the reference overlooks, and no others', () => {
  for (const { table } of FILES) {
    const check = () => checkKeys(table, 'file', { 'no such key': 1 });
    if (table.unknownKeys === 'ignored') expect(check).not.toThrow();
    else expect(check).toThrow('file: no such key: is not supported. Remove it');
  }
});

it('takes another name of a key that says the same', () => {
  const check = (content: object) => () =>
    checkKeys(MODEL_KEYS['config.json: distilbert'] as KeyTable, 'config.json', content);
  expect(check({ dim: 16, hidden_size: 16 })).not.toThrow();
  expect(check({ dim: 16, hidden_size: 8 })).toThrow(
    'config.json: hidden_size: expected the same as dim, received 8 and 16. Remove it',
  );
  expect(check({ hidden_size: 8 })).toThrow('received 8 and none');
});

it('quotes no more than the start of a value', () => {
  const check = () =>
    checkKeys(MODEL_KEYS['config.json: bert'] as KeyTable, 'config.json', {
      is_decoder: 'x'.repeat(10_000),
    });
  expect(check).toThrow(/^config\.json: is_decoder: expected false, received "x{199}…\. /);
});
