import { Documented, near } from '../../helpers/documented';
import { type Answer, post, postRaw, request } from '../../helpers/http';
import { modelWith } from '../../helpers/model-folder';
import { ModelsDirectory } from '../../helpers/models-directory';
import { caseOfOneLabel } from '../../helpers/reranking';
import { killAll, type Service } from '../../helpers/service';

const TAGS = ['Jina', 'Cohere', 'vLLM', 'text-embeddings-inference'];
const MEBIBYTE = 1024 ** 2;
const IDENTITY = { sbert_ce_default_activation_function: 'torch.nn.modules.linear.Identity' };

/** Outputs as they are. */
const golden = caseOfOneLabel(IDENTITY);
const [{ query, documents, predicted, ranked }] = golden.answers as [
  (typeof golden.answers)[number],
];
const sigmoid = (value: number) => 1 / (1 + Math.exp(-value));
const scoreOf = (index: number) => predicted[index] as number;

const models = new ModelsDirectory();
const none = new ModelsDirectory();
let service: Service;
let holding: Service;
/** Without a model. */
let empty: Service;
let documented: Documented;

beforeAll(async () => {
  modelWith(models.folder, 'roberta-one-label', { 'config.json': IDENTITY }, 'reranker');
  modelWith(models.folder, 'roberta-one-label', {}, 'regression');
  const several = { 'config.json': {}, 'model.json': { task: 'reranking' } };
  modelWith(models.folder, 'roberta-three-labels-float16', several, 'several');
  service = await models.start({ env: { MAX_LIST_LENGTH: '16' } });
  const env = { MAX_QUEUE_REQUESTS: '1', MAX_QUEUE_DELAY_MS: '5000', REQUEST_TIMEOUT_MS: '1000' };
  holding = await models.start({ env });
  empty = await none.start();
  documented = await Documented.of(
    service,
    ({ tags, operationId }) =>
      TAGS.includes(tags[0] as string) &&
      !/^(teiPredict|teiInvocations|cohereEmbed)/.test(operationId),
  );
});

afterAll(async () => {
  await killAll();
  models.folder.remove();
  none.folder.remove();
});

const ROUTES = [
  { path: '/rerank', list: 'texts', bad: 422, held: [429], empty: 400 },
  { path: '/v1/rerank', list: 'documents', bad: 422, held: [503, 504], empty: 422 },
  { path: '/v2/rerank', list: 'documents', bad: 400, held: [503, 504], empty: 400 },
  { path: '/score', list: 'text_2', bad: 400, held: [503, 504], empty: 400 },
  { path: '/v1/score', list: 'documents', bad: 400, held: [503, 504], empty: 400 },
] as const;

const bodyOf = (path: string, list: string, given: unknown): object =>
  path.endsWith('score') ? { text_1: query, [list]: given } : { query, [list]: given };

const ask = async (path: string, body: unknown, to = service): Promise<Answer> =>
  documented.note('POST', path, await post(to, path, body));

it('takes a marked model for a reranker, and another of one label for a classifier', async () => {
  const { json } = await request(service, { path: '/info' });
  const tasks = (json as { models: { name: string; task: string }[] }).models.map(
    ({ name, task }) => [name, task],
  );
  expect(tasks).toEqual([
    ['regression', 'text-classification'],
    ['reranker', 'reranking'],
    ['several', 'reranking'],
  ]);
  const { json: info } = await request(service, { path: '/models/reranker/info' });
  expect(info).toMatchObject({
    model: { activation: 'Identity', max_length: 40 },
    model_type: { reranker: { id2label: { 0: 'STARS' } } },
  });
});

it("ranks as text-embeddings-inference: through a sigmoid, or the model's outputs", async () => {
  const { json, headers } = await ask('/rerank', { query, texts: documents });
  expect(json).toEqual(near(ranked.map((index) => ({ index, score: sigmoid(scoreOf(index)) }))));
  expect(headers['x-compute-type']).toBe('cpu');
  const raw = await ask('/rerank', {
    query,
    texts: documents,
    raw_scores: true,
    return_text: true,
  });
  expect(raw.json).toEqual(
    near(ranked.map((index) => ({ index, text: documents[index], score: scoreOf(index) }))),
  );
});

it('ranks as Jina, with its documents and tokens', async () => {
  const given = documents.map((text, index) => (index % 2 === 0 ? text : { text }));
  const { json } = await ask('/v1/rerank', {
    model: 'reranker',
    query,
    documents: given,
    top_n: 3,
  });
  const { usage, ...rest } = json as { usage: { total_tokens: number } };
  expect(rest).toEqual(
    near({
      model: 'reranker',
      object: 'list',
      results: ranked.slice(0, 3).map((index) => ({
        index,
        relevance_score: scoreOf(index),
        document: { text: documents[index] },
      })),
      data: ranked.slice(0, 3).map((index) => ({ index, relevance_score: scoreOf(index) })),
    }),
  );
  expect(usage.total_tokens).toBeGreaterThan(documents.length);
  const without = await ask('/v1/rerank', { query, documents, return_documents: false });
  const [first] = (without.json as { results: object[] }).results;
  expect(first).toEqual(near({ index: ranked[0], relevance_score: scoreOf(ranked[0] as number) }));
});

it('ranks as Voyage', async () => {
  const { json } = await ask('/v1/rerank', {
    model: 'reranker',
    query,
    documents,
    top_k: 2,
    return_documents: true,
    truncation: true,
  });
  const { object, data } = json as { object: string; data: object[] };
  expect(object).toBe('list');
  expect(data).toEqual(
    near(
      ranked.slice(0, 2).map((index) => ({
        index,
        relevance_score: scoreOf(index),
        document: documents[index],
      })),
    ),
  );
  const long = { query, documents: ['short', 'long '.repeat(2000)] };
  expect((await ask('/v1/rerank', { ...long, truncation: true })).status).toBe(200);
  const rejected = await ask('/v1/rerank', { ...long, truncation: false });
  expect([rejected.status, rejected.headers['x-error-code'], rejected.json]).toEqual([
    422,
    'INPUT_TOO_LONG',
    { detail: expect.stringMatching(/^documents\[1\]: /) },
  ]);
});

it('ranks as Cohere', async () => {
  const { json } = await ask('/v2/rerank', { model: 'reranker', query, documents, top_n: 2 });
  const { id, ...rest } = json as { id: unknown };
  expect(id).toEqual(expect.any(String));
  expect(rest).toEqual(
    near({
      results: ranked.slice(0, 2).map((index) => ({ index, relevance_score: scoreOf(index) })),
      meta: { api_version: { version: '2' }, billed_units: { search_units: 1 } },
    }),
  );
  const refused = async (more: object) =>
    (await ask('/v2/rerank', { query, documents, ...more })).json;
  expect(await refused({ max_tokens_per_doc: 4096 })).toHaveProperty('results');
  expect(await refused({ max_tokens_per_doc: 0 })).toEqual({
    message: 'max_tokens_per_doc: expected at least 1',
  });
  expect(await refused({ relevant_spans: {} })).toEqual({
    message: 'relevant_spans: is not supported',
  });
});

describe('max_tokens_per_doc of Cohere', () => {
  const rank = async (list: readonly string[], max_tokens_per_doc?: number | null) => {
    const { status, json, headers } = await ask('/v2/rerank', {
      model: 'reranker',
      query: 'a',
      documents: list,
      max_tokens_per_doc,
    });
    expect({ status, json }).toMatchObject({ status: 200 });
    const { results } = json as { results: { index: number; relevance_score: number }[] };
    const scores: number[] = [];
    for (const { index, relevance_score } of results) scores[index] = relevance_score;
    return { scores, isTruncated: headers['x-input-truncated'] === 'true' };
  };
  const tokensOf = async (text: string) => {
    const body = { model: 'reranker', inputs: text, add_special_tokens: false };
    return ((await post(service, '/tokenize', body)).json as { id: number }[][])[0] as {
      id: number;
    }[];
  };

  it('truncates longer documents to tokens that the whole document begins with', async () => {
    const text = 'It rains in the unaffable town 😀 of naïve people.';
    const tokens = (await tokensOf(text)).map(({ id }) => id);
    const cuts = [...text].map((_, end) => [...text].slice(0, end).join(''));
    const ofCuts: number[] = [];
    for (let first = 0; first < cuts.length; first += 16) {
      ofCuts.push(...(await rank(cuts.slice(first, first + 16))).scores);
    }
    // The model truncates pairs of more than 40 tokens.
    for (let count = 1; count <= 32; count++) {
      const { scores, isTruncated } = await rank([text, 'short', ''], count);
      expect(isTruncated).toBe(true);
      const end = ofCuts.lastIndexOf(scores[0] as number);
      const kept = (await tokensOf(cuts[end] as string)).map(({ id }) => id);
      expect(kept).toEqual(tokens.slice(0, kept.length));
      expect(kept.length).toBeLessThanOrEqual(count);
      expect(kept.length).toBeGreaterThan(count - 4);
    }
  });

  it('leaves documents that are short enough as they are', async () => {
    const list = ['It rains.', ''];
    const { length } = await tokensOf('It rains.');
    const plain = await rank(list);
    expect(plain.isTruncated).toBe(false);
    for (const limit of [length, 39, 40, 4096, null])
      expect(await rank(list, limit)).toEqual(plain);
  });
});

it('scores as vLLM, one text with several or as many with as many', async () => {
  const of = async (body: object) => {
    const { json } = await ask('/score', body);
    const { id, created, usage, ...rest } = json as Record<string, unknown>;
    expect([typeof id, typeof created]).toEqual(['string', 'number']);
    expect(usage).toMatchObject({ completion_tokens: 0 });
    return rest;
  };
  const data = predicted.map((score, index) => ({ index, object: 'score', score }));
  const expected = near({ object: 'list', model: 'reranker', data });
  expect(await of({ text_1: query, text_2: documents })).toEqual(expected);
  expect(await of({ queries: Array(documents.length).fill(query), documents })).toEqual(expected);
  expect(await of({ text_1: query, text_2: documents[0] })).toEqual(
    near({ object: 'list', model: 'reranker', data: data.slice(0, 1) }),
  );
  const { json } = await ask('/score', { text_1: ['a', 'b'], text_2: documents });
  expect(json).toEqual({
    error: {
      message: `text_1: expected one text, or one for each of the ${documents.length} elements of text_2, found 2`,
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
  });
});

it.each([
  ['text_1', 'text_2'],
  ['queries', 'documents'],
  ['text_1', 'documents'],
  ['queries', 'text_2'],
])('errors of vLLM name the fields as they were sent: %s, %s', async (first, second) => {
  const message = async (one: unknown, many: unknown): Promise<string> => {
    const { json } = await post(service, '/score', { [first]: one, [second]: many });
    return (json as { error: { message: string } }).error.message;
  };
  expect(await message(['a', 'b'], ['x', 'y', 'z'])).toBe(
    `${first}: expected one text, or one for each of the 3 elements of ${second}, found 2`,
  );
  expect(await message([], ['x'])).toBe(`${first}: expected at least one text`);
  expect(await message('a', [])).toBe(`${second}: expected at least one text`);
  expect(await message('a', Array(17).fill('x'))).toMatch(new RegExp(`^${second}: 17 elements`));
  expect(await message('a', ['x', 5])).toBe(`${second}[1]: expected a string`);
});

it('scores tensors by the Open Inference Protocol, all labels of a model of several', async () => {
  const tensor = (name: string, data: readonly string[]) => ({
    name,
    datatype: 'BYTES',
    shape: [data.length],
    data,
  });
  const inputs = [
    tensor(
      'QUERY',
      documents.map(() => query),
    ),
    tensor('DOCUMENT', documents),
  ];
  const { json } = await post(service, '/v2/models/reranker/infer', { inputs });
  const [output] = (json as { outputs: object[] }).outputs;
  expect(output).toEqual(
    near({ name: 'SCORE', datatype: 'FP32', shape: [documents.length], data: predicted }),
  );
  const several = await post(service, '/v2/models/several/infer', { inputs });
  expect((several.json as { outputs: object[] }).outputs).toMatchObject([
    { shape: [documents.length, 3] },
  ]);
  const refused = await post(service, '/models/several/v1/rerank', { query, documents });
  expect([refused.status, refused.json]).toEqual([
    400,
    {
      detail:
        'Reranking needs a model with one label, this model has 3. The Open Inference Protocol returns the scores of all labels.',
    },
  ]);
});

describe.each(ROUTES)('$path', ({ path, list, bad, held, empty: emptyList }) => {
  it('refuses what it cannot take', async () => {
    expect((await ask(path, {})).status).toBe(bad);
    expect((await ask(path, bodyOf(path, list, []))).status).toBe(emptyList);
    const wrong = await ask(path, bodyOf(path, list, ['a', 5]));
    expect([wrong.status, JSON.stringify(wrong.json)]).toEqual([
      bad,
      expect.stringContaining(`${list}[1]: expected a string`),
    ]);
    const long = await ask(path, bodyOf(path, list, Array(17).fill('a')));
    expect(long.status).toBe(path === '/rerank' ? 422 : 413);
  });

  it('has the statuses that its clients know', async () => {
    const send = async (to: Service, body: string, headers = {}): Promise<Answer> =>
      documented.note('POST', path, await postRaw(to, path, body, { headers }));
    const body = JSON.stringify(bodyOf(path, list, ['a']));
    expect((await send(service, body)).status).toBe(200);
    expect((await send(service, body.padEnd(MEBIBYTE + 1))).status).toBe(413);
    expect((await send(service, body, { 'content-type': 'text/plain' })).status).toBe(415);
    // The route of text-embeddings-inference names no model.
    const none = await send(
      path === '/rerank' ? empty : service,
      body.replace('{', '{"model":"none",'),
    );
    expect(none.status).toBe(404);
    const late = await send(service, body, { 'x-request-timeout-ms': 'soon' });
    expect(late.status).toBe(400);
    const answers = await Promise.all(Array.from({ length: 4 }, () => send(holding, body)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(held));
  });
});

it('has no status that has not been seen', () => {
  // No model at hand fails, and at the root none is missing.
  const failing = ROUTES.map(({ path }) => `POST ${path} ${path === '/rerank' ? 424 : 500}`);
  documented.expectAllSeen([...failing, 'POST /rerank 503']);
});
