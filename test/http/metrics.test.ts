import path from 'node:path';
import { startHolding } from '../helpers/holding';
import { exchange, post, postRaw, request } from '../helpers/http';
import { scrape, untilQueued, untilScraped } from '../helpers/metrics';
import { EEG_MODEL, killAll, startService, textModel } from '../helpers/service';
import { SERVICE_CASES, SIGNAL } from '../helpers/services';
import { times } from '../helpers/times';

const LIST = '/analyze/batch';
/** Duration histograms have one value for each answered input. */
const PER_INPUT = ['queue', 'inference'].map((what) => `libtorch_serve_${what}_duration_seconds`);

afterEach(killAll);

describe.each(SERVICE_CASES)(
  '$name',
  ({ name, path: route, body, refused, options, unloadable }) => {
    it('counts exactly what was asked, as the log has it', async () => {
      const env = { ...options.env, LOG_LEVEL: 'debug', BODY_LIMIT: '64kb' };
      const service = await startService(name, { env });
      const good = await times(40, () => post(service, route, body));
      await times(3, () => post(service, route, refused)); // 400
      await times(2, () => post(service, route, { wrong: 1 })); // 422
      await times(2, () => postRaw(service, route, '{')); // 422
      await times(5, (i) => request(service, { path: `/nothing/${i}` })); // 404
      await times(2, () => request(service, { path: route })); // 405
      await times(2, () => request(service, { method: 'DELETE', path: '/health' })); // 405
      await times(2, () => request(service, { method: 'OPTIONS', path: route })); // 204
      const headers = { 'content-type': 'text/html' };
      await times(3, () => postRaw(service, route, '{}', { headers })); // 415
      await times(2, () => postRaw(service, route, ' '.repeat(65_537))); // 413
      await times(4, () => request(service, { path: '/health' }));
      await request(service, { method: 'HEAD', path: '/health' });
      await exchange(service, 'nonsense\r\n\r\n');
      await exchange(service, 'GET /health HTTP/1.1\r\nConnection: close\r\n\r\n'); // without a Host

      const seen = await scrape(service);
      const expected = {
        [`${route} 200`]: 40,
        [`${route} 400`]: 3,
        [`${route} 422`]: 4,
        [`${route} 405`]: 2,
        [`${route} 204`]: 2,
        [`${route} 415`]: 3,
        [`${route} 413`]: 2,
        '/health 200': 5,
        '/health 405': 2,
        'unmatched 404': 5,
        'unmatched 400': 1,
      };
      expect(seen.requests).toEqual(expected);
      expect(seen.byLabel('libtorch_serve_http_request_duration_seconds_count', 'route')).toEqual({
        [route]: 56,
        '/health': 7,
        unmatched: 6,
      });
      expect(seen.byLabel('libtorch_serve_http_invalid_requests_total', 'status')).toEqual({
        400: 1,
        408: 0,
        431: 0,
      });

      expect(seen.byLabel('libtorch_serve_inputs_total', 'outcome')).toEqual({
        completed: 40,
        failed: 0,
        timed_out: 0,
        too_long: 0,
        cancelled: 0,
        expired: 0,
      });
      for (const duration of PER_INPUT) expect(seen.value(`${duration}_count`)).toBe(40);
      expect(seen.value('libtorch_serve_tokenization_duration_seconds_count')).toBe(
        name === 'sentiment' ? 40 : undefined,
      );
      expect(seen.value('libtorch_serve_batch_size_inputs_sum')).toBe(40);
      const tokens = good.map(({ headers }) => Number(headers['x-compute-tokens']));
      expect(seen.value('libtorch_serve_batch_size_tokens_sum')).toBe(
        tokens.reduce((sum, next) => sum + next),
      );
      const batches = seen.value('libtorch_serve_batches_total');
      expect(seen.value('libtorch_serve_batch_size_inputs_count')).toBe(batches);
      expect(seen.value('libtorch_serve_batch_size_tokens_count')).toBe(batches);

      // The same from the log: one line for each of them.
      const total = Object.values(expected).reduce((sum, next) => sum + next);
      const lines = () =>
        service.logs.filter(({ msg, route }) => msg === 'request' && route !== '/metrics');
      await service.waitForLog(() => lines().length === total);
      const logged: Record<string, number> = {};
      for (const { route, status } of lines()) {
        const key = `${route ?? 'unmatched'} ${status}`;
        logged[key] = (logged[key] ?? 0) + 1;
      }
      expect(logged).toEqual(expected);
    });

    it('has the times that the headers have', async () => {
      const service = await startService(name, options);
      const { headers } = await post(service, route, body);
      const seen = await scrape(service);
      for (const what of ['queue', 'inference']) {
        const seconds = Number(headers[`x-${what}-time`]) / 1000;
        const sum = seen.value(`libtorch_serve_${what}_duration_seconds_sum`) as number;
        expect(Math.abs(sum - seconds)).toBeLessThan(1e-6);
      }
    });

    it('says what is served', async () => {
      const service = await startService(name, options);
      const seen = await scrape(service);
      const info = seen.samples.find(({ name }) => name === 'libtorch_serve_model_info');
      expect(info).toMatchObject({
        value: 1,
        labels: {
          name: expect.stringMatching(/./),
          version: expect.any(String),
          dtype: 'float32',
          linear: expect.stringMatching(/^float32 (portable|avx2|avx512)$/),
          attention: name === 'eeg' ? '' : expect.stringMatching(/^float32 /),
          instructions: expect.stringMatching(/^(portable|avx2|avx512.*|amx)$/),
          backend: name === 'eeg' ? 'torchscript' : 'text-encoder',
          package_version: expect.stringMatching(/^\d+\.\d+\.\d+/),
          libtorch_version: expect.stringMatching(/^2\.\d+\.\d+/),
        },
      });
      expect(seen.value('libtorch_serve_model_loaded')).toBe(1);
      expect(seen.value('libtorch_serve_queue_limit_inputs')).toBe(2048);
      expect(seen.value('process_resident_memory_bytes')).toBeGreaterThan(50e6);
    });

    it('says that no model is loaded', async () => {
      const service = await startService(name, { env: unloadable });
      await times(3, () => post(service, route, body));
      const seen = await scrape(service);
      expect(seen.value('libtorch_serve_model_loaded')).toBe(0);
      expect(seen.text).not.toMatch(/model_info|queue_inputs|inputs_total/);
      expect(seen.requests).toEqual({ [`${route} 500`]: 3 });
    });

    it('never has a label that a client wrote, nor a series for each of its requests', async () => {
      const service = await startService(name, options);
      const ask = async (i: number): Promise<void> => {
        const headers = { 'x-request-id': `secret-${i}`, 'user-agent': `secret-${i}` };
        const id = { patient_id: `secret-${i}`, 'secret-key': i };
        await request(service, { path: `/secret-${i}`, headers });
        await request(service, {
          path: `${route}/secret-${i}?secret=${i}`,
          method: 'PUT',
          headers,
        });
        await post(service, `${route}?secret=${i}`, { ...body, ...id }, { headers });
      };
      await times(5, ask);
      await scrape(service); // so that the scrape is there, too
      const before = await scrape(service);
      await times(40, (i) => ask(i + 5));
      const after = await scrape(service);
      expect(after.samples).toHaveLength(before.samples.length);
      expect(after.text).not.toContain('secret');
      expect(after.requests).toEqual({ [`${route} 200`]: 45, 'unmatched 404': 90 });
    });
  },
);

describe('a list', () => {
  const texts = (length: number) => ({ texts: Array.from({ length }, (_, i) => `text ${i}`) });

  it('is one request, and an input for each of its elements', async () => {
    const service = await startService('sentiment', { env: textModel('bert-single-label') });
    const answers = await Promise.all([0, 1, 7, 30].map((n) => post(service, LIST, texts(n))));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await post(service, LIST, { texts: ['good', 5] }); // 422
    await post(service, LIST, { texts: ['good', ''] }); // 400
    await post(service, LIST, texts(100_000)); // 413
    const seen = await scrape(service);
    expect(seen.requests).toEqual({
      '/analyze/batch 200': 4,
      '/analyze/batch 400': 1,
      '/analyze/batch 413': 1,
      '/analyze/batch 422': 1,
    });
    expect(seen.byLabel('libtorch_serve_inputs_total', 'outcome')).toEqual({
      completed: 38,
      failed: 0,
      timed_out: 0,
      too_long: 0,
      cancelled: 0,
      expired: 0,
    });
    for (const duration of [...PER_INPUT, 'libtorch_serve_tokenization_duration_seconds']) {
      expect(seen.value(`${duration}_count`)).toBe(38);
    }
    expect(seen.value('libtorch_serve_batch_size_inputs_sum')).toBe(38);
    const tokens = answers.map(({ headers }) => Number(headers['x-compute-tokens'] ?? 0));
    expect(seen.value('libtorch_serve_batch_size_tokens_sum')).toBe(
      tokens.reduce((sum, next) => sum + next),
    );
  });

  it('is refused as one, before any of it is an input', async () => {
    const service = await startHolding(60_000, { MAX_QUEUE_REQUESTS: '5' });
    const client = new AbortController();
    const { signal } = client;
    const held = post(service, LIST, texts(3), { signal }).catch(() => 'gone');
    await untilQueued(service, 3);
    expect((await post(service, LIST, texts(3))).status).toBe(503);
    client.abort();
    expect(await held).toBe('gone');
    await service.waitForLog(({ status }) => status === 499);
    const seen = await scrape(service);
    expect(seen.requests).toEqual({ '/analyze/batch 499': 1, '/analyze/batch 503': 1 });
    expect(seen.byLabel('libtorch_serve_http_requests_rejected_total', 'reason')).toMatchObject({
      queue_full: 1,
      queue_wait: 0,
      deadline: 0,
      draining: 0,
    });
    expect(seen.byLabel('libtorch_serve_queue_rejected_requests_total', 'reason')).toEqual({
      queue_full: 1,
      queue_wait: 0,
      deadline: 0,
      draining: 0,
    });
    expect(seen.value('libtorch_serve_http_requests_cancelled_total')).toBe(1);
    expect(seen.byLabel('libtorch_serve_inputs_total', 'outcome')).toEqual({
      completed: 0,
      failed: 0,
      timed_out: 0,
      too_long: 0,
      cancelled: 3,
      expired: 0,
    });
  });

  it('that passes its deadline timed out once', async () => {
    const service = await startHolding(60_000, { REQUEST_TIMEOUT_MS: '50' });
    expect((await post(service, LIST, texts(3))).status).toBe(504);
    const seen = await scrape(service);
    expect(seen.requests).toEqual({ '/analyze/batch 504': 1 });
    expect(seen.value('libtorch_serve_http_requests_timed_out_total')).toBe(1);
    // The first one to be looked at is dropped; the others are cancelled, if not run by then.
    expect(seen.byLabel('libtorch_serve_inputs_total', 'outcome').expired).toBeGreaterThan(0);
    await untilScraped('the end of three inputs', service, (next) => {
      const ended = Object.values(next.byLabel('libtorch_serve_inputs_total', 'outcome'));
      return ended.reduce((sum, count) => sum + count) === 3;
    });
  });

  it('of windows counts as one of texts does', async () => {
    const service = await startService('eeg', { env: { EEG_MODEL_PATH: EEG_MODEL } });
    const signals = Array.from({ length: 12 }, () => SIGNAL);
    expect((await post(service, '/predict/batch', { signals })).status).toBe(200);
    const seen = await scrape(service);
    expect(seen.requests).toEqual({ '/predict/batch 200': 1 });
    expect(seen.byLabel('libtorch_serve_inputs_total', 'outcome')).toMatchObject({ completed: 12 });
    for (const duration of PER_INPUT) expect(seen.value(`${duration}_count`)).toBe(12);
  });
});

it('measures a blocked event loop', async () => {
  const preload = path.join(__dirname, '..', 'lifecycle', 'scripts', 'preload-block.cjs');
  const service = await startService('sentiment', {
    env: textModel('bert-single-label'),
    nodeArgs: ['--require', preload],
  });
  const lag = (seen: Awaited<ReturnType<typeof scrape>>, le: string) =>
    seen.value('libtorch_serve_event_loop_lag_seconds_bucket', { le }) as number;
  const before = await scrape(service);
  service.kill('SIGUSR2'); // blocks the event loop for 300 ms
  await service.waitForLog(({ msg }) => msg === 'blocked');
  const after = await scrape(service);
  const over = (seen: typeof before) => lag(seen, '+Inf') - lag(seen, '0.1');
  expect(over(after)).toBeGreaterThan(over(before)); // a busy machine adds to it
});

it('accepts GET and HEAD only', async () => {
  const service = await startService('sentiment', { env: textModel('bert-single-label') });
  const { status, headers } = await post(service, '/metrics', {});
  expect([status, headers.allow]).toEqual([405, 'GET, HEAD']);
  const head = await request(service, { method: 'HEAD', path: '/metrics' });
  expect([head.status, head.text]).toEqual([200, '']);
});
