import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { startHolding } from '../helpers/holding';
import { post, request } from '../helpers/http';
import { scrape } from '../helpers/metrics';
import { FIXTURES, killAll, startService } from '../helpers/service';
import { SIGNAL } from '../helpers/services';
import { times } from '../helpers/times';

const BODY = { text: 'good' };
/** Its z-normalized maximum is over 5, at which the failing model raises. */
const SPIKE = SIGNAL.map((_, i) => (i === 100 ? 1000 : 0));

afterEach(killAll);

it('counts what was refused', async () => {
  const service = await startHolding(60_000, { MAX_QUEUE_REQUESTS: '3' });
  const client = new AbortController();
  const { signal } = client;
  const answers = times(10, () => post(service, '/analyze', BODY, { signal }).catch(() => 'gone'));
  const ended = (wanted: number) => service.logs.filter(({ status }) => status === wanted).length;
  // Not in the log: of those that were refused unread it has a sum.
  while ((await scrape(service)).requests['/analyze 503'] !== 7);
  expect((await scrape(service)).value('libtorch_serve_queue_inputs')).toBe(3);
  client.abort();
  await answers;
  await service.waitForLog(() => ended(499) === 3);
  const seen = await scrape(service);
  expect(seen.requests).toEqual({ '/analyze 499': 3, '/analyze 503': 7 });
  expect(seen.byLabel('libtorch_serve_http_requests_refused_total', 'reason')).toEqual({
    queue_full: 7,
    queue_wait: 0,
    deadline: 0,
    draining: 0,
  });
  expect(seen.byLabel('libtorch_serve_inputs_total', 'outcome')).toMatchObject({
    cancelled: 3,
  });
  expect(seen.value('libtorch_serve_queue_inputs')).toBe(0);
});

it('counts what passed its deadline', async () => {
  const service = await startHolding(400, { REQUEST_TIMEOUT_MS: '50' });
  // One after the other: those that wait together are looked at when the first one's time is up.
  for (let i = 0; i < 4; i++) expect((await post(service, '/analyze', BODY)).status).toBe(504);
  const seen = await scrape(service);
  expect(seen.requests).toEqual({ '/analyze 504': 4 });
  expect(seen.value('libtorch_serve_http_requests_timed_out_total')).toBe(4);
  expect(seen.value('libtorch_serve_http_requests_cancelled_total')).toBe(0);
  expect(seen.byLabel('libtorch_serve_inputs_total', 'outcome')).toMatchObject({
    answered: 0,
    expired: 4,
  });
});

it('counts clients that went: while they waited, and before their body was out', async () => {
  const service = await startHolding(60_000, { MAX_QUEUE_REQUESTS: '5' });
  const client = new AbortController();
  const { signal } = client;
  const gone = times(5, () => post(service, '/analyze', BODY, { signal }).catch(() => 'gone'));
  while ((await post(service, '/analyze', BODY)).status !== 503);
  const refused = (await scrape(service)).requests['/analyze 503'];
  client.abort();
  expect(await gone).toEqual(Array(5).fill('gone'));

  for (let i = 0; i < 3; i++) {
    await new Promise<void>((resolve) => {
      const head = 'POST /analyze HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n';
      const socket = net.connect(service.port, '127.0.0.1', () => {
        socket.write(`${head}Content-Length: 1000\r\n\r\n{"text":`);
      });
      socket.once('data', () => socket.destroy()); // "100 Continue": the request has arrived
      socket.on('close', () => resolve());
    });
  }
  await service.waitForLog(() => service.logs.filter(({ status }) => status === 499).length === 8);
  const seen = await scrape(service);
  expect(seen.requests).toEqual({ '/analyze 499': 8, '/analyze 503': refused });
  expect(seen.value('libtorch_serve_http_requests_cancelled_total')).toBe(8);
  // Those without a whole body never came to the queue.
  expect(seen.byLabel('libtorch_serve_inputs_total', 'outcome')).toMatchObject({
    answered: 0,
    cancelled: 5,
  });
  expect(seen.value('libtorch_serve_queue_inputs')).toBe(0);
});

it('counts what fails in the model', async () => {
  const EEG_MODEL_PATH = path.join(FIXTURES, 'eeg', 'raises-on-large-input.pt');
  const service = await startService('eeg', { env: { EEG_MODEL_PATH } });
  for (let i = 0; i < 3; i++) {
    expect((await post(service, '/predict', { signal: SPIKE })).status).toBe(500);
  }
  expect((await post(service, '/predict', { signal: SIGNAL })).status).toBe(200);
  const seen = await scrape(service);
  expect(seen.requests).toEqual({ '/predict 500': 3, '/predict 200': 1 });
  expect(seen.byLabel('libtorch_serve_inputs_total', 'outcome')).toMatchObject({
    answered: 1,
    failed: 3,
  });
  expect(seen.value('libtorch_serve_batches_total')).toBe(4);
  expect(seen.value('libtorch_serve_batch_size_inputs_count')).toBe(1);
});

it('counts what is refused while draining, and can be read meanwhile', async () => {
  const service = await startHolding(60_000, { MAX_QUEUE_REQUESTS: '1' });
  const agents = Array.from({ length: 4 }, () => {
    return new http.Agent({ keepAlive: true, maxSockets: 1 });
  });
  for (const agent of agents) await request(service, { path: '/health', agent });
  const client = new AbortController();
  const { signal } = client;
  const held = post(service, '/analyze', BODY, { signal }).catch(() => 'gone');
  while ((await scrape(service)).value('libtorch_serve_queue_inputs') !== 1);
  service.kill('SIGTERM');
  await service.waitForLog(({ msg }) => msg === 'stopping');
  for (const agent of agents.slice(1)) {
    expect((await post(service, '/analyze', BODY, { agent })).status).toBe(503);
  }
  const seen = await scrape(service, agents[0]);
  expect(seen.requests).toEqual({ '/analyze 503': 3, '/health 200': 4 });
  expect(seen.byLabel('libtorch_serve_http_requests_refused_total', 'reason')).toEqual({
    queue_full: 0,
    queue_wait: 0,
    deadline: 0,
    draining: 3,
  });
  client.abort(); // the last one that it waits for
  expect(await held).toBe('gone');
  expect(await service.exit).toEqual({ code: 0, signal: null });
  for (const agent of agents) agent.destroy();
});
