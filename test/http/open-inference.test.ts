import zlib from 'node:zlib';
import { Documented } from '../helpers/documented';
import { startHolding } from '../helpers/holding';
import { type Answer, post, postRaw, request } from '../helpers/http';
import { type Scrape, scrape, untilQueued, untilScraped } from '../helpers/metrics';
import { killAll, type Service, startService } from '../helpers/service';
import { SERVICE_CASES, SIGNAL } from '../helpers/services';

const TAG = 'Open Inference Protocol';
const MEBIBYTE = 1024 ** 2;
const TEXTS = { name: 'TEXT', datatype: 'BYTES', shape: [2], data: ['A quiet film.', 'Dull.'] };
const WINDOWS = { name: 'SIGNAL', datatype: 'FP64', shape: [1, 256], data: SIGNAL };

const CASES = SERVICE_CASES.map((one) => ({
  ...one,
  base: `/v2/models/${one.name}`,
  body: { inputs: [one.name === 'sentiment' ? TEXTS : WINDOWS] },
}));

afterAll(killAll);

function expectError(answer: Answer, status: number, message: string | RegExp): void {
  const error = typeof message === 'string' ? message : expect.stringMatching(message);
  expect([answer.status, answer.json]).toEqual([status, { error }]);
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
}

describe.each(CASES)('the $name service', ({ name, base, body, options, unloadable }) => {
  let service: Service;
  let unloaded: Service;
  /** It has a queue of one, and a deadline that passes in it. */
  let holding: Service;
  let documented: Documented;
  const paths = [base, `${base}/versions/1`];

  beforeAll(async () => {
    service = await startService(name, options);
    unloaded = await startService(name, { env: unloadable });
    const env = { MAX_QUEUE_REQUESTS: '1', MAX_QUEUE_DELAY_MS: '5000', REQUEST_TIMEOUT_MS: '1000' };
    holding = await startService(name, { ...options, env: { ...options.env, ...env } });
    documented = await Documented.of(service, ({ tags }) => tags[0] === TAG);
  });

  const get = async (from: Service, path: string): Promise<Answer> =>
    documented.note('GET', path, await request(from, { path }));

  it('answers by GET as its document says', async () => {
    for (const path of ['/v2', '/v2/health/live', '/v2/models/stats']) {
      expect((await get(service, path)).status).toBe(200);
      expect((await get(unloaded, path)).status).toBe(200);
    }
    expect((await get(service, '/v2/health/ready')).json).toEqual({ ready: true });
    for (const path of paths) {
      expect((await get(service, `${path}/ready`)).json).toEqual({ name, ready: true });
      expect((await get(service, `${path}/stats`)).status).toBe(200);
      expect((await get(unloaded, `${path}/stats`)).json).toEqual({ model_stats: [] });
      expect((await get(service, path)).json).toMatchObject({ name, versions: ['1'] });
      expect((await get(service, `${path}/config`)).json).toMatchObject({ name });
    }
    const failing = ['', '/ready', '/config'].flatMap((more) => paths.map((path) => path + more));
    for (const path of ['/v2/health/ready', ...failing]) {
      expectError(await get(unloaded, path), 503, /^Model is not loaded: /);
    }
  });

  it('answers inference as its document says', async () => {
    for (const path of paths.map((one) => `${one}/infer`)) {
      const written = documented.operation('POST', path).requestBody?.content['application/json'];
      documented.expectToFit(written?.example, written?.schema.$ref as string);
      documented.expectToFit(body, written?.schema.$ref as string);
      const json = JSON.stringify(written?.example);
      const send = async (to: Service, text: string, headers = {}): Promise<Answer> =>
        documented.note('POST', path, await postRaw(to, path, text, { headers }));

      const answer = await send(service, json);
      expect(answer.json).toMatchObject({ id: '42', model_name: name, model_version: '1' });
      expect(answer.headers['x-inference-time']).toBeTruthy();
      expectError(await send(service, '{}'), 400, 'inputs: is required');
      const tooLarge = `The body exceeds the limit of ${MEBIBYTE} bytes.`;
      expectError(await send(service, json.padEnd(MEBIBYTE + 1)), 413, tooLarge);
      const unknown = { 'content-encoding': 'compress' };
      expectError(await send(service, json, unknown), 415, /^The Content-Encoding must be /);
      expectError(await send(unloaded, json), 503, /^Model is not loaded: /);
      expectError(await send(unloaded, '{}'), 400, 'inputs: is required');
      const held = await Promise.all(Array.from({ length: 4 }, () => send(holding, json)));
      expect(new Set(held.map(({ status }) => status))).toEqual(new Set([503, 504]));
      for (const { status, headers } of held) expect('retry-after' in headers).toBe(status === 503);
    }
  });

  it('documents nothing that has not been seen', () => {
    documented.expectAllSeen();
  });

  it('takes any Content-Type, or none', async () => {
    for (const type of ['application/octet-stream', 'text/plain', undefined]) {
      const headers = { 'content-type': type };
      expect((await post(service, `${base}/infer`, body, { headers })).status).toBe(200);
    }
  });

  it('tells what is not there in its own form', async () => {
    const unknown = `Path not found: the model is "${name}", its one version "1".`;
    for (const path of ['/v2/', '/v2/models', '/v2/models/other', `${base}/versions/2`]) {
      expectError(await request(service, { path }), 404, unknown);
    }
    for (const path of ['/v2/models/other/infer', `${base}/versions/2/infer`]) {
      expectError(await post(service, path, body), 404, unknown);
    }
    expectError(await request(service, { path: `${base}/infer` }), 405, /POST/);
    expectError(await post(service, '/v2', {}), 405, /GET, HEAD/);
  });

  it('refuses more elements than MAX_LIST_LENGTH, before it reads them', async () => {
    const [input] = body.inputs;
    const shape = [1025, ...(input?.shape.slice(1) ?? [])];
    const list = { inputs: [{ ...input, shape, data: [] }] };
    const message = `${input?.name}: 1025 elements exceed the limit of 1024.`;
    expectError(await post(service, `${base}/infer`, list), 413, message);
    const endless = [Number.MAX_SAFE_INTEGER, ...shape.slice(1)];
    const answer = await post(service, `${base}/infer`, { inputs: [{ ...input, shape: endless }] });
    expectError(answer, 413, /elements exceed the limit of 1024\.$/);
  });

  it('compresses large answers as the client wants them, and no small ones', async () => {
    const [input] = body.inputs as [typeof TEXTS | typeof WINDOWS];
    const rows = Array.from({ length: 60 }, () => input.data);
    const shape = [input === TEXTS ? 120 : 60, ...input.shape.slice(1)];
    const large = JSON.stringify({ inputs: [{ ...input, shape, data: rows.flat() }] });
    const decoders = { gzip: zlib.gunzipSync, deflate: zlib.inflateSync } as const;
    const plain = (await postRaw(service, `${base}/infer`, large)).json;
    const ask = (accepted: string, text: string) =>
      fetch(`${service.origin}${base}/infer`, {
        method: 'POST',
        headers: { 'Accept-Encoding': accepted },
        body: text,
      });
    for (const encoding of Object.keys(decoders)) {
      const answer = await ask(encoding, large);
      expect(answer.headers.get('content-encoding')).toBe(encoding);
      expect(answer.headers.get('vary')).toBe('Accept-Encoding');
      expect(await answer.json()).toEqual(plain); // fetch decodes it
    }
    for (const accepted of ['identity', 'gzip;q=0', 'br']) {
      expect((await ask(accepted, large)).headers.get('content-encoding')).toBe(null);
    }
    const small = await ask('gzip', JSON.stringify(body));
    expect(small.headers.get('content-encoding')).toBe(null);
  });

  it('counts its requests by route, and what probes ask without a line in the log', async () => {
    const before = await scrape(service);
    await post(service, `${base}/infer`, body, { headers: { 'x-request-id': 'counted' } });
    await request(service, { path: '/v2/health/ready', headers: { 'x-request-id': 'probe' } });
    const after = await scrape(service);
    for (const route of [`${base}/infer 200`, '/v2/health/ready 200']) {
      expect(after.requests[route]).toBe((before.requests[route] ?? 0) + 1);
    }
    const line = await service.lineOf('counted');
    expect(line).toMatchObject({
      route: `${base}/infer`,
      status: 200,
      batchSize: expect.anything(),
    });
    expect(service.logs.filter(({ requestId }) => requestId === 'probe')).toEqual([]);
  });
});

describe('with a key', () => {
  it('lets probes in, and tells others in its own form', async () => {
    const [{ options, body, base }] = CASES as [(typeof CASES)[number]];
    const env = { ...options.env, API_KEY: 'a-key-of-some-length' };
    const service = await startService('sentiment', { env });
    for (const path of ['/v2/health/live', '/v2/health/ready']) {
      expect((await request(service, { path })).status).toBe(200);
    }
    for (const path of ['/v2', base, `${base}/ready`, '/v2/other']) {
      expectError(await request(service, { path }), 401, /^An API key is required/);
    }
    expectError(await post(service, `${base}/infer`, body), 401, /^An API key is required/);
    const headers = { authorization: 'Bearer a-key-of-some-length' };
    expect((await post(service, `${base}/infer`, body, { headers })).status).toBe(200);
  });
});

describe('a request', () => {
  it('is one entry of the queue for each element, all of them or none', async () => {
    const service = await startHolding(60_000, {
      MAX_QUEUE_REQUESTS: '4',
      MAX_BATCH_REQUESTS: '4',
    });
    const three = { inputs: [{ ...TEXTS, shape: [3], data: ['a', 'b', 'c'] }] };
    const two = { inputs: [{ ...TEXTS, data: ['d', 'e'] }] };
    const one = { inputs: [{ ...TEXTS, shape: [1], data: ['f'] }] };
    const infer = (body: object) => post(service, '/v2/models/sentiment/infer', body);
    const waiting = infer(three);
    await untilQueued(service, 3);
    const refused = await infer(two);
    expectError(refused, 503, 'The queue is full.');
    expect(refused.headers['retry-after']).toMatch(/^\d+$/);
    // The fourth completes the batch.
    expect((await infer(one)).status).toBe(200);
    const { outputs } = (await waiting).json as { outputs: { name: string; shape: number[] }[] };
    expect(outputs.map(({ name, shape }) => [name, shape[0]])).toEqual([
      ['LABEL', 3],
      ['SCORE', 3],
      ['PROBABILITIES', 3],
    ]);
  });

  it('is left where its client goes', async () => {
    const service = await startHolding(60_000, {});
    const controller = new AbortController();
    const asked = post(
      service,
      '/v2/models/sentiment/infer',
      { inputs: [TEXTS] },
      {
        signal: controller.signal,
      },
    );
    await untilQueued(service, 2);
    controller.abort();
    await expect(asked).rejects.toThrow();
    const areCancelled = (seen: Scrape) =>
      seen.byLabel('libtorch_serve_inputs_total', 'outcome').cancelled === 2;
    await untilScraped('two inputs that are cancelled', service, areCancelled);
  });
});

describe('pairs of texts', () => {
  it('have the answers of /analyze/batch', async () => {
    const [{ options }] = CASES as [(typeof CASES)[number]];
    const service = await startService('sentiment', options);
    const pairs = [
      { text: 'A quiet film.', text_pair: 'It is quiet.' },
      { text: 'Dull.', text_pair: '' },
    ];
    const own = (await post(service, '/analyze/batch', { texts: pairs })).json as {
      results: { label: string; score: number }[];
    };
    const second = (data: readonly string[], shape = [data.length]) => ({
      name: 'TEXT_PAIR',
      datatype: 'BYTES',
      shape,
      data,
    });
    const infer = (...more: object[]) =>
      post(service, '/v2/models/sentiment/infer', { inputs: [TEXTS, ...more] });
    const answer = await infer(second(pairs.map(({ text_pair }) => text_pair)));
    const [labels, scores] = (answer.json as { outputs: { data: unknown[] }[] }).outputs;
    expect(labels?.data).toEqual(own.results.map(({ label }) => label));
    expect(scores?.data).toEqual(own.results.map(({ score }) => expect.closeTo(score, 4)));
    expectError(await infer(second(['a'])), 400, 'TEXT_PAIR: expected 2 elements, as TEXT');
    expectError(await infer(second(['a', 'b'], [1, 2])), 400, /^TEXT_PAIR: expected the shape /);
  });
});
