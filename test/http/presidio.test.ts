/** Presidio's API in a directory of models: patterns, and the entities of a GLiNER model. */
import { post, request } from '../helpers/http';
import { newDirectory, removeDirectories } from '../helpers/models-directory';
import type { Service } from '../helpers/service';

interface Result {
  readonly entity_type: string;
  readonly start: number;
  readonly end: number;
  readonly score: number;
  readonly analysis_explanation: Readonly<Record<string, unknown>> | null;
}

const TEXT = '😀 Mail ann@example.org or pay with 4012888888881881.';
const MODEL_ENTITIES = ['PERSON', 'LOCATION', 'NRP', 'DATE_TIME'];
const PATTERNS = ['EMAIL_ADDRESS', 'CREDIT_CARD'];

let service: Service;
const analyze = (body: object) => post(service, '/presidio/analyze', { language: 'en', ...body });
const found = async (body: object) => (await analyze(body)).json as readonly Result[];
const get = (path: string) => request(service, { path: `/presidio${path}` });

beforeAll(async () => {
  const directory = newDirectory();
  directory.text('finder', '../gliner/bert-marker-v1');
  service = await directory.start({ env: { MAX_LIST_LENGTH: '4' } });
});

afterAll(removeDirectories);

it('finds patterns, with offsets in code points', async () => {
  const results = await found({ text: TEXT, entities: PATTERNS });
  expect(results).toEqual([
    { entity_type: 'EMAIL_ADDRESS', start: 7, end: 22, score: 1, analysis_explanation: null },
    { entity_type: 'CREDIT_CARD', start: 35, end: 51, score: 1, analysis_explanation: null },
  ]);
  const lists = await found({ text: [TEXT, 'nothing'], entities: PATTERNS });
  expect(lists).toEqual([results, []]);
});

it('explains results, and filters them', async () => {
  const [email] = await found({ text: TEXT, entities: PATTERNS, return_decision_process: true });
  expect(email?.analysis_explanation).toMatchObject({
    recognizer: 'EmailRecognizer',
    original_score: 0.5,
    score: 1,
    validation_result: true,
  });
  const allowed = { allow_list: ['ann@example.org'], entities: PATTERNS };
  expect(await found({ text: TEXT, ...allowed })).toHaveLength(1);
  const byRegex = { allow_list: ['^ANN@', '^4012'], allow_list_match: 'regex', entities: PATTERNS };
  expect(await found({ text: TEXT, ...byRegex })).toEqual([]);
  const bank = { text: '12345678', entities: ['US_BANK_NUMBER'] };
  expect(await found(bank)).toHaveLength(1);
  expect(await found({ ...bank, score_threshold: 0.1 })).toEqual([]);
});

it('finds entities with the model of the server, and with recognizers of the request', async () => {
  const text = 'Ada Lovelace met Charles Babbage in London on 5 June 1833.';
  const results = await found({ text, entities: MODEL_ENTITIES });
  expect(results.length).toBeGreaterThan(0);
  for (const { entity_type, score } of results) {
    expect(MODEL_ENTITIES).toContain(entity_type);
    expect(score).toBeGreaterThan(0.5);
  }
  const recognizer = {
    name: 'Zip code Recognizer',
    supported_language: 'en',
    supported_entity: 'ZIP',
    patterns: [{ name: 'zip', regex: '(?<!\\d)\\d{5}(?!\\d)', score: 0.01 }],
    deny_list: ['Titan (ship)'],
    context: ['zip'],
  };
  const own = { ad_hoc_recognizers: [recognizer], entities: ['ZIP'] };
  const answers = await found({ text: 'zip 12345, 123456, titan (SHIP)!', ...own });
  expect(answers.map(({ start, end, score }) => [start, end, score])).toEqual([
    [19, 31, 1],
    [4, 9, 0.4],
  ]);
});

it.each([
  [{ text: '' }, 400, /^text: No text provided/],
  [{ text: ['a', ''] }, 400, /^text\[1\]: No text provided/],
  [{ text: 'x'.repeat(100_001) }, 413, /^text: expected at most 100000 characters/],
  [{ text: ['a', 'b', 'c', 'd', 'e'] }, 413, /^text: 5 elements exceed/],
  [{ text: 'a', language: 'de' }, 400, /^language: No matching recognizers/],
  [{ text: 1 }, 422, /^text: expected a string or an array of strings/],
  [{ text: 'a', score_threshold: 2 }, 422, /^score_threshold/],
  [
    {
      text: 'a',
      ad_hoc_recognizers: [
        { supported_entity: 'X', patterns: [{ name: 'p', regex: '(', score: 1 }] },
      ],
    },
    400,
    /^ad_hoc_recognizers: a pattern of PatternRecognizer is invalid/,
  ],
  [{ text: '12345678', allow_list: ['('], allow_list_match: 'regex' }, 400, /^allow_list:/],
])('rejects %j', async (body, status, message) => {
  const answer = await analyze(body);
  expect(answer.status).toBe(status);
  expect((answer.json as { readonly error: string }).error).toMatch(message);
});

it('anonymizes what it has found, and restores what is encrypted', async () => {
  const analyzer_results = await found({ text: TEXT, entities: PATTERNS });
  const plain = await post(service, '/presidio/anonymize', { text: TEXT, analyzer_results });
  expect((plain.json as { text: string }).text).toBe(
    '😀 Mail <EMAIL_ADDRESS> or pay with <CREDIT_CARD>.',
  );
  const key = 'WmZq4t7w!z%C&F)J';
  const encrypted = await post(service, '/presidio/anonymize', {
    text: TEXT,
    analyzer_results,
    anonymizers: { DEFAULT: { type: 'encrypt', key } },
  });
  const { text, items } = encrypted.json as { text: string; items: readonly object[] };
  const restored = await post(service, '/presidio/deanonymize', {
    text,
    anonymizer_results: items,
    deanonymizers: { DEFAULT: { type: 'decrypt', key } },
  });
  expect((restored.json as { text: string }).text).toBe(TEXT);
});

it.each([
  [
    { analyzer_results: [{ start: 0, end: 99, entity_type: 'X' }] },
    400,
    /^analyzer_results\[0\]: Invalid/,
  ],
  [
    { analyzer_results: [{ start: 3, end: 1, entity_type: 'X' }] },
    400,
    /^analyzer_results\[0\]: Invalid/,
  ],
  [
    { analyzer_results: [{ start: -1, end: 1, entity_type: 'X' }] },
    422,
    /^analyzer_results\[0\].start/,
  ],
  [{ analyzer_results: 'x' }, 422, /^analyzer_results: expected an array/],
  [{ analyzer_results: [], anonymizers: { X: {} } }, 422, /^anonymizers.X.type/],
  [
    {
      analyzer_results: [{ start: 0, end: 1, entity_type: 'X' }],
      anonymizers: { X: { type: 'custom' } },
    },
    422,
    /Invalid operator class 'custom'/,
  ],
])('rejects %j', async (body, status, message) => {
  const answer = await post(service, '/presidio/anonymize', { text: 'A text.', ...body });
  expect(answer.status).toBe(status);
  expect((answer.json as { readonly error: string }).error).toMatch(message);
});

it('lists recognizers, entities and operators', async () => {
  const lists = [
    '/recognizers?language=en',
    '/supportedentities',
    '/anonymizers',
    '/deanonymizers',
  ];
  const [recognizers, entities, anonymizers, deanonymizers] = await Promise.all(
    lists.map(async (path) => (await get(path)).json as readonly string[]),
  );
  expect(recognizers).toEqual(expect.arrayContaining(['CreditCardRecognizer', 'SpacyRecognizer']));
  expect(entities).toEqual(expect.arrayContaining(['CREDIT_CARD', 'PERSON', 'PHONE_NUMBER']));
  expect(anonymizers).toEqual(['hash', 'mask', 'redact', 'replace', 'keep', 'encrypt']);
  expect(deanonymizers).toEqual(['decrypt', 'deanonymize_keep']);
  const health = await get('/health');
  expect([health.status, health.text]).toEqual([200, 'Presidio Analyzer service is up']);
  expect((await get('/supportedentities?language=de')).status).toBe(400);
});
