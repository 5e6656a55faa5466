/** Every dimension of a request has a limit that applies before the work: count, length and repetition. */
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { readFixture } from '../helpers/golden';
import { type Answer, post, request } from '../helpers/http';
import { modelWith } from '../helpers/model-folder';
import { modelsOf, newDirectory, removeDirectories } from '../helpers/models-directory';
import { figuresOf } from '../helpers/process-figures';
import type { Service } from '../helpers/service';

/** Memory that a request which is rejected may take, beside ten times its own bytes. */
const MAX_GROWTH_MB = 120;
/** The machine may be busy with other tests: the faults that these tests are for took seconds. */
const MAX_HEALTH_MS = 1500;

const many = <Value>(count: number, value: Value): Value[] => Array(count).fill(value);
const words = (count: number): string => 'a '.repeat(count);

let service: Service;
let small: Service;
/** Tokens of a window beside the special ones, of the classifier and of the tagger. */
const room = { films: 0, tagger: 0 };

beforeAll(async () => {
  const directory = newDirectory();
  directory.text('films', 'bert-single-label');
  directory.text('tagger', '../tagging/bert');
  directory.text('vectors', '../embeddings/sentences/v2-mean-normalize');
  directory.text('tokens', '../embeddings/sentences/v6-tokens');
  directory.text('words', '../embeddings/splade/bert');
  directory.signal('eeg');
  modelWith(
    directory.folder,
    'roberta-one-label',
    {
      'config.json': { sbert_ce_default_activation_function: 'torch.nn.modules.linear.Identity' },
    },
    'reranker',
  );
  const { cases } = readFixture<{
    readonly cases: readonly { readonly model: string; readonly config: object }[];
  }>('zero-shot.json');
  const [{ model, config }] = cases as [(typeof cases)[number]];
  modelWith(directory.folder, model, { 'config.json': config }, 'nli');
  service = await directory.start();
  small = await directory.start({ env: { RESPONSE_LIMIT: '20kb' } });
  for (const name of ['films', 'tagger'] as const) {
    const { json } = await request(service, { path: `/models/${name}/info` });
    room[name] = (json as { model: { max_length: number } }).model.max_length - 2;
  }
});

afterAll(removeDirectories);

/** How long GET /health took at most, and by how much memory grew at most, while this ran. */
async function watched(run: () => Promise<Answer>) {
  const { child } = service;
  const status = () => figuresOf(child.pid as number).residentMb;
  writeFileSync(`/proc/${child.pid}/clear_refs`, '5');
  const before = status();
  let [healthMs, isOver, peak] = [0, false, before];
  const probe = (async () => {
    while (!isOver) {
      const begun = performance.now();
      await request(service, { path: '/health' });
      healthMs = Math.max(healthMs, performance.now() - begun);
      peak = Math.max(peak, status());
      await delay(5);
    }
  })();
  const answer = await run();
  isOver = true;
  await probe;
  return { answer, healthMs, growthMb: peak - before };
}

const REJECTED: readonly (readonly [string, string, () => object, number, RegExp])[] = [
  [
    'windows of a text',
    '/models/films/analyze',
    () => ({ text: words(20_000), long_texts: 'windows', stride: room.films - 1 }),
    422,
    /^stride: \d+ of \d+ tokens make \d+ windows of this text of 20000 tokens, over the limit of \d+\. Set stride to \d+ or less$/,
  ],
  [
    'windows of a text of 1 MB',
    '/models/films/analyze',
    () => ({ text: words(500_000), long_texts: 'windows', stride: room.films - 1 }),
    422,
    /^stride: .* over the limit of \d+\. /,
  ],
  [
    'windows of each text of a list',
    '/models/films/analyze/batch',
    () => ({
      texts: many(150, words(3000)),
      long_texts: 'windows',
      stride: room.films - 1,
    }),
    422,
    /^texts\[\d+\]: stride: /,
  ],
  [
    'windows of a text with tags',
    '/models/tagger/tag',
    () => ({ text: words(500_000), stride: room.tagger - 1 }),
    422,
    /^stride: /,
  ],
  [
    'windows of a list of texts with tags',
    '/models/tagger/tag/batch',
    () => ({ texts: many(100, words(4000)), stride: room.tagger - 1 }),
    422,
    /^texts\[\d+\]: stride: /,
  ],
  [
    'labels that are not strings',
    '/models/tagger/tag',
    () => ({ text: 'a', ignore_labels: many(199_000, null) }),
    422,
    /^ignore_labels: expected at most 1024 elements, found 199000$/,
  ],
  [
    'labels for each text of a list',
    '/models/tagger/tag/batch',
    () => ({ texts: many(300, 'a'), ignore_labels: many(190_000, 'O') }),
    422,
    /^ignore_labels: expected at most 1024 elements, found 190000$/,
  ],
  [
    'an id that each result repeats',
    '/models/eeg/predict/batch',
    () => ({ signals: many(900, many(256, 1)), patient_id: 'x'.repeat(400_000) }),
    422,
    /^patient_id: expected at most 1024 characters, found 400000$/,
  ],
  [
    'a template that is read with each label',
    '/models/nli/zero-shot',
    () => ({
      text: 'a',
      candidate_labels: Array.from({ length: 1000 }, (_, i) => `l${i}`),
      hypothesis_template: `${'x'.repeat(900_000)} {}`,
    }),
    422,
    /^hypothesis_template: expected at most 1024 characters, found 900003$/,
  ],
  [
    'a label',
    '/models/nli/zero-shot',
    () => ({ text: 'a', candidate_labels: ['b', 'x'.repeat(900_000)] }),
    422,
    /^candidate_labels\[1\]: expected at most 1024 characters, found 900000$/,
  ],
  [
    'a label in a string of them',
    '/models/nli/zero-shot',
    () => ({ text: 'a', candidate_labels: `b, ${'x'.repeat(900_000)}` }),
    422,
    /^candidate_labels: expected at most 1024 characters, found 900000$/,
  ],
  [
    'a text that is read with each label',
    '/models/nli/zero-shot',
    () => ({
      text: words(400_000),
      candidate_labels: Array.from({ length: 1000 }, (_, i) => `l${i}`),
    }),
    413,
    /^The 1000 inputs have at least 8\d{8} bytes in total, over the limit of 67108864\. /,
  ],
  ...(['/v1/rerank', '/v2/rerank', '/rerank', '/score'] as const).map((route) => {
    const list = { '/rerank': 'texts', '/score': 'text_2' }[route as string] ?? 'documents';
    const query = route === '/score' ? 'text_1' : 'query';
    const status = route === '/rerank' ? 422 : 413;
    return [
      `a query that is read with each document: ${route}`,
      `/models/reranker${route}`,
      () => ({ [query]: 'x'.repeat(500_000), [list]: many(1024, 'a') }),
      status,
      /The 1024 inputs have at least 512001024 bytes in total, /,
    ] as const;
  }),
];

const messageOf = ({ json }: Answer): string => {
  const { detail, error, message } = json as Record<string, unknown>;
  const told = detail ?? message ?? error;
  return typeof told === 'string' ? told : (told as { message: string }).message;
};

describe('rejected before the work', () => {
  it.each(REJECTED)('%s', async (_name, path, body, status, message) => {
    const sent = body();
    const { answer, healthMs, growthMb } = await watched(() => post(service, path, sent));
    expect([answer.status, messageOf(answer)]).toEqual([status, expect.stringMatching(message)]);
    const bytesMb = JSON.stringify(sent).length / 1024 ** 2;
    expect(growthMb).toBeLessThan(MAX_GROWTH_MB + 10 * bytesMb + 250 * Number(bytesMb > 0.5));
    expect(healthMs).toBeLessThan(MAX_HEALTH_MS);
  });
});

describe('what is within the limits', () => {
  it('12,000 words with a stride of half a window', async () => {
    const stride = Math.floor(room.films / 2);
    const body = { text: words(2000), long_texts: 'windows', stride };
    const { status, json } = await post(service, '/models/films/analyze', body);
    expect(status).toBe(200);
    const count = 1 + Math.ceil((2000 - room.films) / (room.films - stride));
    expect((json as { windows: object[] }).windows).toHaveLength(count);
  });

  it('the stride that the error names', async () => {
    const path = '/models/films/analyze';
    const body = { text: words(4000), long_texts: 'windows' };
    const rejected = await post(service, path, { ...body, stride: room.films - 1 });
    const stride = Number(/Set stride to (\d+)/.exec(messageOf(rejected))?.[1]);
    expect((await post(service, path, { ...body, stride })).status).toBe(200);
    expect((await post(service, path, { ...body, stride: stride + 1 })).status).toBe(422);
  });

  it('names and ids of 1,024 characters', async () => {
    const patient_id = 'é'.repeat(1024);
    const { json } = await post(service, '/models/eeg/predict', {
      signal: many(256, 1),
      patient_id,
    });
    expect(json).toMatchObject({ patient_id });
    const ignore_labels = many(1024, 'O');
    expect((await post(service, '/models/tagger/tag', { text: 'a', ignore_labels })).status).toBe(
      200,
    );
  });
});

describe('RESPONSE_LIMIT', () => {
  const RESPONSE: readonly (readonly [string, object, object, number])[] = [
    ['/models/vectors/embed', { inputs: ['a'] }, { inputs: many(200, 'a') }, 413],
    [
      '/v1/embeddings',
      { model: 'vectors', input: 'a' },
      { model: 'vectors', input: many(200, 'a') },
      413,
    ],
    ['/models/tokens/embed_all', { inputs: 'a' }, { inputs: many(50, words(20)) }, 422],
    ['/models/words/embed_sparse', { inputs: 'a' }, { inputs: many(1000, words(20)) }, 413],
    ['/models/films/analyze/batch', { texts: ['a'] }, { texts: many(1000, 'a') }, 413],
    ['/models/tagger/tag/batch', { texts: ['a'] }, { texts: many(1000, 'Berlin is a film.') }, 413],
    [
      '/models/eeg/predict/batch',
      { signals: [many(256, 1)] },
      { signals: many(400, many(256, 1)) },
      413,
    ],
    [
      '/models/reranker/v1/rerank',
      { query: 'a', documents: ['a'] },
      { query: 'a', documents: many(1000, 'a') },
      413,
    ],
  ];

  it.each(RESPONSE)('%s', async (path, fits, over, status) => {
    expect((await post(small, path, fits)).status).toBe(200);
    const answer = await post(small, path, over);
    expect([answer.status, messageOf(answer)]).toEqual([
      status,
      expect.stringMatching(
        /The response would have (at least \d+ bytes, over the limit of 20480 \(RESPONSE_LIMIT\)|more than \d+ numbers, the limit)/,
      ),
    ]);
    expect((await post(service, path, over)).status).toBe(200);
  });

  const tensor = (texts: readonly string[], more: object = {}) => ({
    ...more,
    inputs: [{ name: 'TEXT', datatype: 'BYTES', shape: [texts.length], data: texts }],
  });
  const binary = { parameters: { binary_data_output: true } };

  it.each([
    ['vectors', many(60, 'a')],
    ['words', many(5, 'a')],
    ['films', many(600, 'a')],
    ['tokens', many(12, words(15))],
    ['tagger', many(60, words(10))],
  ])('the Open Inference Protocol: %s, less in binary', async (model, texts) => {
    const path = `/v2/models/${model}/infer`;
    expect((await post(small, path, tensor(texts.slice(0, 1)))).status).toBe(200);
    expect(await post(small, path, tensor(texts))).toMatchObject({
      status: expect.any(Number),
      json: { error: expect.stringMatching(/The response would have /) },
    });
    if (model !== 'films') {
      const smaller = texts.slice(0, Math.ceil(texts.length / 2));
      expect((await post(small, path, tensor(smaller, binary))).status).toBe(200);
    }
    const { status, json } = await post(service, path, tensor(texts));
    expect([status, Object.keys(json as object)]).toEqual([
      200,
      expect.arrayContaining(['outputs']),
    ]);
  });
});

it('large responses keep nobody waiting', async () => {
  const texts = many(1000, words(60));
  const path = '/v2/models/tokens/infer';
  const inputs = [{ name: 'TEXT', datatype: 'BYTES', shape: [texts.length], data: texts }];
  const { answer, healthMs } = await watched(() => post(service, path, { inputs }));
  expect(answer.status).toBe(200);
  expect(answer.bytes.length).toBeGreaterThan(4 * 1024 ** 2);
  expect(healthMs).toBeLessThan(MAX_HEALTH_MS);
});

it('a stride in model.json with which every long text would be rejected is a load error', async () => {
  const directory = newDirectory();
  directory.text('films', 'bert-single-label');
  const longTexts = { long_texts: 'windows', stride: room.films - 1 };
  directory.text('overlapping', 'bert-single-label', longTexts);
  directory.text('half', 'bert-single-label', { ...longTexts, stride: room.films >> 1 });
  const other = await directory.start();
  const reason =
    /^model\.json: stride: expected at most \d+, three quarters of the \d+ tokens of a window, found \d+\. Lower it/;
  const models = await modelsOf(other);
  const found = models.map(({ name, serving, versions }) => [name, serving, versions[0]?.reason]);
  expect(found).toEqual([
    ['films', '1', null],
    ['half', '1', null],
    ['overlapping', null, expect.stringMatching(reason)],
  ]);
});
