/** TorchServe's management API, over a directory of models. */
import { type Answer, postRaw, request } from '../helpers/http';
import { FIRST, newDirectory, removeDirectories, SECOND } from '../helpers/models-directory';
import type { Service } from '../helpers/service';

const TEXT = 'A warm, funny film.';

afterAll(removeDirectories);

describe('management', () => {
  const directory = newDirectory();
  let service: Service;

  const manage = (method: string, path: string, body?: object): Promise<Answer> =>
    request(
      { port: service.managementPort },
      {
        method,
        path,
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
    service = await directory.start({ env: { MANAGEMENT_PORT: '0' } });
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
        modelName: 'films',
        modelVersion: '1',
        modelUrl: 'films',
        engine: 'Torch',
        runtime: 'libtorch',
        minWorkers: 2,
        maxWorkers: 2,
        batchSize: 32,
        maxBatchDelay: 0,
        responseTimeout: expect.any(Number),
        loadedAtStartup: true,
        workers: ['9000', '9001'].map((id) => ({
          id,
          startTime: expect.stringMatching(/^20.*Z$/),
          status: 'READY',
          memoryUsage: expect.any(Number),
          pid: service.child.pid,
          gpu: false,
          gpuUsage: 'N/A',
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
      error(404, 'ModelNotFoundException', 'Model not found: nobody. Models: "films", "reviews"'),
    );
    expect(await answered('GET', '/v1/models/films')).toEqual([
      200,
      expect.objectContaining({ name: 'films', ready: true, id: 'films', object: 'model' }),
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
          'Model not found: http://elsewhere/films.mar. Models: "broken", "films", "late", "reviews"',
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

  it('scales by the share of the time of all threads', async () => {
    const workers = async (path: string) => {
      const [told] = (await manage('GET', path)).json as {
        minWorkers: number;
        maxWorkers: number;
      }[];
      return [told?.minWorkers, told?.maxWorkers];
    };
    expect((await manage('PUT', '/models/movies?min_worker=5&max_worker=7')).status).toBe(202);
    expect(await workers('/models/films')).toEqual([5, 7]);
    expect((await manage('PUT', '/models/films?min_worker=0')).status).toBe(202);
    expect(await workers('/models/films')).toEqual([0, 0]);
    expect(await predict('films')).toEqual(await predict('reviews/1'));
    expect((await manage('PUT', '/models/reviews/2?min_worker=4')).status).toBe(202);
    expect(await workers('/models/reviews/2')).toEqual([4, 4]);
    expect(await workers('/models/reviews')).toEqual([2, 2]);
    expect(await answered('PUT', '/models/films?min_worker=1001')).toEqual(
      error(400, 'BadRequestException', 'min_worker: expected at most 1000'),
    );
    expect(await answered('PUT', '/models/broken?min_worker=1')).toEqual(
      error(503, 'ServiceUnavailableException', 'Model "broken" is not loaded.'),
    );
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
      error(404, 'ResourceNotFoundException', 'Path not found.'),
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
