import { roundToFourDecimals } from '../../../src/lib/numbers';
import { Documented, near } from '../../helpers/documented';
import { readFixture } from '../../helpers/golden';
import { type Answer, post, postRaw, request } from '../../helpers/http';
import { modelWith } from '../../helpers/model-folder';
import { ModelsDirectory } from '../../helpers/models-directory';
import { killAll, type Service } from '../../helpers/service';

const MEBIBYTE = 1024 ** 2;
const PATH = '/zero-shot';

interface Golden {
  readonly model: string;
  readonly config: object;
  readonly answers: readonly {
    readonly sequence: string;
    readonly candidate_labels: readonly string[];
    readonly labels: readonly string[];
    readonly scores: readonly number[];
  }[];
}

const { cases } = readFixture<{ readonly cases: readonly Golden[] }>('zero-shot.json');
const [golden] = cases as [Golden];
const [{ sequence, candidate_labels, labels, scores }] = golden.answers as [
  Golden['answers'][number],
];
const ranked = labels.map((label, index) => ({ label, score: scores[index] }));

const models = new ModelsDirectory();
let service: Service;
let holding: Service;
let documented: Documented;

beforeAll(async () => {
  modelWith(models.folder, golden.model, { 'config.json': golden.config }, 'nli');
  service = await models.start({ env: { MAX_LIST_LENGTH: '8' } });
  const env = { MAX_QUEUE_REQUESTS: '1', MAX_QUEUE_DELAY_MS: '5000', REQUEST_TIMEOUT_MS: '1000' };
  holding = await models.start({ env });
  documented = await Documented.of(service, ({ operationId }) => operationId === 'zeroShot');
});

afterAll(async () => {
  await killAll();
  models.folder.remove();
});

const ask = async (body: unknown): Promise<Answer> =>
  documented.note('POST', PATH, await post(service, PATH, body));

it('answers by the labels of the request, four decimals', async () => {
  const { json } = await ask({ text: sequence, candidate_labels });
  expect(json).toEqual(near({ input_text: sequence, labels, scores }));
  const given = (json as { scores: number[] }).scores;
  expect(given).toEqual(given.map(roundToFourDecimals));
  const listed = await ask({ text: sequence, candidate_labels: candidate_labels.join(' , ') });
  expect(listed.json).toEqual(json);
});

it('still classifies, under one task', async () => {
  const { json } = await request(service, { path: '/info' });
  expect(json).toMatchObject({ models: [{ name: 'nli', task: 'zero-shot-classification' }] });
  const { status, json: analyzed } = await post(service, '/analyze', { text: sequence });
  expect(status).toBe(200);
  expect(['contradiction', 'neutral', 'entailment']).toContain(
    (analyzed as { label: string }).label,
  );
});

it.each(['/', '/models/nli'])('answers on %s as the Hugging Face Inference API', async (path) => {
  const send = async (inputs: unknown, parameters: object = { candidate_labels }) =>
    (await post(service, path, { inputs, parameters })).json;
  expect(await send(sequence)).toEqual(near(ranked));
  expect(await send([sequence, 'Good.'])).toEqual([near(ranked), expect.any(Array)]);
  const own = (await send(sequence, { top_k: 1 })) as object[][];
  expect(own).toEqual([[{ label: expect.any(String), score: expect.any(Number) }]]);
});

it.each([
  [{}, 'text: is required'],
  [{ text: 'a' }, 'candidate_labels: is required'],
  [{ text: 'a', candidate_labels: [] }, 'candidate_labels: expected at least one label'],
  [{ text: 'a', candidate_labels: ' , ' }, 'candidate_labels: expected at least one label'],
  [{ text: 'a', candidate_labels: ['b', 1] }, 'candidate_labels[1]: expected a string'],
  [
    { text: 'a', candidate_labels: ['b'], hypothesis_template: 'It is so.' },
    'hypothesis_template: expected one {} in the place of a label, and {{ or }} for other braces',
  ],
  [{ text: 'a', candidate_labels: ['b'], multi_label: 1 }, 'multi_label: expected true or false'],
])('refuses %j', async (body, detail) => {
  const { status, json } = await ask(body);
  expect([status, json]).toEqual([422, { detail }]);
});

it('reads a template as Python formats it', async () => {
  const asked = { text: sequence, candidate_labels };
  const plain = await ask({ ...asked, hypothesis_template: 'It {} is.' });
  const braces = await ask({ ...asked, hypothesis_template: 'It {{{}}} is.' });
  expect([plain.status, braces.status]).toEqual([200, 200]);
  expect(braces.json).not.toEqual(plain.json);
});

it('cuts a text, refuses a hypothesis that leaves no room for it, and bounds the pairs', async () => {
  const long = await ask({ text: 'The film. '.repeat(100), candidate_labels });
  expect([long.status, long.headers['x-input-truncated']]).toEqual([200, 'true']);
  const wide = await ask({ text: 'a', candidate_labels: ['b', 'word '.repeat(100)] });
  expect([wide.status, (wide.json as { detail: string }).detail]).toEqual([
    422,
    expect.stringMatching(/^candidate_labels\[1\]: /),
  ]);
  const many = await ask({ text: 'a', candidate_labels: Array(9).fill('b') });
  expect([many.status, many.json]).toEqual([
    413,
    { detail: 'candidate_labels: 9 labels of 1 texts are over the limit of 8 pairs.' },
  ]);
});

it('has each status of its operation, and no other', async () => {
  const send = async (to: Service, body: string, headers = {}): Promise<Answer> =>
    documented.note('POST', PATH, await postRaw(to, PATH, body, { headers }));
  const body = JSON.stringify({ text: 'good', candidate_labels: ['film'] });
  expect((await send(service, body)).status).toBe(200);
  expect((await ask({ text: ' ', candidate_labels })).status).toBe(400);
  expect((await ask({ text: 'a', candidate_labels, model: 'none' })).status).toBe(404);
  expect((await send(service, body.padEnd(MEBIBYTE + 1))).status).toBe(413);
  expect((await send(service, body, { 'content-type': 'text/plain' })).status).toBe(415);
  const held = await Promise.all(Array.from({ length: 4 }, () => send(holding, body)));
  expect(new Set(held.map(({ status }) => status))).toEqual(new Set([503, 504]));
  documented.expectAllSeen(['POST /zero-shot 500']); // no model at hand fails
});
