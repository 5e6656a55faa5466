/** Keys that are for some models, or for their management. */
import { Folder } from '../helpers/files';
import { GrpcClient, textRequest } from '../helpers/grpc';
import { type Answer, request } from '../helpers/http';
import { FIRST, newDirectory, removeDirectories, SECOND } from '../helpers/models-directory';
import { type Service, startService, textModel } from '../helpers/service';
import { SIGNAL } from '../helpers/services';

const ALL = 'the-key-for-everything';
const FILMS = 'the-key-for-the-films';
const ASKING = 'the-key-to-ask-all-models';
const MANAGING = 'the-key-for-management';
const KEYS = [
  ALL,
  `${FILMS} models=movies,waves,to-come`,
  `${ASKING} models=*`,
  `${MANAGING} management`,
];
const TEXT = 'A warm, funny film.';
const NOT_THIS_MODEL = 'The scope of the API key does not include this model.';
const NOT_FOR_MANAGEMENT = 'The scope of the API key does not include management.';
const NOT_FOR_ALL = 'The API key is limited to some models, but this path reports all models.';

const folder = new Folder();

afterAll(async () => {
  await removeDirectories();
  folder.remove();
});

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

describe('of a directory of models', () => {
  const directory = newDirectory();
  let service: Service;

  const ask = (key: string, method: string, path: string, body?: unknown): Promise<Answer> =>
    request(service, {
      method,
      path,
      headers: {
        ...bearer(key),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const manage = (key: string, method: string, path: string): Promise<Answer> =>
    request({ port: service.managementPort }, { method, path, headers: bearer(key) });
  const get = (key: string, path: string) => ask(key, 'GET', path);

  beforeAll(async () => {
    directory.text('films', FIRST, { aliases: ['movies'], default: true });
    directory.text('secret', SECOND);
    directory.signal('waves');
    const keys = folder.put('keys', KEYS.join('\n'));
    service = await directory.start({
      env: { API_KEYS_FILE: keys, GRPC_PORT: '0', MANAGEMENT_PORT: '0' },
    });
  });

  const tensors = {
    inputs: [{ name: 'TEXT', datatype: 'BYTES', shape: [1], data: [TEXT] }],
  };
  /** In each protocol, by the name of a model: its body, and its form of an error. */
  const asking = [
    ['/models/NAME/analyze', { text: TEXT }, (told: string) => ({ detail: told })],
    ['/models/NAME/analyze/batch', { texts: [TEXT] }, (told: string) => ({ detail: told })],
    ['/models/NAME', { inputs: TEXT }, (told: string) => ({ error: told })],
    // Below the address of a window classifier it is another protocol's: the form tells no one from the other.
    ['/models/NAME/predict', { inputs: TEXT }, (told: string) => ({ detail: told })],
    ['/v2/models/NAME/infer', tensors, (told: string) => ({ error: told })],
    ['/v2/models/NAME/versions/1/infer', tensors, (told: string) => ({ error: told })],
    ['/models/NAME/v2/models/NAME/infer', tensors, (told: string) => ({ error: told })],
    ['/predictions/NAME', TEXT, torchServe],
    ['/predictions/NAME/1', TEXT, torchServe],
    ['/v1/models/NAME:predict', { instances: [TEXT] }, torchServe],
  ] as const;
  function torchServe(told: string): object {
    return { code: 403, type: 'InvalidKeyException', message: told };
  }

  it('asks the models that a key is for, by any of their names, and no others', async () => {
    for (const [path, body, told] of asking) {
      for (const name of ['films', 'movies']) {
        if (
          name === 'movies' &&
          path.includes('/v2/models/NAME/infer') &&
          path.startsWith('/models')
        )
          continue; // there it has one name
        const { status } = await ask(FILMS, 'POST', path.replaceAll('NAME', name), body);
        expect([path, name, status]).toEqual([path, name, 200]);
      }
      expect((await ask(ASKING, 'POST', path.replaceAll('NAME', 'secret'), body)).status).toBe(200);
      const managing = await ask(MANAGING, 'POST', path.replaceAll('NAME', 'films'), body);
      expect([path, managing.status]).toEqual([path, 403]);
      const refused = await ask(FILMS, 'POST', path.replaceAll('NAME', 'secret'), body);
      expect([path, refused.status, refused.json]).toEqual([path, 403, told(NOT_THIS_MODEL)]);
    }
  });

  it('does not tell a model that there is from one that there is not', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
      for (const [path] of [
        ...asking,
        ['/models/NAME/info'],
        ['/models/NAME/nothing'],
        ['/models/NAME/openapi.json'],
        ['/v2/models/NAME'],
        ['/v2/models/NAME/ready'],
        ['/v2/models/NAME/config'],
        ['/v2/models/NAME/stats'],
        ['/v1/models/NAME'],
      ] as const) {
        const [there, not] = await Promise.all(
          ['secret', 'nobody'].map((name) => ask(FILMS, method, path.replaceAll('NAME', name))),
        );
        expect([method, path, there?.status]).toEqual([method, path, 403]);
        expect([method, path, not?.status, not?.text]).toEqual([method, path, 403, there?.text]);
      }
    }
    // However it is written.
    expect((await ask(FILMS, 'POST', '/predictions/%73ecret', TEXT)).status).toBe(403);
    expect((await ask(FILMS, 'POST', '/v1/models/%73ecret:predict', {})).status).toBe(403);
  });

  it('lists the models that a key is for', async () => {
    const names = async (key: string) => {
      const info = (await get(key, '/info')).json as { models: { name: string }[] };
      const { models } = (await get(key, '/v1/models')).json as { models: string[] };
      const stats = (await get(key, '/v2/models/stats')).json as {
        model_stats: { name: string }[];
      };
      const index = (await ask(key, 'POST', '/v2/repository/index')).json as { name: string }[];
      const lists = [
        info.models.map(({ name }) => name),
        models,
        stats.model_stats.map(({ name }) => name),
        index.map(({ name }) => name),
      ];
      for (const list of lists) expect(list).toEqual(lists[0]);
      return lists[0];
    };
    expect(await names(FILMS)).toEqual(['films', 'waves']);
    for (const key of [ALL, ASKING, MANAGING]) {
      expect(await names(key)).toEqual(['films', 'secret', 'waves']);
    }
    // Errors list as much.
    for (const path of ['/nothing', '/v2/nothing', '/v2/models/to-come', '/predictions/to-come']) {
      const { status, text } = await ask(FILMS, 'POST', path, TEXT);
      expect([path, status, text]).toEqual([path, 404, expect.not.stringContaining('secret')]);
    }
    expect((await get(FILMS, '/models/films/nothing')).json).toEqual({
      detail: 'Path not found: models are films, waves.',
    });
    for (const path of ['/metrics', '/openapi.json']) {
      const { status, json } = await get(FILMS, path);
      expect([path, status, json]).toEqual([path, 403, { detail: NOT_FOR_ALL }]);
      for (const key of [ALL, ASKING, MANAGING]) expect((await get(key, path)).status).toBe(200);
    }
    expect((await get(FILMS, '/models/films/openapi.json')).status).toBe(200);
  });

  it('asks the default models with keys that are for them', async () => {
    expect((await ask(FILMS, 'POST', '/analyze', { text: TEXT })).status).toBe(200);
    expect((await ask(FILMS, 'POST', '/', { inputs: TEXT })).status).toBe(200);
    expect((await ask(MANAGING, 'POST', '/analyze', { text: TEXT })).json).toEqual({
      detail: NOT_THIS_MODEL,
    });
    expect((await ask(FILMS, 'POST', '/models/waves/predict', { signal: SIGNAL })).status).toBe(
      200,
    );
  });

  it('converts tokens with keys that are for the model', async () => {
    for (const [path, body] of [
      ['tokenize', { inputs: TEXT }],
      ['decode', { ids: [5] }],
      ['detokenize', { tokens: [5] }],
    ] as const) {
      const statusOf = async (key: string, name: string) =>
        (await ask(key, 'POST', `/${path}`, { ...body, model: name })).status;
      expect([path, await statusOf(FILMS, 'movies')]).toEqual([path, 200]);
      expect([path, await statusOf(FILMS, 'secret')]).toEqual([path, 403]);
      expect([path, await statusOf(MANAGING, 'films')]).toEqual([path, 403]);
    }
  });

  it('loads and unloads with keys that are for management', async () => {
    for (const key of [FILMS, ASKING]) {
      for (const path of ['films/load', 'secret/unload', 'nobody/load']) {
        const { status, json } = await ask(key, 'POST', `/v2/repository/models/${path}`);
        expect([status, json]).toEqual([403, { error: NOT_FOR_MANAGEMENT }]);
      }
      for (const path of [
        '/models',
        '/models/films',
        '/nothing',
        '/openapi.json',
        '/v1/models/films',
      ]) {
        const { status, json } = await manage(key, 'GET', path);
        expect([path, status, json]).toMatchObject([path, 403, {}]);
      }
      expect((await manage(key, 'DELETE', '/models/films')).json).toEqual(
        torchServe(NOT_FOR_MANAGEMENT),
      );
    }
    expect((await manage(MANAGING, 'GET', '/models/secret')).status).toBe(200);
    expect((await manage(MANAGING, 'DELETE', '/models/waves')).status).toBe(200);
    expect((await ask(MANAGING, 'POST', '/v2/repository/models/waves/load')).status).toBe(200);
    expect((await get(MANAGING, '/v1/models/secret')).status).toBe(403); // it is told on its port
  });

  it('holds where the body names the model', async () => {
    const embed = (model: string) => ask(FILMS, 'POST', '/v1/embeddings', { model, input: TEXT });
    for (const model of ['secret', 'nobody']) {
      const { status, json } = await embed(model);
      expect([status, json]).toMatchObject([403, { error: { message: NOT_THIS_MODEL } }]);
    }
    // It is for these, of which neither gives vectors.
    for (const model of ['movies', 'to-come']) {
      const { status, text } = await embed(model);
      expect([status, text]).toEqual([404, expect.not.stringContaining('secret')]);
    }
  });

  it('holds over gRPC, where the message names the model', async () => {
    const grpc = new GrpcClient(service);
    const call = async (key: string, method: string, message: object = {}) => {
      const {
        status,
        details,
        message: answer,
      } = await grpc.call(method, message, {
        metadata: bearer(key),
      }).answer;
      return { status, details, answer };
    };
    const infer = (name: string) => ({ ...textRequest(TEXT), model_name: name });
    expect((await call(FILMS, 'ModelInfer', infer('movies'))).status).toBe('OK');
    expect((await call(ASKING, 'ModelInfer', infer('secret'))).status).toBe('OK');
    const refused = { status: 'PERMISSION_DENIED', details: NOT_THIS_MODEL, answer: undefined };
    for (const name of ['secret', 'nobody']) {
      expect(await call(FILMS, 'ModelInfer', infer(name))).toEqual(refused);
      for (const method of ['ModelReady', 'ModelMetadata', 'ModelConfig', 'ModelStatistics']) {
        expect(await call(FILMS, method, { name, version: '' })).toEqual(refused);
      }
    }
    expect(await call(MANAGING, 'ModelInfer', infer('films'))).toEqual(refused);
    for (const method of ['RepositoryModelLoad', 'RepositoryModelUnload']) {
      expect(await call(ASKING, method, { model_name: 'films' })).toMatchObject({
        status: 'PERMISSION_DENIED',
        details: NOT_FOR_MANAGEMENT,
      });
    }
    expect((await call(MANAGING, 'RepositoryModelLoad', { model_name: 'films' })).status).toBe(
      'OK',
    );
    const index = await call(FILMS, 'RepositoryIndex');
    const listed = index.answer?.models as readonly { name: string }[] | undefined;
    expect(listed?.map(({ name }) => name)).toEqual(['films', 'waves']);
    const stats = await call(FILMS, 'ModelStatistics', { name: '', version: '' });
    expect(JSON.stringify(stats.answer)).not.toContain('secret');
    const missing = await call(FILMS, 'ModelReady', { name: 'to-come', version: '' });
    expect(missing).toMatchObject({
      status: 'NOT_FOUND',
      details: 'model: no model "to-come". Models: "films", "waves"',
    });
    grpc.close();
  });

  it('follows an alias that moves', async () => {
    directory.text('films', FIRST, { default: true });
    await ask(ALL, 'POST', '/v2/repository/models/films/load');
    expect((await ask(FILMS, 'POST', '/models/films/analyze', { text: TEXT })).status).toBe(403);
    expect((await ask(FILMS, 'POST', '/analyze', { text: TEXT })).status).toBe(403);
    directory.text('to-come', FIRST);
    await ask(ALL, 'POST', '/v2/repository/models/to-come/load');
    const { status } = await ask(FILMS, 'POST', '/models/to-come/analyze', { text: TEXT });
    expect(status).toBe(200);
  });

  it('refuses before the body is read, and says so in the log', async () => {
    const { status, headers } = await request(service, {
      method: 'POST',
      path: '/models/secret/analyze',
      body: '{',
      headers: { ...bearer(FILMS), expect: '100-continue', 'content-type': 'application/json' },
    });
    expect([status, headers.connection]).toEqual([403, 'close']);
    const line = await service.lineOf(String(headers['x-request-id']));
    expect(line).toMatchObject({ status: 403, route: '/models/secret/analyze' });
  });
});

it('is for the one model of a service by its name', async () => {
  const keys = folder.put(
    'single',
    [ALL, `${FILMS} models=films`, 'x models=sentiment'].join('\n'),
  );
  const service = await startService('sentiment', {
    env: { ...textModel(FIRST), API_KEYS_FILE: keys, MODEL_NAME: 'films' },
  });
  const statuses = (key: string) =>
    Promise.all(
      ['/info', '/metrics', '/openapi.json', '/v2/models/films', '/nothing'].map(
        async (path) => (await request(service, { path, headers: bearer(key) })).status,
      ),
    );
  expect(await statuses(FILMS)).toEqual([200, 200, 200, 200, 404]);
  expect(await statuses(ALL)).toEqual([200, 200, 200, 200, 404]);
  expect(await statuses('x')).toEqual([403, 403, 403, 403, 403]);
  expect(await service.stop()).toEqual({ code: 0, signal: null });
});
