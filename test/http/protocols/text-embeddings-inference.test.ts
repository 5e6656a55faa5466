import { errors } from '../../../src/protocols/text-embeddings-inference/tei-protocol';
import { FULL_ACCESS } from '../../../src/serving/access';
import { ServiceError } from '../../../src/serving/errors';
import { Documented, near } from '../../helpers/documented';
import { type Answer, post, postRaw, request } from '../../helpers/http';
import { killAll, type Service, startService, textModel } from '../../helpers/service';

const MODEL = 'bert-single-label';
const MEBIBYTE = 1024 ** 2;
const PATH = '/predict';

type Labels = readonly { readonly label: string; readonly score: number }[];

let service: Service;
let unloaded: Service;
let holding: Service;
let shipped: Service;
let documented: Documented;

const ask = (body: unknown): Promise<Answer> => post(service, PATH, body);
const predict = async (inputs: unknown, more = {}): Promise<unknown> => {
  const { status, json } = await ask({ inputs, ...more });
  expect(status).toBe(200);
  return json;
};

beforeAll(async () => {
  const model = textModel(MODEL);
  const env = { MAX_QUEUE_REQUESTS: '1', MAX_QUEUE_DELAY_MS: '5000', REQUEST_TIMEOUT_MS: '1000' };
  service = await startService('sentiment', { env: { ...model, MAX_LIST_LENGTH: '8' } });
  unloaded = await startService('sentiment', { env: { SENTIMENT_MODEL_DIR: '/nonexistent/x' } });
  holding = await startService('sentiment', { env: { ...model, ...env } });
  shipped = await startService('sentiment');
  documented = await Documented.of(
    service,
    ({ tags, operationId }) =>
      tags[0] === 'text-embeddings-inference' && operationId !== 'teiInvocations',
  );
});

afterAll(killAll);

function expectRefused(answer: Answer, status: number, error: string, error_type: string): void {
  const { json } = answer;
  expect({ status: answer.status, json }).toEqual({ status, json: { error, error_type } });
}

it('answers one input with a list, a batch with a list of lists', async () => {
  const one = (await predict('A quiet, funny film.')) as Labels;
  expect(one.map(({ score }) => score)).toEqual(
    one.map(({ score }) => score).sort((a, b) => b - a),
  );
  expect(await predict(['A quiet, funny film.'])).toEqual(near(one));
  expect(await predict([['A quiet, funny film.']])).toEqual(near([one]));
  const pair = await predict(['A man plays.', 'Nobody plays.']);
  expect(await predict([['A man plays.', 'Nobody plays.'], ['A quiet, funny film.']])).toEqual(
    near([pair, one]),
  );
  const { json } = await post(service, '/', {
    inputs: { text: 'A man plays.', text_pair: 'Nobody plays.' },
  });
  expect(json).toEqual(near([pair]));
});

it('answers POST /invocations as POST /predict', async () => {
  const { json } = await post(service, '/invocations', { inputs: 'A quiet, funny film.' });
  expect(json).toEqual(await predict('A quiet, funny film.'));
});

it('gives the outputs of the model for raw_scores', async () => {
  const { json } = await post(service, '/', {
    inputs: 'good',
    parameters: { function_to_apply: 'none' },
  });
  expect([await predict('good', { raw_scores: true })]).toEqual(near(json));
});

describe('an input that is too long', () => {
  const long = `${'x '.repeat(200)}${'7 '.repeat(200)}`; // a token each

  it('is cut at the end that is asked for', async () => {
    const left = await predict(long, { truncation_direction: 'Left' });
    const right = await predict(long, { truncation_direction: 'right' });
    expect(left).toEqual(near(await predict('7 '.repeat(200))));
    expect(right).toEqual(near(await predict('x '.repeat(200))));
    expect(await predict(long)).toEqual(near(right));
    expect(await predict(long, { truncate: null })).toEqual(near(right));
  });

  it('is refused where it is not to be cut', async () => {
    const answer = documented.note('POST', PATH, await ask({ inputs: long, truncate: false }));
    expect(answer.status).toBe(422);
    const { max_input_length } = (await request(service, { path: '/info' })).json as {
      max_input_length: number;
    };
    const { error, error_type } = answer.json as Record<string, string>;
    expect(error_type).toBe('Validation');
    const given = ((await post(service, '/tokenize', { inputs: long })).json as object[][])[0];
    const problem = `must have less than ${max_input_length} tokens. Given: ${given?.length}`;
    expect(error).toBe(`Input validation error: \`inputs\` ${problem}`);
    const batch = await ask({ inputs: [['good'], [long]], truncate: false });
    expectRefused(batch, 422, `Input validation error: \`inputs[1]\` ${problem}`, 'Validation');
    const pair = await ask({ inputs: [long, 'good'], truncate: false });
    expect((pair.json as Record<string, string>).error).toContain(`${max_input_length} tokens`);
    expect(await predict('good', { truncate: false })).toEqual(near(await predict('good')));
  });
});

it.each([
  [
    { inputs: 5 },
    'inputs: expected a string, a pair of strings or a batch [[string], [string, string], ...]',
  ],
  [{}, 'inputs: is required'],
  [{ inputs: ['a', 'b', 'c'] }, 'inputs: expected one or two strings, found 3'],
  [{ inputs: ['a', 1] }, 'inputs[1]: expected a string'],
  [{ inputs: [['a'], 'b'] }, 'inputs[1]: expected an array of one or two strings'],
  [{ inputs: [['a'], ['b', null]] }, 'inputs[1][1]: expected a string'],
  [{ inputs: [['a'], []] }, 'inputs[1]: expected one or two strings, found 0'],
  [{ inputs: 'a', truncate: 'yes' }, 'truncate: expected true, false or null'],
  [{ inputs: 'a', truncation_direction: 'up' }, 'truncation_direction: expected "left" or "right"'],
  [{ inputs: 'a', raw_scores: 1 }, 'raw_scores: expected true or false'],
  [{ inputs: Array(9).fill(['a']) }, 'batch size 9 > maximum allowed batch size 8'],
])('refuses %j', async (body, error) => {
  expectRefused(await ask(body), 422, error, 'Validation');
});

it.each([
  ['', 'inputs'],
  [[], 'inputs'],
  [['a', ''], 'inputs'],
  [[['a'], ['']], 'inputs[1]'],
])('refuses the empty text of %j', async (inputs, place) => {
  const answer = documented.note('POST', PATH, await ask({ inputs }));
  expectRefused(answer, 400, `Input validation error: \`${place}\` cannot be empty`, 'Empty');
});

it('has the statuses that its clients know, and no other', async () => {
  const send = async (to: Service, body: string, headers = {}): Promise<Answer> =>
    documented.note('POST', PATH, await postRaw(to, PATH, body, { headers }));
  const body = JSON.stringify({ inputs: 'good' });
  expect((await send(service, body)).status).toBe(200);
  expect((await send(service, body.padEnd(MEBIBYTE + 1))).status).toBe(413);
  expect((await send(service, body, { 'content-type': 'text/plain' })).status).toBe(415);
  expectRefused(await send(unloaded, body), 503, 'Model is not loaded.', 'Unhealthy');
  const held = await Promise.all(Array.from({ length: 4 }, () => send(holding, body)));
  for (const { status, json } of held) {
    expect([status, json]).toEqual([429, expect.objectContaining({ error_type: 'Overloaded' })]);
  }
  expect(held.some(({ headers }) => Number(headers['retry-after']) >= 1)).toBe(true);
});

it('has no status that has not been seen', () => {
  documented.expectAllSeen(['POST /predict 424']); // no model at hand fails
});

it('has examples that are what the service answers', async () => {
  const operation = documented.operation('POST', PATH);
  const { json } = await post(
    shipped,
    PATH,
    operation.requestBody?.content['application/json']?.example,
  );
  expect(json).toEqual(near(operation.responses[200]?.content?.['application/json']?.example));
});

it('tells a failure of the model as one of the backend', () => {
  const failed = new ServiceError('INFERENCE_FAILED', 'It failed.');
  expect(errors.status('INFERENCE_FAILED')).toBe(424);
  expect(errors.body(failed, FULL_ACCESS)).toEqual({ error: 'It failed.', error_type: 'Backend' });
});

it('says in headers what it took', async () => {
  const { headers } = await ask({ inputs: 'x' });
  expect(headers['x-compute-type']).toBe('cpu');
  for (const name of ['total', 'compute', 'queue', 'tokenization', 'inference']) {
    expect(Number(headers[`x-${name}-time`])).toBeGreaterThanOrEqual(0);
  }
  expect(headers['x-compute-tokens']).toBe('3');
  const characters = async (inputs: unknown) =>
    (await ask({ inputs })).headers['x-compute-characters'];
  expect(await characters('x')).toBe('1');
  expect(await characters([['a 😀'], ['bc', 'd']])).toBe('6');
});

it('has its fields in GET /info, beside those of the service', async () => {
  const { json } = await request(service, { path: '/info' });
  const labels = (json as { model: { labels: string[] } }).model.labels;
  expect(json).toMatchObject({
    service: 'sentiment',
    model_id: MODEL,
    model_dtype: 'float32',
    model_type: {
      classifier: {
        id2label: Object.fromEntries(labels.map((label, index) => [index, label])),
        label2id: Object.fromEntries(labels.map((label, index) => [label, index])),
      },
    },
    max_input_length: (json as { model: { max_length: number } }).model.max_length,
    max_client_batch_size: 8,
    auto_truncate: true,
  });
  const without = (await request(unloaded, { path: '/info' })).json;
  expect(without).toMatchObject({ model_id: 'x', max_client_batch_size: 1024 });
  expect(without).not.toHaveProperty('model_type');
});
