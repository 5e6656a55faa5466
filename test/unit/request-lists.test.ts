import { z } from 'zod';
import { parseBody } from '../../src/protocols/route';
import {
  boundedArray,
  describeFirstIssue,
  findUnbounded,
  listOf,
  MAX_NAMES,
  MAX_REPEATED,
  nameList,
  object,
  repeatedString,
} from '../../src/protocols/validation/fields';

/** Schemas of zod's own that report every element of what is sent. */
const UNBOUNDED: readonly (readonly [string, z.ZodType])[] = [
  ['array', z.array(z.string())],
  ['array', z.array(z.string()).max(10)],
  ['array', z.array(z.object({ a: z.int() })).nullish()],
  ['array', z.union([z.string(), z.array(z.string())])],
  ['array', z.object({ deep: z.object({ list: z.array(z.int()) }).optional() })],
  ['array', z.preprocess((value) => value, z.array(z.int()))],
  ['lazy', z.lazy(() => z.array(z.int()))],
  ['array', z.intersection(z.object({}), z.object({ list: z.array(z.int()) }))],
  ['array', z.discriminatedUnion('a', [z.object({ a: z.literal(1), b: z.array(z.int()) })])],
  ['array', z.array(z.int()).default([]).readonly().catch([])],
  ['array', z.object({}).catchall(z.array(z.int()))],
  ['record', z.record(z.string(), z.int()).optional()],
  ['map', z.map(z.string(), z.int())],
  ['set', z.set(z.int())],
  ['tuple', z.tuple([z.int()]).rest(z.int())],
];

describe('the schema of a body', () => {
  it.each(UNBOUNDED)('has no %s of zod (%#)', (kind, schema) => {
    expect(findUnbounded(schema)).toBe(kind);
    expect(() => object({ field: schema })).toThrow(`field: z.${kind} reports every element`);
    expect(() => parseBody(schema, { body: [] })).toThrow(`z.${kind} reports every element`);
  });

  it('may have lists that say the first thing that is wrong', () => {
    const few = boundedArray(z.int(), (value) =>
      Array.isArray(value) && value.length <= 3 ? null : { message: 'too many', path: [] },
    );
    const schema = object({ few, names: nameList('names'), any: listOf('any', () => null) });
    expect(findUnbounded(schema)).toBeNull();
    const issues = (body: object) => schema.safeParse(body).error?.issues.length;
    expect(issues({ few: [1], names: ['a'], any: [] })).toBeUndefined();
    expect(issues({ few: Array(200_000).fill(null), names: ['a'], any: [] })).toBe(1);
    expect(issues({ few: [], names: Array(200_000).fill(null), any: [] })).toBe(1);
  });
});

describe('what a response repeats', () => {
  const schema = object({ names: nameList('names').optional(), id: repeatedString().optional() });
  const problem = (body: object): string => {
    const { error } = schema.safeParse(body);
    return error ? describeFirstIssue(error) : '';
  };
  const long = 'x'.repeat(MAX_REPEATED + 1);

  it.each([
    [{ names: Array(MAX_NAMES).fill('a') }, ''],
    [
      { names: Array(MAX_NAMES + 1).fill('a') },
      'names: expected at most 1024 elements, found 1025',
    ],
    [{ names: ['a', null] }, 'names[1]: expected a string'],
    [{ names: ['a', long] }, 'names[1]: expected at most 1024 characters, found 1025'],
    [{ names: 'a' }, 'names: expected names'],
    [{ id: long.slice(1) }, ''],
    [{ id: long }, 'id: expected at most 1024 characters, found 1025'],
  ])('%# has a limit', (body, expected) => {
    expect(problem(body)).toBe(expected);
  });
});
