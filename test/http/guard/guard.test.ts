/** POST /guard over the shipped model and patterns: what is found, what is done about it, and what cannot run. */
import path from 'node:path';
import { type Answer, post, request } from '../../helpers/http';
import { newDirectory, removeDirectories } from '../../helpers/models-directory';
import { ROOT, type Service } from '../../helpers/service';

const EMAIL = 'ann.lee@example.org';
const IBAN = 'DE89 3704 0044 0532 0130 00';
const RUDE = 'awful, a terrible waste of time';

let service: Service;
const ask = (body: object): Promise<Answer> => post(service, '/guard', body);

beforeAll(async () => {
  const directory = newDirectory();
  for (const name of [
    'config.json',
    'model.safetensors',
    'tokenizer.json',
    'tokenizer_config.json',
  ])
    directory.file(`sentiment/${name}`, path.join(ROOT, 'models/sentiment', name));
  const tone = { type: 'text-classification', labels: { NEGATIVE: 0.9 } };
  const checks = [
    { type: 'patterns', name: 'data', action: 'redact', kinds: ['email', 'card', 'iban'] },
    { ...tone, name: 'tone', model: 'sentiment', action: 'block', on: 'input' },
    { ...tone, name: 'gone', model: 'nobody', action: 'flag', on_error: 'allow', on: 'input' },
    { ...tone, name: 'strict', model: 'nobody', action: 'flag', on: 'output' },
  ];
  directory.write('guard.json', JSON.stringify({ checks }));
  service = await directory.start();
});

afterAll(removeDirectories);

it('redacts exactly what patterns find, and gives it back by a map', async () => {
  const text = `\u{1f600}${EMAIL}, again ${EMAIL}; ${IBAN}.`;
  const { status, json } = await ask({ text, map: true });
  expect(status).toBe(200);
  expect(json).toMatchObject({
    action: 'redact',
    texts: ['\u{1f600}<EMAIL_1>, again <EMAIL_1>; <IBAN_1>.'],
    map: { '<EMAIL_1>': EMAIL, '<IBAN_1>': IBAN },
    findings: [
      { check: 'data', label: 'EMAIL', score: 1, part: 0, start: 2, end: 21, variant: 'text' },
      { label: 'EMAIL' },
      { label: 'IBAN' },
    ],
  });
  expect((await ask({ text })).json).not.toHaveProperty('map');
});

it('blocks what a model finds from its threshold on', async () => {
  const { json } = await ask({ texts: ['Hello.', RUDE] });
  expect(json).toMatchObject({ action: 'block', texts: ['Hello.', RUDE] });
  const { findings } = json as { findings: readonly { part: number; label: string }[] };
  expect(findings).toContainEqual(
    expect.objectContaining({ check: 'tone', label: 'NEGATIVE', part: 1, start: null, end: null }),
  );
  expect((await ask({ text: 'A warm, funny film.' })).json).toMatchObject({ action: 'allow' });
});

it('lets on_error decide where a model is not there', async () => {
  const reason = expect.stringContaining('model: no loaded model "nobody"');
  expect((await ask({ text: 'A warm, funny film.' })).json).toMatchObject({
    action: 'allow',
    errors: [{ check: 'gone', reason, action: 'allow' }],
  });
  expect((await ask({ text: RUDE, direction: 'output' })).json).toMatchObject({
    action: 'block',
    findings: [],
    errors: [{ check: 'strict', reason, action: 'block' }],
  });
});

it('names the field at fault', async () => {
  const detailOf = async (body: object) => (await ask(body)).json;
  expect(await detailOf({})).toEqual({ detail: 'text: is required' });
  expect(await detailOf({ text: 'a', texts: [] })).toEqual({
    detail: 'text, texts: send one, not both',
  });
  expect(await detailOf({ texts: ['a', 1] })).toEqual({ detail: 'texts[1]: expected a string' });
  expect(await detailOf({ text: 'a', direction: 'up' })).toEqual({
    detail: 'direction: expected "input" or "output"',
  });
});

it('publishes the schema of its file', async () => {
  const { json } = await request(service, { path: '/guard/schema' });
  expect(json).toMatchObject({ type: 'object', required: ['checks'] });
});
