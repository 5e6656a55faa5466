import { parseGuardFile } from '../../src/tasks/guard/guard-file';
import { sourcesOf } from '../../src/tasks/guard/moderations';

const CHECKS = [
  { type: 'patterns', name: 'data', action: 'flag', kinds: ['email'], patterns: { NUMBER: ['x'] } },
  {
    type: 'text-classification',
    name: 'tone',
    model: 'm',
    action: 'block',
    labels: { RUDE: 0.9 },
  },
  { type: 'token-classification', name: 'tags', model: 't', action: 'flag' },
];

const parse = (categories: object) =>
  parseGuardFile(JSON.stringify({ checks: CHECKS, moderations: { categories } })).moderations;

it('maps labels that checks find, in the order of the categories', () => {
  const hate = { check: 'tone', label: 'RUDE' };
  const illicit = [
    { check: 'data', label: 'EMAIL' },
    { check: 'data', label: 'NUMBER' },
    { check: 'tags', label: 'of any model' },
  ];
  expect(sourcesOf(parse({ illicit, hate }) as never)).toEqual([
    { ...hate, category: 'hate' },
    ...illicit.map((one) => ({ ...one, category: 'illicit' })),
  ]);
});

it('refuses what nothing finds', () => {
  const problem = (categories: object): string => {
    try {
      parse(categories);
    } catch (error) {
      return (error as Error).message;
    }
    return '';
  };
  const of = (check: string, label: string) => problem({ hate: { check, label } });
  const at = 'guard.json: moderations.categories.hate: ';
  expect(of('other', 'RUDE')).toBe(`${at}there is no check "other"`);
  expect(of('tone', 'KIND')).toBe(`${at}"tone" does not find "KIND". Labels: RUDE`);
  expect(of('data', 'CARD')).toBe(`${at}"data" does not find "CARD". Labels: EMAIL, NUMBER`);
  expect(problem({ cruelty: { check: 'tone', label: 'RUDE' } })).toContain('moderations');
  expect(problem({})).toContain('expected at least one category');
});
