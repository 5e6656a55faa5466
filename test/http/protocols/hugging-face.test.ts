import { Documented, near, type Operation } from '../../helpers/documented';
import { type GoldenText, readGolden } from '../../helpers/golden';
import { type Answer, post, postRaw, request } from '../../helpers/http';
import { killAll, type Service, startService, textModel } from '../../helpers/service';

const MODEL = 'bert-single-label';
const golden = readGolden(MODEL).texts;
const BY_NAME = `/models/${MODEL}`;
const MEBIBYTE = 1024 ** 2;

type Labels = readonly { readonly label: string; readonly score: number }[];

let service: Service;
/** Without a model. */
let unloaded: Service;
/** With a queue of one, and a deadline that passes in it. */
let holding: Service;
/** The shipped model. */
let shipped: Service;
let documented: Documented;

const ask = (body: unknown, path = '/'): Promise<Answer> => post(service, path, body);

beforeAll(async () => {
  const env = { MAX_QUEUE_REQUESTS: '1', MAX_QUEUE_DELAY_MS: '5000', REQUEST_TIMEOUT_MS: '1000' };
  service = await startService('sentiment', { env: { ...textModel(MODEL), MAX_LIST_LENGTH: '8' } });
  unloaded = await startService('sentiment', {
    env: { SENTIMENT_MODEL_DIR: `/nonexistent/${MODEL}` },
  });
  holding = await startService('sentiment', { env: { ...textModel(MODEL), ...env } });
  shipped = await startService('sentiment');
  documented = await Documented.of(service, ({ tags }) => tags[0] === 'Hugging Face Inference API');
});

afterAll(killAll);

function expectRefused(answer: Answer, status: number, error: string): void {
  expect({ status: answer.status, json: answer.json }).toEqual({ status, json: { error } });
}

describe.each(['/', BY_NAME])('POST %s', (path) => {
  it('answers with all labels in a list of lists, by falling score, as the pipeline does', async () => {
    const { text, label, score } = golden[1] as GoldenText;
    const answer = documented.note('POST', path, await ask({ inputs: text }, path));
    const [labels] = answer.json as readonly [Labels];
    expect(answer.json).toHaveLength(1);
    expect(labels[0]).toEqual({ label, score: expect.closeTo(score, 5) });
    const scores = labels.map((one) => one.score);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect(scores.reduce((sum, one) => sum + one, 0)).toBeCloseTo(1, 5);
  });

  it('has the statuses that are documented', async () => {
    const send = async (to: Service, body: string, headers = {}): Promise<number> =>
      documented.note('POST', path, await postRaw(to, path, body, { headers })).status;
    const body = JSON.stringify({ inputs: 'good' });
    expect(await send(service, body.padEnd(MEBIBYTE + 1))).toBe(413);
    expect(await send(service, body, { 'content-type': 'text/plain' })).toBe(415);
    expect(await send(service, '{}')).toBe(422);
    expect(await send(service, body, { 'x-request-timeout-ms': '0' })).toBe(400);
    expect(await send(unloaded, body)).toBe(500);
    const held = await Promise.all(Array.from({ length: 4 }, () => send(holding, body)));
    expect(new Set(held)).toEqual(new Set([503, 504]));
  });
});

it('has no status that has not been seen', () => {
  documented.expectAllSeen();
});

it('has examples that are what the service answers', async () => {
  const { document } = await Documented.of(shipped, () => true);
  for (const path of ['/', '/models/sst2-minilm']) {
    const operation = document.paths[path]?.post as Operation;
    const sent = operation.requestBody?.content['application/json']?.example;
    const { json } = await post(shipped, path, sent);
    expect(json).toEqual(near(operation.responses[200]?.content?.['application/json']?.example));
  }
});

it('answers lists in order, each text as alone', async () => {
  const texts = golden.slice(0, 6).map(({ text }) => text);
  const { json } = await ask({ inputs: texts });
  const alone = await Promise.all(texts.map((text) => ask({ inputs: text })));
  expect(json).toEqual(near(alone.map((one) => (one.json as readonly Labels[])[0])));
  expect((await ask({ inputs: [] })).json).toEqual([]);
  expect((await ask({ inputs: [{ text: 'good' }] })).json).toEqual(
    near((await ask({ inputs: { text: 'good' } })).json),
  );
});

it('reads pairs of texts', async () => {
  const pair = { text: 'A man plays.', text_pair: 'Nobody plays.' };
  const { json } = await ask({ inputs: pair });
  const turned = await ask({ inputs: { text: pair.text_pair, text_pair: pair.text } });
  const own = await post(service, '/analyze/batch', { texts: [pair] });
  const [{ label, score }] = (json as readonly [Labels])[0] as readonly [Labels[number]];
  expect(own.json).toMatchObject({ results: [{ label, score: expect.closeTo(score, 3) }] });
  expect(turned.json).not.toEqual(json);
  const alone = { text: pair.text, text_pair: null };
  expect((await ask({ inputs: alone })).json).toEqual(
    near((await ask({ inputs: pair.text })).json),
  );
});

it('takes any text, as a pipeline does', async () => {
  for (const inputs of ['', ' \n', '\u0000']) {
    expect((await ask({ inputs })).status).toBe(200);
  }
});

it('gives so many labels as are asked for, by the function that is asked for', async () => {
  const { json } = await ask({ inputs: 'good', parameters: { top_k: 1 } });
  expect(json).toEqual([[expect.anything()]]);
  expect(((await ask({ inputs: 'good', parameters: { top_k: 99 } })).json as Labels[])[0]).toEqual(
    near(((await ask({ inputs: 'good' })).json as Labels[])[0]),
  );
  const by = async (function_to_apply: string | null): Promise<Record<string, number>> => {
    const answer = await ask({ inputs: 'good', parameters: { function_to_apply } });
    const [labels] = answer.json as readonly [Labels];
    return Object.fromEntries(labels.map(({ label, score }) => [label, score]));
  };
  const logits = await by('none');
  const sum = Object.values(logits).reduce((all, logit) => all + Math.exp(logit), 0);
  for (const [label, logit] of Object.entries(logits)) {
    expect((await by('softmax'))[label]).toBeCloseTo(Math.exp(logit) / sum, 5);
    expect((await by('sigmoid'))[label]).toBeCloseTo(1 / (1 + Math.exp(-logit)), 5);
  }
  expect(await by(null)).toEqual(await by('softmax'));
});

it.each([
  [{ inputs: 5 }, 'inputs: expected a string, or an object with "text" and "text_pair"'],
  [{}, 'inputs: is required'],
  [{ inputs: {} }, 'inputs.text: is required'],
  [{ inputs: { text: 'a', text_pair: 1 } }, 'inputs.text_pair: expected a string'],
  [{ inputs: ['a', 1] }, 'inputs[1]: expected a string, or an object with "text" and "text_pair"'],
  [{ inputs: ['a', { text: null }] }, 'inputs[1].text: expected a string'],
  [{ inputs: 'a', parameters: { top_k: 0 } }, 'parameters.top_k: expected at least 1'],
  [{ inputs: 'a', parameters: { top_k: 1.5 } }, 'parameters.top_k: expected a whole number'],
  [
    { inputs: 'a', parameters: { function_to_apply: 'relu' } },
    'parameters.function_to_apply: expected "softmax", "sigmoid" or "none"',
  ],
])('refuses %j', async (body, error) => {
  expectRefused(await ask(body), 422, error);
});

it('tells all its errors in the form of the protocol', async () => {
  expectRefused(
    await ask({ inputs: Array(9).fill('a') }),
    413,
    'inputs: 9 elements exceed the limit of 8.',
  );
  const unknown = await ask({ inputs: 'a' }, '/models/other/model');
  expectRefused(unknown, 404, `Model not found. The server has ${BY_NAME}.`);
  const get = await request(service, { path: BY_NAME });
  expectRefused(get, 405, 'This path accepts POST only.');
  expectRefused(await post(unloaded, '/', { inputs: 'a' }), 500, 'Model is not loaded.');
});

it('leaves GET / to the page', async () => {
  const page = await request(service, { path: '/' });
  expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
});
