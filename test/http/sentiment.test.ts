import { roundToFourDecimals } from '../../src/lib/numbers';
import { type GoldenText, readGolden } from '../helpers/golden';
import { analyze, postRaw } from '../helpers/http';
import { killAll, type Service, startService, textModel } from '../helpers/service';
import { expectError } from '../helpers/services';

const MODEL = 'bert-single-label';
const golden = readGolden(MODEL).texts;

let service: Service;
const ask = (text: unknown) => analyze(service, text);

beforeAll(async () => {
  service = await startService('sentiment', { env: textModel(MODEL) });
});

afterAll(killAll);

it('answers with the text, its label and a score of 4 decimals', async () => {
  const { status, json, text } = await ask('Good.');
  expect(status).toBe(200);
  const [{ label, score }] = golden.filter(({ text }) => text === 'Good.') as [GoldenText];
  expect(json).toEqual({ input_text: 'Good.', label, score: roundToFourDecimals(score) });
  expect(text).toBe(
    `{"input_text":"Good.","label":${JSON.stringify(label)},"score":${roundToFourDecimals(score)}}`,
  );
});

it.each([
  ['5', 'text: expected a string'],
  ['null', 'text: expected a string'],
  ['true', 'text: expected a string'],
  ['["a"]', 'text: expected a string'],
  ['{}', 'text: expected a string'],
])('refuses the text %s', async (value, detail) => {
  expectError(await postRaw(service, '/analyze', `{"text":${value}}`), 422, detail);
});

it.each([
  '',
  ' ',
  '\t\r\n\v\f',
  '\u001c\u001d\u001e\u001f',
  '\u0085\u00a0',
  '\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000',
])('takes %j for empty, as Python does', async (text) => {
  expectError(await ask(text), 400, 'Text payload cannot be empty.');
});

it.each([
  ['a byte order mark', '\ufeff'],
  ['a zero-width space', '\u200b'],
  ['NUL', 'a\u0000b'],
  ['NUL alone', '\u0000'],
  ['combining marks', 'e\u0301 \u00e9 Z\u0351\u036b'],
  ['white space at both ends', '  good \n'],
  ['quotes and backslashes', '"\\/\b\f\n\r\t</script>'],
  ['emoji', '\u{1f468}\u200d\u{1f469}\u200d\u{1f467} \u{1f1e6}\u{1f1f9}'],
  ['right to left', '\u05d8\u05d5\u05d1 \u200f \u0637\u064a\u0628'],
  ['the last code point', '\u{10ffff}\ufffe\uffff'],
])('gives back %s as it was sent', async (_name, text) => {
  const { status, json } = await ask(text);
  expect(status).toBe(200);
  expect((json as { input_text: string }).input_text).toBe(text);
});

it.each(['\\ud800', '\\udc00', 'a\\ud83d b', '\\udc00\\ud800'])(
  'gives back the lone surrogate %s, which the model sees as U+FFFD',
  async (escaped) => {
    const { status, json } = await postRaw(service, '/analyze', `{"text":"good ${escaped}"}`);
    expect(status).toBe(200);
    const { input_text, ...answer } = json as { input_text: string };
    expect(input_text).toBe(JSON.parse(`"good ${escaped}"`));
    const replaced = await ask(input_text.replace(/\p{Surrogate}/gu, '\ufffd'));
    expect(replaced.json).toMatchObject(answer);
  },
);

describe('a text longer than the model takes', () => {
  it('is cut, and the answer says so', async () => {
    const text = 'good film '.repeat(200);
    const { status, json, headers } = await ask(text);
    expect(status).toBe(200);
    expect((json as { input_text: string }).input_text).toBe(text);
    expect(headers['x-input-truncated']).toBe('true');
  });

  it('is answered as its beginning', async () => {
    const start = 'good film '.repeat(60);
    const [short, long] = await Promise.all([ask(start), ask(`${start}${'bad '.repeat(500)}`)]);
    const { input_text: _, ...answer } = short.json as { input_text: string };
    expect(long.json).toMatchObject(answer);
  });

  it('is told apart from one that fits', async () => {
    expect((await ask('good film')).headers).not.toHaveProperty('x-input-truncated');
  });
});

it('takes a text of a megabyte', async () => {
  const text = 'good '.repeat(200_000);
  const { status, headers } = await ask(text);
  expect([status, headers['x-input-truncated']]).toEqual([200, 'true']);
});
