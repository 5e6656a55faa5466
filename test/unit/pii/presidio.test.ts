import { codePointCounter } from '../../../src/lib/code-points';
import { PiiAnalyzer } from '../../../src/tasks/pii/analyze';
import { replaceSpans, resolveConflicts } from '../../../src/tasks/pii/anonymize';
import { ANONYMIZERS, DEANONYMIZERS } from '../../../src/tasks/pii/operators';
import type { PiiResult } from '../../../src/tasks/pii/results';
import { readFixture } from '../../helpers/golden';

interface Golden {
  readonly sentence: string;
  readonly analyzed: readonly (readonly [
    text: string,
    results: readonly (readonly [entity: string, start: number, end: number, score: number])[],
  ])[];
  readonly anonymized: readonly {
    readonly spans: readonly (readonly [number, number, string, number])[];
    readonly operators: Readonly<Record<string, { readonly type: string }>>;
    readonly text: string;
    readonly items: readonly (readonly [number, number, string, string, string])[];
  }[];
}

const golden = readFixture<Golden>('presidio.json');
const OPTIONS = { entities: null, adHoc: [], context: [], threshold: 0 };

let analyzer: PiiAnalyzer;
beforeAll(async () => {
  analyzer = await PiiAnalyzer.create();
});

/** Without the effect of context words, which the golden results lack. */
const plain = ({ entity, start, end, explanation }: PiiResult, text: string) => {
  const toCodePoint = codePointCounter(text);
  const score = explanation.validation_result ? 1 : explanation.original_score;
  return [entity, toCodePoint(start), toCodePoint(end), Number(score.toFixed(6))].join(' ');
};

it('finds what the recognizers of Presidio find', async () => {
  const wrong: object[] = [];
  const wrongPhones: string[] = [];
  for (const [text, expected] of golden.analyzed) {
    const results = await analyzer.analyze(text, [], OPTIONS);
    const found = results.map((result) => plain(result, text)).sort();
    const wanted = expected.map((result) => result.join(' ')).sort();
    const differences = [
      ...wanted.filter((one) => !found.includes(one)).map((one) => `missing ${one}`),
      ...found.filter((one) => !wanted.includes(one)).map((one) => `added ${one}`),
    ];
    const isPhone = (one: string) => one.includes('PHONE_NUMBER');
    const others = differences.filter((one) => !isPhone(one));
    if (others.length > 0) wrong.push({ text, others });
    if (differences.some(isPhone)) wrongPhones.push(text);
  }
  expect(wrong).toEqual([]);
  // libphonenumber-js and phonenumbers divide some runs of digits and dates differently.
  expect(wrongPhones.length).toBeLessThanOrEqual(6);
  expect(golden.analyzed.length).toBeGreaterThan(280);
});

it.each([
  ['My credit card is 4012888888881882x and 12345678', 'US_BANK_NUMBER', 0.05],
  ['Deposit into my bank account 12345678', 'US_BANK_NUMBER', 0.4],
  ['My passports: 912803456', 'US_PASSPORT', 0.4],
  ['The NHS gave me 401-023-2137', 'UK_NHS', 1],
  ['ip 10.0.0.1', 'IP_ADDRESS', 0.95],
])('raises scores by context words: %s', async (text, entity, score) => {
  const results = await analyzer.analyze(text, [], OPTIONS);
  expect(results.find((result) => result.entity === entity)?.score).toBeCloseTo(score, 6);
});

it('takes context words of a request, and a threshold', async () => {
  const text = 'It is 12345678';
  const options = {
    ...OPTIONS,
    context: ['Account'],
    threshold: 0.3,
    entities: ['US_BANK_NUMBER'],
  };
  const results = await analyzer.analyze(text, [], options);
  expect(results.map(({ entity, score }) => [entity, score])).toEqual([['US_BANK_NUMBER', 0.4]]);
  expect(results[0]?.explanation.supportive_context_word).toBe('account');
  expect(await analyzer.analyze(text, [], { ...options, context: [] })).toEqual([]);
});

it('ends the search of a pattern that backtracks, and keeps the other results', async () => {
  const evil = { name: 'e', regex: '(?=(a+)+$)(a+)+b', score: 0.5 };
  const good = { name: 'g', regex: 'zip \\d{5}(?!\\d)', score: 0.4 };
  const adHoc = [{ name: 'own', entity: 'ZIP', patterns: [evil, good], context: [] }];
  const text = `${'a'.repeat(5000)}! zip 12345`;
  const begun = performance.now();
  const results = await analyzer.analyze(text, [], { ...OPTIONS, adHoc, entities: ['ZIP'] });
  expect(results.map(({ start, end }) => text.slice(start, end))).toEqual(['zip 12345']);
  expect(performance.now() - begun).toBeLessThan(30_000);
});

it.each(golden.anonymized)('anonymizes as Presidio: %j', ({ spans, operators, text, items }) => {
  const { sentence } = golden;
  const resolved = resolveConflicts(
    sentence,
    spans.map(([start, end, entity, score]) => ({ start, end, entity, score })),
  );
  const options = { operators, table: ANONYMIZERS, fallback: 'replace' };
  const result = replaceSpans(sentence, resolved, options);
  expect(result.text).toBe(text);
  expect(
    result.items.map(({ start, end, entity, text, operator }) => [
      start,
      end,
      entity,
      text,
      operator,
    ]),
  ).toEqual(items);
});

describe('operators', () => {
  const spans = [{ start: 0, end: 12, entity: 'PERSON', score: 1 }];
  const { sentence } = golden;
  const run = (operators: object, table: typeof ANONYMIZERS = ANONYMIZERS) =>
    replaceSpans(sentence, spans, { operators: operators as never, table, fallback: 'replace' });

  it('encrypt so that decrypt restores the text', () => {
    const key = 'WmZq4t7w!z%C&F)J';
    const { text, items } = run({ DEFAULT: { type: 'encrypt', key } });
    expect(text).not.toContain('Ada');
    const [item] = items;
    const restored = replaceSpans(text, [{ ...item, score: null } as never], {
      operators: { DEFAULT: { type: 'decrypt', key } },
      table: DEANONYMIZERS,
      fallback: 'deanonymize_keep',
    });
    expect(restored.text).toBe(sentence);
  });

  it.each([
    [{ type: 'mask', masking_char: '**', chars_to_mask: 1, from_end: true }, /must be a character/],
    [{ type: 'mask', masking_char: '*', from_end: true }, /Expected parameter chars_to_mask/],
    [{ type: 'hash', salt: 'short' }, /Salt must be at least 16 bytes/],
    [{ type: 'hash', hash_type: 'md5' }, /hash_type/],
    [{ type: 'encrypt', key: 'short' }, /128, 192 or 256 bits/],
    [{ type: 'replace', new_value: 1 }, /new_value/],
    [{ type: 'constructor' }, /Invalid operator class 'constructor'/],
    [{ type: 'custom' }, /Invalid operator class 'custom'/],
  ])('reject %j', (operator, message) => {
    expect(() => run({ DEFAULT: operator })).toThrow(message);
  });

  it('limit the length of the result, and the work', () => {
    const many = Array.from({ length: 1000 }, (_, i) => ({
      start: i,
      end: i + 1,
      entity: 'X',
      score: 1,
    }));
    const text = 'x'.repeat(1000);
    const value = 'y'.repeat(10_000);
    const options = { table: ANONYMIZERS, fallback: 'replace' };
    const operators = { X: { type: 'replace', new_value: value } };
    expect(() => replaceSpans(text, many, { ...options, operators })).toThrow(
      /new text would have/,
    );
    const long = Array.from({ length: 50 }, (_, i) => ({
      start: 0,
      end: 1e5,
      entity: `${i}`,
      score: 1,
    }));
    expect(() => replaceSpans('x'.repeat(1e5), long, { ...options, operators: {} })).toThrow(
      /in total/,
    );
  });
});
