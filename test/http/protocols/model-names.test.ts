/** Requests that name a model: by its name, in every protocol, for models of every task. */
import path from 'node:path';
import OpenAI from 'openai';
import { Folder } from '../../helpers/files';
import { readFixture } from '../../helpers/golden';
import { post, request } from '../../helpers/http';
import { modelWith } from '../../helpers/model-folder';
import { FIRST, newDirectory, removeDirectories } from '../../helpers/models-directory';
import { caseOfOneLabel } from '../../helpers/reranking';
import { FIXTURES, type Service, startService, textModel } from '../../helpers/service';

const IDENTITY = { sbert_ce_default_activation_function: 'torch.nn.modules.linear.Identity' };
const SIGMOID = { sbert_ce_default_activation_function: 'torch.nn.modules.activation.Sigmoid' };
const GOLDEN = caseOfOneLabel(IDENTITY);
const [{ query, documents, predicted }] = GOLDEN.answers as [(typeof GOLDEN.answers)[number]];
const sigmoid = (value: number): number => 1 / (1 + Math.exp(-value));

const RERANKING = [
  ['/v1/rerank', { query, documents }],
  ['/v2/rerank', { query, documents }],
  ['/score', { text_1: query, text_2: documents }],
  ['/v1/score', { queries: query, documents }],
] as const;
/** Every route at the root of a directory whose body has an optional `model`. */
const NAMING = [...RERANKING, ['/v1/embeddings', { input: 'a' }]] as const;

const [NLI] = readFixture<{ cases: { model: string; config: object }[] }>('zero-shot.json')
  .cases as [{ model: string; config: object }];

/** Files of a masked language model without those of sentence-transformers. */
const MODEL_FILES = ['config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json'];

const folder = new Folder();
let service: Service;
let keyed: Service;
const client = (to: Service, at = '') =>
  new OpenAI({ apiKey: 'none', baseURL: `${to.origin}${at}/v1`, maxRetries: 0 });

beforeAll(async () => {
  const directory = newDirectory();
  // Before the rerankers by name, and a reranker only in addition to its task.
  modelWith(directory.folder, 'roberta-one-label', {}, 'a-classifier');
  const aliases = { 'config.json': IDENTITY, 'model.json': { aliases: ['rank-multilingual'] } };
  modelWith(directory.folder, 'roberta-one-label', aliases, 'rank-a');
  const titled = { ...SIGMOID, _name_or_path: 'hub/rank-b' };
  modelWith(directory.folder, 'roberta-one-label', { 'config.json': titled }, 'rank-b');
  modelWith(directory.folder, 'bert-single-label', {}, 'sentiment');
  modelWith(
    directory.folder,
    NLI.model,
    { 'config.json': NLI.config, 'model.json': { task: 'zero-shot-classification' } },
    'topics',
  );
  directory.text('embedder', '../embeddings/sentences/v2-mean-normalize', {
    aliases: ['text-embedding-3-small'],
  });
  directory.text('multi', '../embeddings/bge-m3');
  directory.text('sparse', '../embeddings/splade/bert');
  for (const file of MODEL_FILES) {
    const source = path.join(FIXTURES, 'embeddings/splade/bert', file);
    directory.file(path.join('bare', file), source);
  }
  directory.text('tokens', '../embeddings/sentences/v6-tokens');
  directory.text('tagger', '../tagging/bert');
  directory.signal('waves');
  const restricted = { 'model.json': { abilities: ['text-classification'] } };
  modelWith(directory.folder, 'roberta-one-label', restricted, 'z-only-labels');
  const unable = { 'model.json': { abilities: ['text-classification', 'embedding'] } };
  modelWith(directory.folder, 'roberta-one-label', unable, 'z-unable');
  directory.write('broken/config.json', '{');
  service = await directory.start();
  const keys = folder.put('keys', 'all\na models=rank-a\n');
  keyed = await directory.start({ env: { API_KEYS_FILE: keys } });
});

afterAll(async () => {
  await removeDirectories();
  folder.remove();
});

/** Of the documents, in their order. */
function scoresOf(json: unknown): readonly number[] {
  const { results, data } = json as {
    readonly results?: readonly { readonly index: number; readonly relevance_score: number }[];
    readonly data?: readonly { readonly score: number }[];
  };
  if (results) {
    const sorted = [...results].sort((a, b) => a.index - b.index);
    return sorted.map(({ relevance_score }) => relevance_score);
  }
  return (data ?? []).map(({ score }) => score);
}

describe.each(RERANKING)('%s', (path, body) => {
  it.each([
    ['rank-a', predicted],
    ['rank-multilingual', predicted],
    ['rank-b', predicted.map(sigmoid)],
    // A classifier of one label, which nothing marks as a cross-encoder.
    ['a-classifier', predicted.map(sigmoid)],
    // The first whose task is reranking.
    [undefined, predicted],
    [null, predicted],
  ])('answers with the scores of model %j', async (model, expected) => {
    const { status, json } = await post(service, path, { ...body, model });
    expect(status).toBe(200);
    for (const [index, score] of scoresOf(json).entries()) {
      expect(score).toBeCloseTo(expected[index] as number, 4);
    }
    expect(scoresOf(json)).toHaveLength(documents.length);
    const named = (json as { readonly model?: string }).model;
    if (named !== undefined) expect(['a-classifier', 'rank-a', 'rank-b']).toContain(named);
  });

  it('needs no name below the address of a model', async () => {
    for (const model of ['rank-b', 'rank-b:latest', null, undefined]) {
      const at = `/models/rank-b${path}`;
      const { json } = await post(service, at, { ...body, model });
      expect(scoresOf(json)[0]).toBeCloseTo(sigmoid(predicted[0] as number), 4);
    }
    const aliased = `/models/rank-multilingual${path}`;
    for (const model of ['rank-multilingual', 'rank-a']) {
      expect((await post(service, aliased, { ...body, model })).status).toBe(200);
    }
    expect((await post(service, `/models/a-classifier${path}`, body)).status).toBe(200);
    expect((await post(service, `/models/sentiment${path}`, body)).status).toBe(404);
  });

  it('asks only models that the key is for', async () => {
    const ask = async (key: string, model?: string) => {
      const headers = { authorization: `Bearer ${key}` };
      return (await post(keyed, path, { ...body, model }, { headers })).status;
    };
    expect(await ask('a')).toBe(200);
    expect(await ask('a', 'rank-a')).toBe(200);
    expect(await ask('all', 'rank-b')).toBe(200);
    for (const other of ['rank-b', 'a-classifier', 'sentiment', 'nobody']) {
      expect([other, await ask('a', other)]).toEqual([other, 403]);
    }
  });
});

it.each(NAMING)('%s: an unknown model is 404, with the names of the models', async (path, body) => {
  const able =
    path === '/v1/embeddings' ? ['"embedder"'] : ['"a-classifier"', '"rank-a"', '"rank-b"'];
  for (const model of ['nobody', 'sentiment', 'waves', 'tagger', '', '__proto__', 'RANK-A']) {
    const answer = await post(service, path, { ...body, model });
    expect([model, answer.status]).toEqual([model, 404]);
    for (const name of able) expect(answer.text).toContain(name.replaceAll('"', '\\"'));
    expect(answer.text).not.toContain('tokens');
  }
  expect((await post(service, path, { ...body, model: 'broken' })).status).toBe(503);
  expect((await post(service, path, { ...body, model: 7 })).status).toBeLessThan(500);
});

it.each(NAMING)(
  '%s: a model without the ability is 404, with its abilities',
  async (path, body) => {
    const wanted = path === '/v1/embeddings' ? 'text embedding' : 'reranking';
    const abilities = {
      sentiment: 'text classification',
      tagger: 'token classification',
      waves: 'signal classification',
      topics: 'text classification, zero-shot classification, decisions',
    };
    for (const [model, supported] of Object.entries(abilities)) {
      const { status, text } = await post(service, path, { ...body, model });
      expect(status).toBe(404);
      expect(JSON.stringify(JSON.parse(text))).toContain(
        `\\"${model}\\" supports ${supported}, not ${wanted}`,
      );
    }
  },
);

/** Error message in the format of each protocol. */
const FORMATS = {
  own: (message: unknown) => ({ detail: message }),
  tei: (message: unknown) => ({ error: message, error_type: 'Validation' }),
  openAi: (message: unknown) => ({
    error: { message, type: 'invalid_request_error', param: 'model', code: 'model_not_found' },
  }),
  vllm: (message: unknown) => ({
    error: { message, type: 'NotFoundError', param: null, code: 404 },
  }),
  cohere: (message: unknown) => ({ message }),
  error: (message: unknown) => ({ error: message }),
} as const;

const PAIR = { source_sentence: 'a', sentences: ['b'] };
const QUESTIONS = [{ type: 'predicate', instructions: 'It rains.' }];

/** Routes that need an ability: path, body, ability, error format, and the models that have the ability. */
const ABILITY_ROUTES = [
  ['/analyze', { text: 'a' }, 'text classification', 'own', 'sentiment'],
  ['/analyze/batch', { texts: ['a'] }, 'text classification', 'own', 'sentiment'],
  ['/predict/batch', { signals: [] }, 'signal classification', 'own', 'waves'],
  ['/tag', { text: 'a' }, 'token classification', 'own', 'tagger'],
  ['/zero-shot', { text: 'a', candidate_labels: ['b'] }, 'zero-shot', 'own', 'topics'],
  ['/decide', { state: 'a', questions: QUESTIONS }, 'decisions', 'own', 'topics'],
  ['/encode', { texts: ['a'] }, 'bge-m3', 'own', 'multi'],
  ['/embed', { inputs: 'a' }, 'text embedding', 'tei', 'embedder'],
  ['/similarity', { inputs: PAIR }, 'text embedding', 'tei', 'embedder'],
  ['/embed_all', { inputs: 'a' }, 'token embedding', 'tei', 'tokens'],
  ['/embed_sparse', { inputs: 'a' }, 'sparse embedding', 'tei', 'sparse'],
  ['/rerank', { query, texts: documents }, 'reranking', 'tei', 'rank-b'],
  ['/tokenize', { inputs: 'a' }, 'tokenization', 'tei', 'tagger'],
  ['/decode', { ids: [1] }, 'tokenization', 'tei', 'tagger'],
  ['/invocations', { inputs: 'a' }, 'text embedding', 'tei', 'embedder'],
  ['/v1/embeddings', { input: 'a' }, 'text embedding', 'openAi', 'embedder'],
  ['/embeddings', { input: 'a' }, 'text embedding', 'openAi', 'embedder'],
  ['/v1/embed', { texts: ['a'], input_type: 'search_query' }, 'embedding', 'cohere', 'embedder'],
  ['/v2/embed', { texts: ['a'], input_type: 'search_query' }, 'embedding', 'cohere', 'embedder'],
  ['/api/embed', { model: 'embedder', input: 'a' }, 'text embedding', 'error', 'embedder'],
  ['/api/embeddings', { model: 'embedder', prompt: 'a' }, 'embedding', 'error', 'embedder'],
  ['/api/show', {}, 'text embedding', 'error', 'embedder'],
  ['/v1/rerank', { query, documents }, 'reranking', 'own', 'rank-b'],
  ['/v2/rerank', { query, documents }, 'reranking', 'cohere', 'rank-b'],
  ['/score', { text_1: query, text_2: documents }, 'reranking', 'vllm', 'rank-b'],
  ['/detokenize', { tokens: [1] }, 'tokenization', 'vllm', 'tagger'],
  ['/v1/decisions', { input: 'a', questions: QUESTIONS }, 'decisions', 'openAi', 'topics'],
] as const;

describe.each(ABILITY_ROUTES)('%s', (path, body, ability, format, able) => {
  const supported = expect.stringContaining(ability);
  const toBody = FORMATS[format];

  it('runs the model that the body names', async () => {
    const { status, text } = await post(service, path, { ...body, model: able });
    expect([status, text]).toEqual([200, expect.any(String)]);
    const { status: below } = await post(service, `/models/${able}${path}`, {
      ...body,
      model: able,
    });
    expect(below).toBe(200);
  });

  it('an unknown model is 404, in the format of the protocol', async () => {
    const root = await post(service, path, { ...body, model: 'nobody' });
    expect([root.status, root.json]).toEqual([404, toBody(supported)]);
    expect(root.text).toContain(`\\"nobody\\"`);
    expect(root.text).toContain(`\\"${able}\\"`);
    for (const address of ['/models/nobody', '/models/nobody/versions/1']) {
      const { status, json } = await post(service, address + path, body);
      expect([status, json]).toEqual([404, toBody(expect.stringContaining('"nobody"'))]);
    }
    const { status, json } = await post(service, `/models/${able}/versions/9${path}`, body);
    const problem = `version: model "${able}" has no version "9". Versions: 1`;
    expect([status, json]).toEqual([404, toBody(problem)]);
  });

  it('another model than that of the address is 404', async () => {
    for (const model of ['nobody', 'a-classifier', '']) {
      const { status, json } = await post(service, `/models/${able}${path}`, { ...body, model });
      const problem = `model: expected "${able}", the model of this address, received "${model}"`;
      expect([status, json]).toEqual([404, toBody(expect.stringContaining(problem))]);
    }
  });

  it('below the address of a model without the ability, a 404 states its abilities', async () => {
    const unable = able === 'waves' ? 'tagger' : 'waves';
    const has = unable === 'waves' ? 'signal classification' : 'token classification';
    for (const address of [`/models/${unable}`, `/models/${unable}/versions/1`]) {
      const { status, json, headers } = await post(service, address + path, body);
      expect([status, json]).toEqual([404, toBody(supported)]);
      expect(JSON.stringify(json)).toContain(`\\"${unable}\\" supports ${has}, not `);
      expect(headers['x-error-code']).toBe('NOT_FOUND');
    }
    const broken = await post(service, `/models/broken${path}`, body);
    expect(broken.status).toBe(503);
  });

  it('checks the scope of the key before the model', async () => {
    const headers = { authorization: 'Bearer a' };
    for (const model of ['waves', 'nobody', 'a-classifier']) {
      const root = await post(keyed, path, { ...body, model }, { headers });
      const below = await post(keyed, `/models/${model}${path}`, body, { headers });
      expect([model, root.status, below.status]).toEqual([model, 403, 403]);
    }
  });
});

it('the root runs the named model among several with the ability', async () => {
  const labelOf = async (path: string, model?: string) => {
    const { json } = await post(service, path, { text: 'a', inputs: 'a', model });
    return JSON.stringify(json);
  };
  for (const path of ['/analyze', '/predict', '/invocations']) {
    const named = await labelOf(path, 'sentiment');
    const below = await labelOf(`/models/sentiment${path}`);
    expect(named).toBe(below);
    expect(await labelOf(path, 'z-only-labels')).not.toBe(named);
  }
});

it('a cross-encoder classifies as the same model without a marker', async () => {
  for (const [path, body] of [
    ['/predict', { inputs: [query, documents[0]] }],
    ['/analyze', { text: query, text_pair: documents[0] }],
    ['/analyze/batch', { texts: [query, { text: query, text_pair: documents[0] }] }],
    ['', { inputs: { text: query, text_pair: documents[0] } }],
  ] as const) {
    const unmarked = await post(service, `/models/a-classifier${path}`, body);
    expect([path, unmarked.status]).toEqual([path, 200]);
    for (const name of ['rank-a', 'rank-b']) {
      const { status, text } = await post(service, `/models/${name}${path}`, body);
      expect([path, name, status, text]).toEqual([path, name, 200, unmarked.text]);
    }
  }
  const marked = await post(service, '/predict', { inputs: query, model: 'rank-a' });
  expect(marked.status).toBe(200);
});

it('a cross-encoder is the default classifier only if no other model classifies', async () => {
  const directory = newDirectory();
  modelWith(directory.folder, 'roberta-one-label', { 'config.json': IDENTITY }, 'a-marked');
  const reranker = { 'config.json': IDENTITY, 'model.json': { task: 'reranking' } };
  modelWith(directory.folder, 'bert-multi-label-bfloat16', reranker, 'b-marked');
  const restricted = { 'config.json': IDENTITY, 'model.json': { abilities: ['reranking'] } };
  modelWith(directory.folder, 'roberta-one-label', restricted, 'c-restricted');
  const alone = await directory.start();
  const labels = async (from: Service, path: string) => {
    const { json } = await post(from, path, { inputs: 'a' });
    return (json as { label: string }[]).map(({ label }) => label).sort();
  };
  expect(await labels(alone, '/predict')).toEqual(await labels(alone, '/models/a-marked/predict'));
  expect((await labels(alone, '/models/b-marked/predict')).length).toBeGreaterThan(1);
  expect((await post(alone, '/models/c-restricted/predict', { inputs: 'a' })).status).toBe(404);
  await alone.stop();
  modelWith(directory.folder, 'bert-single-label', {}, 'z-classifier');
  const both = await directory.start();
  const expected = await labels(both, '/models/z-classifier/predict');
  for (const path of ['/predict', '/invocations']) {
    expect(await labels(both, path)).toEqual(expected);
  }
});

it.each([
  ['a-classifier', { reranker: { id2label: { 0: 'STARS' }, label2id: { STARS: 0 } } }],
  ['rank-a', { reranker: { id2label: { 0: 'STARS' }, label2id: { STARS: 0 } } }],
  ['z-only-labels', { classifier: { id2label: { 0: 'STARS' }, label2id: { STARS: 0 } } }],
  ['sentiment', { classifier: expect.anything() }],
  ['embedder', { embedding: { pooling: 'mean' } }],
  ['sparse', { embedding: { pooling: 'splade' } }],
  ['tokens', { embedding: { pooling: 'none' } }],
])('/info of %s has the model_type of text-embeddings-inference', async (name, type) => {
  const { json } = await request(service, { path: `/models/${name}/info` });
  expect((json as { readonly model_type: object }).model_type).toEqual(type);
});

it('/info of a masked language model has the fields of its embeddings', async () => {
  const { json } = await request(service, { path: '/models/bare/info' });
  expect(json).toMatchObject({
    model: {
      abilities: ['embedding', 'sparse-embedding', 'tokenization'],
      dimensions: expect.any(Number),
      pooling: ['mean'],
      normalizes: false,
      similarity: 'cosine',
      vocabulary_size: expect.any(Number),
    },
    model_type: { embedding: { pooling: 'mean' } },
  });
  const { json: vectors } = await post(service, '/models/bare/embed', { inputs: 'a' });
  const { dimensions } = (json as { readonly model: { readonly dimensions: number } }).model;
  expect((vectors as number[][])[0]).toHaveLength(dimensions);
});

it('/invocations accepts the bodies of all routes of text-embeddings-inference of a model', async () => {
  const bodies = {
    '/predict': { inputs: 'a' },
    '/embed': { inputs: ['a', 'b'] },
    '/embed_sparse': { inputs: 'a' },
    '/embed_all': { inputs: 'a' },
    '/rerank': { query, texts: documents },
    '/similarity': { inputs: PAIR },
  } as const;
  const routes = {
    'a-classifier': ['/predict', '/rerank'],
    'rank-a': ['/predict', '/rerank'],
    'z-only-labels': ['/predict'],
    embedder: ['/embed', '/similarity'],
    multi: ['/embed', '/similarity'],
    sparse: ['/embed_sparse'],
    tokens: ['/embed_all'],
  } as const;
  for (const [name, paths] of Object.entries(routes)) {
    for (const path of paths) {
      const at = `/models/${name}`;
      const direct = await post(service, at + path, bodies[path]);
      const invoked = await post(service, `${at}/invocations`, bodies[path]);
      expect([name, path, invoked.status, invoked.text]).toEqual([name, path, 200, direct.text]);
    }
  }
  const { status, text } = await post(service, '/models/z-only-labels/invocations', {
    query,
    texts: documents,
  });
  expect([status, text]).toEqual([422, expect.stringContaining('inputs: is required')]);
});

it('a path that no route has lists the models, also below the address of an unknown model', async () => {
  const { status, json } = await post(service, '/models/nobody/nothing', {});
  expect([status, json]).toEqual([
    404,
    { detail: expect.stringMatching(/^Path not found: models are a-classifier, /) },
  ]);
});

it('model.json restricts the abilities of a model', async () => {
  const answer = await post(service, '/v1/rerank', { query, documents, model: 'z-only-labels' });
  expect(answer.status).toBe(404);
  expect(answer.text).toContain('supports text classification, not reranking');
  const at = '/models/z-only-labels';
  expect((await post(service, `${at}/analyze`, { text: 'a' })).status).toBe(200);
  for (const path of ['/v1/rerank', '/tokenize']) {
    const body = { query, documents, inputs: 'a' };
    expect((await post(service, at + path, body)).status).toBe(404);
  }
});

it('an ability in model.json that the model lacks is a load error', async () => {
  const { text, status } = await post(service, '/v1/rerank', {
    query,
    documents,
    model: 'z-unable',
  });
  expect(status).toBe(503);
  expect(text).toContain(
    'abilities: expected some of text-classification, reranking, tokenization, received embedding',
  );
});

it("the default for text-embeddings-inference's /rerank is a reranker, too", async () => {
  const { json } = await post(service, '/rerank', { query, texts: documents });
  const [best] = json as { score: number }[];
  expect(best?.score).toBeCloseTo(Math.max(...predicted.map(sigmoid)), 4);
  const raw = await post(service, '/models/a-classifier/rerank', {
    query,
    texts: documents,
    raw_scores: true,
  });
  expect((raw.json as { score: number }[])[0]?.score).toBeCloseTo(Math.max(...predicted), 4);
  const headers = { authorization: 'Bearer a' };
  expect((await post(keyed, '/rerank', { query, texts: documents }, { headers })).status).toBe(200);
});

const READY = [
  ...[
    'a-classifier',
    'bare',
    'embedder',
    'multi',
    'rank-a',
    'rank-b',
    'sentiment',
    'sparse',
    'tagger',
  ],
  ...['tokens', 'topics', 'waves', 'z-only-labels'],
];

it('a model that is ready is never said to be loading, whatever protocol it is asked by', async () => {
  const wrong: unknown[] = [];
  const bodies = [{ instances: ['a'] }, { inputs: 'a' }, { input: 'a' }, { data: 'a' }, {}];
  for (const name of READY) {
    const paths = [
      ...[`/predictions/${name}`, `/predictions/${name}/1`, `/v1/models/${name}:predict`],
      ...[`/v2/models/${name}/infer`, `/models/${name}`, `/models/${name}/embed`],
      ...['analyze', 'predict', 'tag', 'rerank', 'embed_all', 'embed_sparse', 'zero-shot'].map(
        (route) => `/models/${name}/${route}`,
      ),
      ...['/v1/embeddings', '/v1/rerank', '/v2/rerank', '/score'],
    ];
    for (const path of paths) {
      for (const body of bodies) {
        const { status, text } = await post(service, path, { ...body, model: name });
        if (status >= 500 || /loading|not loaded/.test(text)) wrong.push({ path, status, text });
      }
    }
  }
  expect(wrong).toEqual([]);
});

it.each(['embedder', 'sparse', 'tokens', 'tagger'])(
  '/predictions/%s says that this protocol runs classifiers',
  async (name) => {
    for (const [path, body] of [
      [`/predictions/${name}`, '"a"'],
      [`/v1/models/${name}:predict`, '{"instances": ["a"]}'],
    ] as const) {
      const { status, json } = await post(service, path, JSON.parse(body));
      expect([status, json]).toEqual([
        400,
        {
          code: 400,
          type: 'BadRequestException',
          message: expect.stringMatching(
            new RegExp(
              `^Model "${name}": expected a classifier .*, found the task "[a-z-]+"\\. Send`,
            ),
          ),
        },
      ]);
    }
  },
);

describe('GET /v1/models', () => {
  const of = (name: string) => ({
    id: name,
    object: 'model',
    owned_by: 'libtorch-serve',
    created: expect.any(Number),
  });

  it('lists models for clients of OpenAI and of KServe', async () => {
    const { data } = await client(service).models.list();
    expect(data).toEqual(READY.map(of));
    const { json } = await request(service, { path: '/v1/models' });
    expect(json).toEqual({
      object: 'list',
      data: READY.map(of),
      models: [...READY, 'broken', 'z-unable'].sort(),
    });
    const now = Date.now() / 1000;
    for (const { created } of data) {
      expect(created).toBeGreaterThan(now - 3600);
      expect(created).toBeLessThanOrEqual(now);
    }
  });

  it('describes a model by each of its names', async () => {
    for (const name of ['embedder', 'text-embedding-3-small', 'waves']) {
      const found = await client(service).models.retrieve(name);
      expect(found).toEqual({ ...of(name), name, ready: true });
    }
    expect(await client(service).models.retrieve('broken')).toMatchObject({ ready: false });
    await expect(client(service).models.retrieve('nobody')).rejects.toMatchObject({ status: 404 });
  });

  it('an unknown model is an error for clients of OpenAI and of TorchServe', async () => {
    for (const at of ['', '/models/embedder']) {
      const path = `${at}/v1/models/nobody`;
      const { status, json } = await request(service, { path });
      const message = expect.stringMatching(/^Model not found: nobody\. Models: "/);
      const error = {
        message,
        type: 'invalid_request_error',
        param: 'model',
        code: 'model_not_found',
      };
      const torchServe = { code: 404, type: 'ModelNotFoundException', message };
      expect([status, json]).toEqual([404, { ...torchServe, error }]);
      await expect(client(service, at).models.retrieve('nobody')).rejects.toMatchObject({
        status: 404,
        code: 'model_not_found',
        param: 'model',
        type: 'invalid_request_error',
      });
    }
    const unknown = await request(keyed, { path: '/v1/models/rank-a' });
    expect([unknown.status, unknown.json]).toEqual([
      401,
      expect.objectContaining({ error: expect.objectContaining({ code: 'invalid_api_key' }) }),
    ]);
  });

  it('lists the one model at its address, and of a service of one model', async () => {
    const address = client(service, '/models/embedder');
    expect((await address.models.list()).data).toEqual([of('embedder')]);
    const env = { ...textModel(FIRST), MODEL_NAME: 'films' };
    const one = await startService('sentiment', { env });
    expect((await client(one).models.list()).data).toEqual([of('films')]);
    expect(await client(one).models.retrieve('films')).toMatchObject({
      name: 'films',
      ready: true,
    });
    await expect(client(one).models.retrieve('nobody')).rejects.toMatchObject({ status: 404 });
    await one.stop();
    const none = await startService('sentiment', { env: { SENTIMENT_MODEL_DIR: '/nonexistent' } });
    const { json } = await request(none, { path: '/v1/models' });
    expect(json).toEqual({ object: 'list', data: [], models: ['sentiment'] });
    await none.stop();
  });

  it('lists the models that a key is for', async () => {
    const headers = { authorization: 'Bearer a' };
    const { json } = await request(keyed, { path: '/v1/models', headers });
    expect(json).toEqual({ object: 'list', data: [of('rank-a')], models: ['rank-a'] });
  });
});
