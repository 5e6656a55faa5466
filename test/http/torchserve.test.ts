/** TorchServe's inference API, over a directory of models. */
import { hostname } from 'node:os';
import { GrpcClient } from '../helpers/grpc';
import { type Answer, post, postRaw, type RequestOptions, request } from '../helpers/http';
import { scrape } from '../helpers/metrics';
import { FIRST, newDirectory, removeDirectories, SECOND } from '../helpers/models-directory';
import type { Service } from '../helpers/service';
import { SIGNAL } from '../helpers/services';

const TEXT = 'A warm, funny film.';
const INVALID_FORM = Buffer.concat([
  Buffer.from('--B\r\nContent-Disposition: form-data; name=data\r\n\r\n'),
  Buffer.from([0xff]),
  Buffer.from('\r\n--B--'),
]);

afterAll(removeDirectories);

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

  it("takes .NET's forms, a preamble and padding, and keeps a byte order mark", async () => {
    const part = (headers: string, text: string): string =>
      `--B \r\n${headers}\r\n\r\n${text}\r\n--B--\t\r\nan epilogue`;
    const type = 'multipart/form-data; boundary="B"';
    for (const [headers, before] of [
      ['Content-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name=data', ''],
      ['CONTENT-DISPOSITION: Form-Data; NAME=data', 'This is a preamble.\r\n'],
    ] as const) {
      const { status, json } = await predictions(before + part(headers, TEXT), type);
      expect([headers, status, json]).toEqual([headers, 200, expected]);
    }
    const marked = await predictions(`\ufeff${TEXT}`, 'text/plain');
    const inForm = await predictions(
      part('content-disposition: form-data; name=body', `\ufeff${TEXT}`),
      type,
    );
    expect([inForm.status, inForm.json]).toEqual([200, marked.json]);
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
        'body: is not valid multipart/form-data, although its Content-Type says so',
      ],
      ...[
        [
          Buffer.from([...Buffer.from('data='), 0xff]),
          'application/x-www-form-urlencoded',
        ] as const,
        ['data=%ff', 'application/x-www-form-urlencoded'] as const,
        [INVALID_FORM, 'multipart/form-data; boundary=B'] as const,
        [INVALID_FORM.subarray(1), 'text/plain'] as const,
      ].map(([body, type]) => [body, type, 'body: is not valid UTF-8'] as const),
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
      code: 400,
      type: 'BadRequestException',
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
        'Model not found: nobody. Models: "broken", "films", "reviews", "waves"',
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
      code: 400,
      type: 'BadRequestException',
      message: 'instances: is required',
    });
    const many = await post(service, path, { instances: Array.from({ length: 5000 }, () => 'x') });
    expect([many.status, (many.json as { code: number }).code]).toEqual([413, 413]);
    const unknown = await post(service, '/v1/models/nobody:predict', { instances: ['x'] });
    expect([unknown.status, unknown.json]).toEqual([
      404,
      expect.objectContaining({ code: 404, type: 'ModelNotFoundException' }),
    ]);
    const get = async (path: string) => (await request(service, { path })).json;
    expect(await get('/v1/models')).toMatchObject({
      models: ['broken', 'films', 'reviews', 'waves'],
    });
    expect(await get('/v1/models/films')).toMatchObject({ name: 'films', ready: true });
    expect(await get('/v1/models/broken')).toMatchObject({ name: 'broken', ready: false });
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
  const service = await directory.start();
  const count = 6;
  for (let i = 0; i < count; i++) {
    const { status } = await post(service, '/predictions/films', TEXT);
    expect(status).toBe(200);
  }
  const seen = await scrape(service);
  const labels = (model: string) => ({
    model_name: model,
    model_version: '1',
    hostname: hostname(),
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
