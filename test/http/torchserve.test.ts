/** TorchServe's clients, over a directory of models. */
import { hostname } from 'node:os';
import { GrpcClient } from '../helpers/grpc';
import { type Answer, post, postRaw, type RequestOptions, request } from '../helpers/http';
import { scrape } from '../helpers/metrics';
import { FIRST, ModelsDirectory, SECOND } from '../helpers/models-directory';
import { killAll, type Service } from '../helpers/service';
import { SIGNAL } from '../helpers/services';

const TEXT = 'A warm, funny film.';
const directories: ModelsDirectory[] = [];

function newDirectory(): ModelsDirectory {
  const directory = new ModelsDirectory();
  directories.push(directory);
  return directory;
}

afterAll(async () => {
  await killAll();
  for (const { folder } of directories) folder.remove();
});

describe('inference', () => {
  let service: Service;
  /** Of TEXT, by the service's own route. */
  let expected: Readonly<Record<string, number>>;

  const predictions = (
    body: string | Buffer,
    type: string | undefined,
    options: Partial<RequestOptions> = {},
  ): Promise<Answer> =>
    postRaw(service, '/predictions/films', body, {
      ...options,
      headers: { 'content-type': type, ...options.headers },
    });

  beforeAll(async () => {
    const directory = newDirectory();
    directory.text('films', FIRST, { aliases: ['movies'] });
    directory.text('reviews/1', FIRST);
    directory.text('reviews/2', SECOND, {});
    directory.write('reviews/model.json', '{"versions": "all"}');
    directory.signal('waves');
    directory.write('broken/config.json', '{');
    service = await directory.start({ env: { GRPC_PORT: '0', BODY_LIMIT: '100000' } });
    const own = await post(service, '/models/films', { inputs: TEXT });
    const ranked = (own.json as { label: string; score: number }[][])[0] ?? [];
    expected = Object.fromEntries(ranked.map(({ label, score }) => [label, score]));
  });

  it('takes an input as TorchServe does: as it is, as JSON, in a form', async () => {
    const boundary = 'frontier';
    const form = (name: string): string =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="film.txt"\r\n` +
      `Content-Type: text/plain\r\n\r\n${TEXT}\r\n--${boundary}--\r\n`;
    const multipart = `multipart/form-data; boundary=${boundary}`;
    for (const [body, type] of [
      [TEXT, 'text/plain'],
      [TEXT, undefined],
      [TEXT, 'application/octet-stream'],
      [JSON.stringify(TEXT), 'application/json'],
      [JSON.stringify({ data: TEXT }), 'application/json; charset=utf-8'],
      [JSON.stringify({ text: TEXT }), 'application/json'],
      [form('data'), multipart],
      [form('body'), multipart],
      [`data=${encodeURIComponent(TEXT)}`, 'application/x-www-form-urlencoded'],
    ] as const) {
      const { status, json } = await predictions(body, type);
      expect([type, body, status, json]).toEqual([type, body, 200, expected]);
    }
    expect(Object.keys(expected)).toContain('joy — 喜悦');
    const put = await predictions(TEXT, undefined, { method: 'PUT' });
    expect([put.status, put.json]).toEqual([200, expected]);
    expect(Number(put.headers['x-compute-tokens'])).toBeGreaterThan(0);
  });

  it('tells what is wrong with an input in the form of TorchServe', async () => {
    for (const [body, type, message] of [
      ['{', 'application/json', 'body: is not valid JSON (at position 1)'],
      [
        '{"words": "x"}',
        'application/json',
        'body: expected a text, or an object with one as "data"',
      ],
      [Buffer.from([0xff]), 'text/plain', 'body: is not valid UTF-8'],
      [
        'x',
        'multipart/form-data; boundary=y',
        'body: is not multipart/form-data as its Content-Type says',
      ],
      ['words=x', 'application/x-www-form-urlencoded', 'body: expected a field "data" or "body"'],
    ] as const) {
      const { status, json } = await predictions(body, type);
      expect([status, json]).toEqual([400, { code: 400, type: 'BadRequestException', message }]);
    }
    const large = await predictions('x'.repeat(100_001), 'text/plain');
    expect([large.status, large.json]).toEqual([
      413,
      expect.objectContaining({ code: 413, type: 'TooLongHttpContentException' }),
    ]);
    const late = await predictions(TEXT, 'text/plain', {
      headers: { 'x-request-timeout-ms': '0' },
    });
    expect([late.status, (late.json as { code: number }).code]).toEqual([400, 400]);
  });

  it('takes windows of signals', async () => {
    const own = await post(service, '/models/waves/predict', { signal: SIGNAL });
    const { diagnosis, confidence } = own.json as { diagnosis: string; confidence: number };
    const forms = [SIGNAL, { data: SIGNAL }, { body: SIGNAL }];
    for (const body of forms.map((form) => JSON.stringify(form))) {
      for (const type of ['application/json', 'text/plain']) {
        const { status, json } = await postRaw(service, '/predictions/waves', body, {
          headers: { 'content-type': type },
        });
        expect(status).toBe(200);
        expect((json as Record<string, number>)[diagnosis]).toBeCloseTo(confidence, 4);
      }
    }
    const short = await post(service, '/predictions/waves', [1, 2, 3]);
    expect(short.json).toEqual({
      ...{ code: 400, type: 'BadRequestException' },
      message: `body: expected exactly ${SIGNAL.length} numbers, found 3`,
    });
    const odd = await post(service, '/v1/models/waves:predict', { instances: [SIGNAL, [1, null]] });
    expect([odd.status, (odd.json as { message: string }).message]).toEqual([
      400,
      'instances[1][1]: expected a number',
    ]);
  });

  it('finds models by name, alias and version, and lists what there is', async () => {
    const ask = (path: string): Promise<Answer> =>
      postRaw(service, path, TEXT, { headers: { 'content-type': 'text/plain' } });
    for (const path of ['/predictions/movies', '/predictions/films/1', '/predictions/reviews/1']) {
      const { status, json } = await ask(path);
      expect([path, status, json]).toEqual([path, 200, expected]);
    }
    const newest = await ask('/predictions/reviews');
    expect(newest.json).toEqual((await ask('/predictions/reviews/2')).json);
    expect(newest.json).not.toEqual(expected);
    for (const [path, status, type, message] of [
      [
        '/predictions/nobody',
        404,
        'ModelNotFoundException',
        'Model not found: nobody (there are broken, films, reviews, waves)',
      ],
      [
        '/predictions/reviews/7',
        404,
        'ModelVersionNotFoundException',
        'Model version: 7 does not exist for model: reviews (there are 1, 2)',
      ],
      ['/predictions/a/b/c', 404, 'ResourceNotFoundException', expect.anything()],
      [
        '/predictions/broken',
        503,
        'ServiceUnavailableException',
        expect.stringMatching(/^Model "broken" has no worker to serve inference request: config/),
      ],
    ] as const) {
      const answer = await ask(path);
      expect([path, answer.status, answer.json]).toEqual([
        path,
        status,
        { code: status, type, message },
      ]);
    }
    const { status, json, headers } = await request(service, { path: '/predictions/films' });
    expect([status, headers.allow, json]).toEqual([
      405,
      'POST, PUT',
      expect.objectContaining({ code: 405, type: 'MethodNotAllowedException' }),
    ]);
  });

  it("speaks the first version of KServe's protocol", async () => {
    const path = '/v1/models/films:predict';
    const { status, json } = await post(service, path, { instances: [TEXT, { data: TEXT }] });
    expect([status, json]).toEqual([200, { predictions: [expected, expected] }]);
    expect((await post(service, path, { instances: [] })).json).toEqual({ predictions: [] });
    expect((await post(service, path, { inputs: [] })).json).toEqual({
      ...{ code: 400, type: 'BadRequestException', message: 'instances: is required' },
    });
    const many = await post(service, path, { instances: Array.from({ length: 5000 }, () => 'x') });
    expect([many.status, (many.json as { code: number }).code]).toEqual([413, 413]);
    const unknown = await post(service, '/v1/models/nobody:predict', { instances: ['x'] });
    expect([unknown.status, unknown.json]).toEqual([
      404,
      expect.objectContaining({ code: 404, type: 'ModelNotFoundException' }),
    ]);
    const get = async (path: string) => (await request(service, { path })).json;
    expect(await get('/v1/models')).toEqual({ models: ['broken', 'films', 'reviews', 'waves'] });
    expect(await get('/v1/models/films')).toEqual({ name: 'films', ready: true });
    expect(await get('/v1/models/broken')).toEqual({ name: 'broken', ready: false });
    expect(await get('/v1/models/nobody')).toMatchObject({ code: 404 });
  });

  it('is healthy, and in the document and the metrics under the names of its routes', async () => {
    const ping = await request(service, { path: '/ping' });
    expect([ping.status, ping.json]).toEqual([200, { status: 'Healthy' }]);
    const { json } = await request(service, { path: '/openapi.json' });
    const { paths } = json as { paths: Readonly<Record<string, Readonly<Record<string, object>>>> };
    expect(Object.keys(paths['/predictions/{model}/{version}'] ?? {})).toEqual(['post', 'put']);
    expect(paths['/v1/models/{model}:predict']?.post).toMatchObject({
      parameters: expect.arrayContaining([expect.objectContaining({ name: 'model', in: 'path' })]),
    });
    const { requests } = await scrape(service);
    expect(requests['/predictions/:model 200']).toBeGreaterThan(0);
    expect(requests['/v1/models/:model:predict 200']).toBeGreaterThan(0);
    expect(Object.keys(requests).filter((route) => route.includes('nobody'))).toEqual([]);
    // The same models by the other protocols.
    const grpc = new GrpcClient(service);
    expect((await grpc.call('ModelReady', { name: 'films', version: '' }).answer).message).toEqual({
      ready: true,
    });
    grpc.close();
  });
});

it("counts under TorchServe's names beside its own", async () => {
  const directory = newDirectory();
  directory.text('films', FIRST);
  directory.text('other', SECOND);
  const service = await directory.start({ env: { EVENT_LOOPS: '2' } });
  const count = 6;
  for (let i = 0; i < count; i++) {
    const { status } = await post(service, '/predictions/films', TEXT);
    expect(status).toBe(200);
  }
  const seen = await scrape(service);
  const labels = (model: string) => ({
    ...{ model_name: model, model_version: '1', hostname: hostname() },
  });
  expect(seen.value('ts_inference_requests_total', labels('films'))).toBe(count);
  expect(seen.value('ts_inference_requests_total', labels('other'))).toBe(0);
  const of = { model: 'films', version: '1' };
  const sums = ['queue', 'tokenization', 'inference'].map(
    (what) => seen.value(`libtorch_serve_${what}_duration_seconds_sum`, of) ?? Number.NaN,
  );
  const queued = seen.value('ts_queue_latency_microseconds', labels('films'));
  expect(queued).toBeCloseTo((sums[0] as number) * 1e6, -1);
  const latency = seen.value('ts_inference_latency_microseconds', labels('films')) as number;
  const all = sums.reduce((sum, one) => sum + one, 0);
  expect(latency).toBeCloseTo(all * 1e6, -1);
  expect(latency).toBeGreaterThan(0);
});

it('is not healthy before what is required is ready', async () => {
  const directory = newDirectory();
  directory.write('needed/model.json', '{"required": true}');
  const service = await directory.start({ env: { API_KEY: 'a'.repeat(32) } });
  const { status, json } = await request(service, { path: '/ping' });
  expect([status, json]).toEqual([500, { status: 'Unhealthy' }]);
  const refused = await post(service, '/predictions/needed', 'x');
  expect([refused.status, refused.json]).toEqual([
    401,
    expect.objectContaining({ code: 401, type: 'InvalidKeyException' }),
  ]);
});

describe('management', () => {
  const directory = newDirectory();
  let service: Service;

  const manage = (method: string, path: string, body?: object): Promise<Answer> =>
    request(
      { port: service.managementPort },
      {
        ...{ method, path },
        ...(body && {
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/json' },
        }),
      },
    );
  const answered = async (method: string, path: string, body?: object) => {
    const { status, json } = await manage(method, path, body);
    return [status, json];
  };
  const status = (text: string) => ({ status: text });
  const error = (code: number, type: string, message: unknown) => [code, { code, type, message }];
  const predict = async (path: string): Promise<unknown> =>
    (
      await postRaw(service, `/predictions/${path}`, TEXT, {
        headers: { 'content-type': 'text/plain' },
      })
    ).json;

  beforeAll(async () => {
    directory.text('films', FIRST, { aliases: ['movies'] });
    directory.text('reviews/1', FIRST);
    directory.text('reviews/2', SECOND);
    directory.text('reviews/3', FIRST);
    directory.write('reviews/model.json', '{"versions": "all"}');
    service = await directory.start({ env: { MANAGEMENT_PORT: '0', EVENT_LOOPS: '2' } });
  });

  it('lists models in pages', async () => {
    const item = (name: string) => ({ modelName: name, modelUrl: name });
    expect(await answered('GET', '/models')).toEqual([
      200,
      { models: [item('films'), item('reviews')] },
    ]);
    expect(await answered('GET', '/models?limit=1')).toEqual([
      200,
      { nextPageToken: '1', models: [item('films')] },
    ]);
    expect(await answered('GET', '/models?limit=5&next_page_token=1')).toEqual([
      200,
      { models: [item('reviews')] },
    ]);
    expect(await answered('GET', '/models?limit=few')).toEqual(
      error(400, 'BadRequestException', 'limit: expected a number'),
    );
  });

  it('describes a model, a version, or all', async () => {
    const films = await manage('GET', '/models/movies');
    expect(films.json).toEqual([
      {
        ...{ modelName: 'films', modelVersion: '1', modelUrl: 'films' },
        ...{ engine: 'Torch', runtime: 'libtorch', minWorkers: 2, maxWorkers: 2 },
        ...{ batchSize: 32, maxBatchDelay: 0, responseTimeout: expect.any(Number) },
        loadedAtStartup: true,
        workers: ['9000', '9001'].map((id) => ({
          ...{ id, startTime: expect.stringMatching(/^20.*Z$/), status: 'READY' },
          ...{
            memoryUsage: expect.any(Number),
            pid: service.child.pid,
            gpu: false,
            gpuUsage: 'N/A',
          },
        })),
        jobQueueStatus: { remainingCapacity: 2048, pendingRequests: 0 },
      },
    ]);
    const versionsAt = async (path: string) =>
      ((await manage('GET', path)).json as { modelVersion: string }[]).map(
        (one) => one.modelVersion,
      );
    expect(await versionsAt('/models/reviews')).toEqual(['3']);
    expect(await versionsAt('/models/reviews/2.0')).toEqual(['2']);
    expect(await versionsAt('/models/reviews/all')).toEqual(['1', '2', '3']);
    expect(await answered('GET', '/models/reviews/9')).toEqual(
      error(
        404,
        'ModelVersionNotFoundException',
        'Model version: 9 does not exist for model: reviews (there are 1, 2, 3)',
      ),
    );
    expect(await answered('GET', '/models/nobody')).toEqual(
      error(404, 'ModelNotFoundException', 'Model not found: nobody (there are films, reviews)'),
    );
    expect(await answered('GET', '/v1/models/films')).toEqual([
      200,
      { name: 'films', ready: true },
    ]);
  });

  it('registers a folder, and again where it has changed', async () => {
    directory.text('late/1', FIRST);
    expect(
      await answered('POST', '/models?url=late.mar&initial_workers=1&synchronous=true'),
    ).toEqual([200, status('Model "late" Version: 1 registered with 1 initial workers')]);
    const before = await predict('late');
    expect(before).toEqual(await predict('films'));
    expect((await manage('GET', '/models/late')).json).toMatchObject([{ loadedAtStartup: false }]);
    expect(await answered('POST', '/models?url=late')).toEqual(
      error(409, 'ConflictStatusException', 'Model version 1 is already registered for model late'),
    );
    directory.text('late/2', SECOND);
    expect(await answered('POST', '/models', { url: 'late', model_name: 'late' })).toEqual([
      200,
      status(
        'Model "late" Version: 2 registered with 0 initial workers. ' +
          'Use scale workers API to add workers for the model.',
      ),
    ]);
    expect(await predict('late')).not.toEqual(before);
  });

  it('says why one is not registered', async () => {
    directory.write('broken/config.json', '{');
    for (const [path, told] of [
      ['/models', error(400, 'BadRequestException', 'Parameter url is required.')],
      [
        '/models?url=http://elsewhere/films.mar',
        error(
          404,
          'ModelNotFoundException',
          'Model not found: http://elsewhere/films.mar (there are broken, films, late, reviews)',
        ),
      ],
      [
        '/models?url=films&model_name=other',
        error(400, 'BadRequestException', expect.stringContaining('model_name: expected "films"')),
      ],
      [
        '/models?url=broken&synchronous=true',
        error(400, 'InvalidModelException', expect.stringContaining('config.json: is not JSON')),
      ],
      [
        '/models?url=films&initial_workers=many',
        error(400, 'BadRequestException', 'initial_workers: expected a number'),
      ],
    ] as const) {
      expect([path, ...(await answered('POST', path))]).toEqual([path, ...told]);
    }
    expect((await manage('GET', '/models/broken')).json).toMatchObject([{ workers: [] }]);
    expect((await manage('POST', '/models?url=films&initial_workers=1')).status).toBe(202);
  });

  it('accepts what is to scale', async () => {
    expect(await answered('PUT', '/models/films?min_worker=3')).toEqual([
      202,
      status('Processing worker updates...'),
    ]);
    expect(await answered('PUT', '/models/reviews/1.0?min_worker=3&synchronous=true')).toEqual([
      200,
      status('Workers scaled to 3 for model: reviews, version: 1'),
    ]);
    expect(await answered('PUT', '/models/films?min_worker=3&max_worker=1')).toEqual(
      error(400, 'BadRequestException', 'max_worker cannot be less than min_worker.'),
    );
    expect((await manage('PUT', '/models/nobody')).status).toBe(404);
  });

  it('lets another version answer, and unregisters those that do not', async () => {
    const second = await predict('reviews/2');
    expect(await predict('reviews')).not.toEqual(second);
    expect(await answered('PUT', '/models/reviews/2/set-default')).toEqual([
      200,
      status('Default version successfully updated for model "reviews" to "2"'),
    ]);
    // On each event loop.
    for (let i = 0; i < 8; i++) expect(await predict('reviews')).toEqual(second);
    expect((await manage('PUT', '/models/reviews/9/set-default')).status).toBe(404);
    for (const path of ['/models/reviews', '/models/reviews/2']) {
      expect(await answered('DELETE', path)).toEqual(
        error(
          403,
          'InvalidModelVersionException',
          'Cannot remove default version for model reviews',
        ),
      );
    }
    const unregistered = [200, status('Model "reviews" unregistered')];
    expect(await answered('DELETE', '/models/reviews/3')).toEqual(unregistered);
    expect(await predict('reviews/3')).toMatchObject({ code: 404 });
    expect(await answered('DELETE', '/models/reviews/1.0')).toEqual(unregistered);
    expect(await predict('reviews')).toEqual(second);
    expect(await answered('DELETE', '/models/reviews/2')).toEqual(unregistered);
    expect(await predict('reviews')).toMatchObject({ type: 'ModelNotFoundException' });
    expect((await manage('DELETE', '/models/reviews')).status).toBe(404);
    // The folder is still there.
    expect((await manage('POST', '/models?url=reviews')).status).toBe(200);
    expect(await predict('reviews')).not.toEqual(second);
  });

  it('is on its own port alone, which has nothing else', async () => {
    expect((await request(service, { method: 'DELETE', path: '/models/films' })).status).toBe(405);
    expect(await answered('POST', '/predictions/films')).toEqual(
      error(404, 'ResourceNotFoundException', 'There is no such path here.'),
    );
    const refused = await manage('DELETE', '/models');
    expect([refused.status, refused.headers.allow]).toEqual([405, 'GET, HEAD, POST']);
    const { json } = await manage('GET', '/openapi.json');
    const { paths } = json as { paths: Readonly<Record<string, object>> };
    expect(Object.keys(paths['/models/{model}'] ?? {}).sort()).toEqual(['delete', 'get', 'put']);
    expect(Object.keys(paths)).not.toContain('/docs');
    expect(service.logs.find(({ msg }) => msg === 'listening')).toMatchObject({
      managementPort: service.managementPort,
    });
  });

  it('ends with 0', async () => {
    expect(await service.stop()).toEqual({ code: 0, signal: null });
  });
});

it('wants a key to manage where keys are set', async () => {
  const directory = newDirectory();
  directory.text('films', FIRST);
  const key = 'a'.repeat(32);
  const service = await directory.start({ env: { API_KEY: key, MANAGEMENT_PORT: '0' } });
  const unregister = (headers: Readonly<Record<string, string>>): Promise<Answer> =>
    request({ port: service.managementPort }, { method: 'DELETE', path: '/models/films', headers });
  const refused = await unregister({});
  expect([refused.status, (refused.json as { type: string }).type]).toEqual([
    401,
    'InvalidKeyException',
  ]);
  expect((await unregister({ authorization: `Bearer ${key}` })).status).toBe(200);
});
