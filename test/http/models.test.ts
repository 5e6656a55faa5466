/** A directory of models behind one address. */
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { GrpcClient } from '../helpers/grpc';
import { type Answer, post, request } from '../helpers/http';
import { scrape } from '../helpers/metrics';
import {
  FIRST,
  modelOf,
  modelsOf,
  newDirectory,
  removeDirectories,
  SECOND,
  untilModel,
} from '../helpers/models-directory';
import { type Service, startService, textModel } from '../helpers/service';
import { SIGNAL } from '../helpers/services';

const TEXT = { text: 'A warm, funny film.' };
const TENSORS = {
  inputs: [{ name: 'TEXT', datatype: 'BYTES', shape: [1], data: [TEXT.text] }],
};
const load = (service: Service, name: string, what = 'load'): Promise<Answer> =>
  request(service, { method: 'POST', path: `/v2/repository/models/${name}/${what}` });

afterAll(removeDirectories);

describe('what is there at start', () => {
  const directory = newDirectory();
  let service: Service;
  let first: Answer;
  let second: Answer;

  beforeAll(async () => {
    directory.text('films', FIRST, { aliases: ['movies'] });
    directory.text('reviews/1', FIRST);
    directory.text('reviews/2', FIRST);
    directory.text('reviews/10', SECOND);
    directory.text('zoo', SECOND, { versions: 'all', default: true });
    directory.signal('waves');
    directory.write('broken/config.json', '{');
    directory.write('empty/notes.txt', 'nothing');
    directory.write('odd/model.json', '{"weight": "all"}');
    directory.write('.hidden/config.json', '{}');
    directory.write('no name/config.json', '{}');
    symlinkSync('/etc', path.join(directory.path, 'outside'));
    service = await directory.start({ env: { GRPC_PORT: '0' } });
    const [one, two] = await Promise.all([
      startService('sentiment', { env: textModel(FIRST) }),
      startService('sentiment', { env: textModel(SECOND) }),
    ]);
    first = await post(one, '/analyze', TEXT);
    second = await post(two, '/analyze', TEXT);
  });

  it('is in /info: what serves, and why others do not', async () => {
    const models = await modelsOf(service);
    const told = models.map(({ name, serving, task, reason }) => [name, serving, task, reason]);
    expect(told).toEqual([
      ['broken', null, null, expect.stringMatching(/^config\.json: is not JSON/)],
      [
        'empty',
        null,
        null,
        expect.stringMatching(/^expected config\.json next to its weights, or one/),
      ],
      ['films', '1', 'text-classification', null],
      ['odd', null, null, expect.stringMatching(/^model\.json: .*weight/)],
      ['outside', null, null, 'outside: is a link that leads out of the directory of models'],
      ['reviews', '10', 'text-classification', null],
      ['waves', '1', 'signal-classification', null],
      ['zoo', '1', 'text-classification', null],
    ]);
    expect(models.filter((model) => model.default).map(({ name }) => name)).toEqual([
      'waves',
      'zoo',
    ]);
    expect(service.logs.filter(({ msg }) => msg.includes('"no name"'))).toHaveLength(1);
    const seen = await scrape(service);
    expect(seen.byLabel('libtorch_serve_model_loaded', 'model')).toEqual({
      broken: 0,
      empty: 0,
      odd: 0,
      outside: 0,
      films: 1,
      reviews: 1,
      waves: 1,
      zoo: 1,
    });
    expect(seen.byLabel('libtorch_serve_model_load_failed', 'model')).toEqual({
      broken: 1,
      empty: 1,
      odd: 1,
      outside: 1,
      films: 0,
      reviews: 0,
      waves: 0,
      zoo: 0,
    });
  });

  it('has each model below an address of its own, by all of its names and versions', async () => {
    for (const [address, expected] of [
      ['/models/films', first],
      ['/models/movies', first],
      ['/models/films/versions/1', first],
      ['/models/reviews', second],
      ['/models/reviews/versions/10', second],
    ] as const) {
      const { status, text } = await post(service, `${address}/analyze`, TEXT);
      expect([address, status, text]).toEqual([address, 200, expected.text]);
    }
    const tagged = await post(service, '/models/films', { inputs: TEXT.text });
    expect(tagged.json).toEqual([
      expect.arrayContaining([expect.objectContaining({ label: expect.any(String) })]),
    ]);
    const info = await request(service, { path: '/models/films/info' });
    expect(info.json).toMatchObject({ service: 'models', model: { name: 'films', loaded: true } });
    const document = await request(service, { path: '/models/waves/openapi.json' });
    const { servers, paths } = document.json as { servers: object; paths: object };
    expect(servers).toEqual([{ url: '/models/waves' }]);
    expect(paths).toHaveProperty(['/predict']);
    for (const [path, methods] of Object.entries(paths)) {
      if (!('get' in methods)) continue;
      const named = path.replace('{model}', 'waves');
      const { status } = await request(service, { path: `/models/waves${named}` });
      // A WebSocket is asked for an upgrade.
      expect([path, status]).toEqual([path, path === '/stream' ? 426 : 200]);
    }
  });

  it('answers without a name by the default model of the task', async () => {
    expect((await post(service, '/analyze', TEXT)).text).toBe(second.text);
    const predicted = await post(service, '/predict', { signal: SIGNAL });
    expect(predicted.status).toBe(200);
    expect((await post(service, '/', { inputs: TEXT.text })).status).toBe(200);
  });

  it('has all in the Open Inference Protocol, over HTTP and gRPC', async () => {
    const body = { inputs: [{ name: 'TEXT', datatype: 'BYTES', shape: [1], data: [TEXT.text] }] };
    const label = (answer: Answer) =>
      (answer.json as { outputs: { data: unknown[] }[] }).outputs[0]?.data[0];
    for (const [path, version, expected] of [
      ['films', '1', first],
      ['reviews', '10', second],
      ['zoo/versions/1', '1', second],
    ] as const) {
      const answer = await post(service, `/v2/models/${path}/infer`, body);
      expect(answer.json).toMatchObject({ model_name: path.split('/')[0], model_version: version });
      expect(label(answer)).toBe((expected.json as { label: string }).label);
    }
    expect((await request(service, { path: '/v2/models/reviews' })).json).toMatchObject({
      name: 'reviews',
      versions: ['10'],
    });
    expect((await request(service, { path: '/v2/models/broken/ready' })).status).toBe(503);
    const index = await request(service, { method: 'POST', path: '/v2/repository/index' });
    expect(index.json).toContainEqual({ name: 'films', version: '1', state: 'READY' });
    const grpc = new GrpcClient(service);
    const listed = await grpc.call('RepositoryIndex', { ready: true }).answer;
    expect(listed.message).toMatchObject({
      models: expect.arrayContaining([
        { name: 'reviews', version: '10', state: 'READY', reason: '' },
      ]),
    });
    const ready = (name: string) => grpc.call('ModelReady', { name, version: '' }).answer;
    expect((await ready('films')).message).toEqual({ ready: true });
    expect((await ready('broken')).message).toEqual({ ready: false });
    expect((await ready('nobody')).status).toBe('NOT_FOUND');
    grpc.close();
  });

  it('lists what there is to those who ask for something else', async () => {
    const paths = [
      '/models/nobody/analyze',
      '/v2/models/nobody/infer',
      '/models/films/versions/7/analyze',
    ];
    for (const path of paths) {
      const { status, text } = await post(service, path, TEXT);
      expect([path, status]).toEqual([path, 404]);
      expect(text).toContain('films');
    }
  });

  it('is ready, since nothing is required that is missing', async () => {
    expect((await request(service, { path: '/ready' })).status).toBe(200);
  });
});

describe('changes', () => {
  const directory = newDirectory();
  let service: Service;
  const answerOf = async () => (await post(service, '/models/films/analyze', TEXT)).text;

  beforeAll(async () => {
    directory.text('films/1', FIRST);
    directory.text('other', FIRST);
    service = await directory.start();
  });

  it('a version that came takes over, and one that went leaves it to the one before', async () => {
    const before = await answerOf();
    directory.text('films/2', SECOND);
    expect(await answerOf()).toBe(before);
    expect((await load(service, 'films')).status).toBe(200);
    expect((await modelOf(service, 'films'))?.serving).toBe('2');
    const after = await answerOf();
    expect(after).not.toBe(before);
    directory.remove('films/2');
    expect((await load(service, 'films')).status).toBe(200);
    expect(await answerOf()).toBe(before);
  });

  it('one that fails changes nothing and says why', async () => {
    const before = await answerOf();
    directory.write('films/1/config.json', '{"model_type": "bert", "num_labels": -1}');
    const { status, json } = await load(service, 'films');
    expect([status, json]).toEqual([400, { error: expect.stringContaining('num_labels') }]);
    expect(await answerOf()).toBe(before);
    expect((await modelOf(service, 'films'))?.versions).toEqual([
      { version: '1', state: 'ready', reason: expect.stringContaining('num_labels') },
    ]);
    const state = async () => {
      const seen = await scrape(service);
      return ['loaded', 'load_failed'].map((what) =>
        seen.value(`libtorch_serve_model_${what}`, { model: 'films', version: '1' }),
      );
    };
    expect(await state()).toEqual([1, 1]);
    directory.text('films/1', FIRST);
    expect((await load(service, 'films')).status).toBe(200);
    expect(await state()).toEqual([1, 0]);
  });

  it('a higher version that fails leaves it to the one before, after a restart as well', async () => {
    const before = await answerOf();
    directory.write('films/3/config.json', '{');
    const { status, json } = await load(service, 'films');
    expect([status, json]).toEqual([400, { error: expect.stringContaining('version 3') }]);
    expect(await answerOf()).toBe(before);
    const again = await directory.start();
    for (const one of [service, again]) {
      expect((await modelOf(one, 'films'))?.versions).toEqual([
        { version: '1', state: 'ready', reason: null },
        { version: '3', state: 'failed', reason: expect.stringContaining('config.json') },
      ]);
    }
    again.kill('SIGKILL'); // in the middle of whatever it does: nothing is kept outside of the folders
    directory.remove('films/3');
    expect((await load(service, 'films')).status).toBe(200);
  });

  it('is unloaded and loaded by name, by fifty at once', async () => {
    const changes = Array.from({ length: 50 }, (_, i) =>
      load(service, 'other', i % 2 ? 'unload' : 'load'),
    );
    for (const { status } of await Promise.all(changes)) expect([200, 400]).toContain(status);
    expect((await load(service, 'other')).status).toBe(200);
    expect((await post(service, '/models/other/analyze', TEXT)).status).toBe(200);
    expect((await load(service, 'other', 'unload')).status).toBe(200);
    expect((await post(service, '/models/other/analyze', TEXT)).status).toBe(404);
    expect((await load(service, 'other', 'unload')).status).toBe(400);
    expect((await load(service, '..%2fother')).status).toBe(400);
  });

  it('each line of the log names the model and the version that a request came to', async () => {
    directory.text('late', FIRST, { aliases: ['later'] });
    await load(service, 'late');
    const { inputs } = TENSORS;
    for (const [path, body] of [
      ['/models/later/analyze', TEXT],
      ['/models/late/versions/1', { inputs: TEXT.text }],
      ['/v2/models/late/infer', { inputs }],
      ['/predictions/later', TEXT],
      ['/v1/models/late:predict', { instances: [TEXT] }],
    ] as const) {
      const { headers } = await post(service, path, body);
      const { model, version } = await service.lineOf(String(headers['x-request-id']));
      expect([path, model, version]).toEqual([path, 'late', '1']);
    }
    const { headers } = await post(service, '/models/nobody/analyze', TEXT);
    expect(await service.lineOf(String(headers['x-request-id']))).not.toHaveProperty('model');
    directory.remove('late');
    await load(service, 'late', 'unload');
  });

  it('all folders are looked at again on SIGHUP', async () => {
    directory.text('late', SECOND);
    service.kill('SIGHUP');
    await untilModel(service, 'late', 'serves', (model) => model?.serving === '1');
    directory.remove('late');
    service.kill('SIGHUP');
    await untilModel(service, 'late', 'has gone', (model) => model === undefined);
  });

  it('ends with 0', async () => {
    expect(await service.stop()).toEqual({ code: 0, signal: null });
  });
});

it('takes up what changes in the folders with MODELS_WATCH', async () => {
  const directory = newDirectory();
  directory.text('films', FIRST);
  const service = await directory.start({ env: { MODELS_WATCH: 'true' } });
  const before = (await post(service, '/models/films/analyze', TEXT)).text;
  directory.text('films', SECOND);
  directory.text('new', FIRST);
  await untilModel(service, 'new', 'serves', (model) => model?.serving === '1');
  await service.waitForLog(({ msg, model }) => msg === 'model unloaded' && model === 'films');
  expect((await post(service, '/models/films/analyze', TEXT)).text).not.toBe(before);
  expect((await post(service, '/models/new/analyze', TEXT)).text).toBe(before);
});

it('gives a name that two would have to the folder of that name, and says so', async () => {
  const directory = newDirectory();
  directory.text('films', FIRST, { aliases: ['movies', 'zoo', 'movies'] });
  directory.text('movies', SECOND, { aliases: ['zoo', 'films'] });
  const service = await directory.start();
  expect((await modelOf(service, 'films'))?.aliases).toEqual(['zoo']);
  expect((await modelOf(service, 'movies'))?.aliases).toEqual([]);
  const answers = await Promise.all(
    ['films', 'zoo', 'movies'].map((name) => post(service, `/models/${name}/analyze`, TEXT)),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  const [films, zoo, movies] = answers.map(({ text }) => text);
  expect([zoo === films, movies === films]).toEqual([true, false]);
  const { status, text } = await load(service, 'movies');
  expect([status, text]).toEqual([400, expect.stringContaining('another model has the name')]);
});

it('is not ready before all that are required are, and says which is not', async () => {
  const directory = newDirectory();
  directory.text('films', FIRST);
  directory.write('needed/model.json', '{"required": true}');
  const service = await directory.start();
  const { status, text } = await request(service, { path: '/ready' });
  expect(status).toBe(503);
  expect(text).toMatch(/Model needed is not ready: expected config\.json next to/);
  directory.text('needed', FIRST, { required: true });
  expect((await load(service, 'needed')).status).toBe(200);
  expect((await request(service, { path: '/ready' })).status).toBe(200);
});

it('gives the model of a single service the name that it is to have', async () => {
  const service = await startService('sentiment', {
    env: { ...textModel(FIRST), MODEL_NAME: 'films' },
  });
  const { json } = await request(service, { path: '/v2/models/films' });
  expect(json).toMatchObject({ name: 'films' });
  expect((await post(service, '/models/films', { inputs: 'x' })).status).toBe(200);
  const info = await request(service, { path: '/info' });
  expect(info.json).toMatchObject({ service: 'sentiment', model: { name: 'films' } });
});

it('counts what the queue of a model refused as its own', async () => {
  const directory = newDirectory();
  directory.text('films', FIRST);
  directory.text('narrow', FIRST, { max_queue_requests: 2 });
  const service = await directory.start();
  const texts = Array.from({ length: 3 }, () => TEXT.text);
  const [refused, taken] = await Promise.all(
    ['narrow', 'films'].map((name) => post(service, `/models/${name}/analyze/batch`, { texts })),
  );
  expect([refused?.status, taken?.status]).toEqual([503, 200]);
  const seen = await scrape(service);
  const refusals = (model: string, reason: string): number | undefined =>
    seen.value('libtorch_serve_queue_rejected_requests_total', { model, version: '1', reason });
  expect([refusals('narrow', 'queue_full'), refusals('narrow', 'queue_wait')]).toEqual([1, 0]);
  expect(refusals('films', 'queue_full')).toBe(0);
});

it('a model named as a route hides no route', async () => {
  const directory = newDirectory();
  for (const name of ['stats', 'ready', 'versions', 'infer']) directory.text(name, FIRST);
  const service = await directory.start();
  const { json } = await request(service, { path: '/v2/models/stats' });
  const { model_stats } = json as { readonly model_stats: readonly { readonly name: string }[] };
  expect(model_stats.map(({ name }) => name)).toEqual(['infer', 'ready', 'stats', 'versions']);
  // What is hidden of the model has another path.
  const versions = await request(service, { path: '/v2/models/stats/versions/1' });
  expect(versions.json).toMatchObject({ name: 'stats', versions: ['1'] });
  const inputs = [{ name: 'TEXT', datatype: 'BYTES', shape: [1], data: ['good'] }];
  for (const name of ['stats', 'ready', 'versions', 'infer']) {
    const path = `/v2/models/${name}`;
    expect((await post(service, `${path}/infer`, { inputs })).status).toBe(200);
    expect((await request(service, { path: `${path}/ready` })).status).toBe(200);
    const stats = await request(service, { path: `${path}/stats` });
    expect(stats.json).toMatchObject({ model_stats: [{ name }] });
  }
});
