/** Keys that are limited, and a guard over models that they are not for. */
import { Folder } from '../../helpers/files';
import { guardDirectory, TONE } from '../../helpers/guard-directory';
import { type Answer, post, request } from '../../helpers/http';
import { removeDirectories } from '../../helpers/models-directory';
import type { Service } from '../../helpers/service';

const GUARDING = 'the-key-for-the-guard';
const OTHERS = 'the-key-for-other-models';
const SENTIMENT = 'the-key-for-the-sentiment';
const NOT_THIS_MODEL = 'The scope of the API key does not include this model.';
const RUDE = 'awful, a terrible waste of time';

const folder = new Folder();
let service: Service;

beforeAll(async () => {
  const lines = [`${GUARDING} guard`, `${OTHERS} models=films`, `${SENTIMENT} models=sentiment`];
  const file = {
    checks: [
      { ...TONE, on: 'input' },
      { type: 'patterns', name: 'data', action: 'flag', kinds: ['ip'] },
    ],
    moderations: { categories: { hate: { check: 'tone', label: 'NEGATIVE' } } },
  };
  const API_KEYS_FILE = folder.put('keys', lines.join('\n'));
  service = await guardDirectory(file).start({ env: { API_KEYS_FILE } });
});

afterAll(async () => {
  await removeDirectories();
  folder.remove();
});

const ask = (key: string, route: string, body: object): Promise<Answer> =>
  post(service, route, body, { headers: { authorization: `Bearer ${key}` } });

const ROUTES = [
  ['/guard', { text: RUDE }, { detail: NOT_THIS_MODEL }],
  [
    '/beta/litellm_basic_guardrail_api',
    { input_type: 'request', texts: [RUDE] },
    { detail: NOT_THIS_MODEL },
  ],
  ['/api/v1/text/contents', { contents: [RUDE] }, { code: 403, message: NOT_THIS_MODEL }],
  ['/v1/moderations', { input: RUDE }, { error: { message: NOT_THIS_MODEL } }],
] as const;

it.each(ROUTES)('%s answers a key for the guard, or for all of its models', async (...row) => {
  const [route, body, refusal] = row;
  for (const key of [GUARDING, SENTIMENT]) {
    const { status, text } = await ask(key, route, body);
    expect(status).toBe(200);
    expect(text).toMatch(/NEGATIVE|"hate":true/);
  }
  const { status, json } = await ask(OTHERS, route, body);
  expect(status).toBe(403);
  expect(json).toMatchObject(refusal);
});

it('answers any key where no model is asked', async () => {
  expect((await ask(OTHERS, '/guard', { text: RUDE, direction: 'output' })).status).toBe(200);
});

it('is all that a key for the guard is for', async () => {
  const refused = await ask(GUARDING, '/models/sentiment/analyze', { text: RUDE });
  expect({ status: refused.status, json: refused.json }).toEqual({
    status: 403,
    json: { detail: NOT_THIS_MODEL },
  });
  const headers = { authorization: `Bearer ${GUARDING}` };
  const { json } = await request(service, { path: '/info', headers });
  expect(json).toMatchObject({ models: [] });
});
