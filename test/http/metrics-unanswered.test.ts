import http from 'node:http';
import path from 'node:path';
import { startHolding } from '../helpers/holding';
import { analyze, predict, request } from '../helpers/http';
import { type Scrape, scrape, untilQueued, untilScraped } from '../helpers/metrics';
import { analyzeHead, RawClient } from '../helpers/raw-clients';
import { FIXTURES, killAll, type Service, startService } from '../helpers/service';
import { SIGNAL } from '../helpers/services';
import { times } from '../helpers/times';

/** Its z-normalized maximum is over 5, at which the failing model raises. */
const SPIKE = SIGNAL.map((_, i) => (i === 100 ? 1000 : 0));

afterEach(killAll);

function untilCounted(service: Service, what: string, count: number): Promise<Scrape> {
  return untilScraped(`${what}, ${count} times`, service, (seen) => seen.requests[what] === count);
}

it('counts what was refused', async () => {
  const service = await startHolding(60_000, { MAX_QUEUE_REQUESTS: '3' });
  const client = new AbortController();
  const { signal } = client;
  const answers = times(10, () => analyze(service, 'good', { signal }).catch(() => 'gone'));
  await untilCounted(service, '/analyze 503', 7);
  expect((await scrape(service)).value('libtorch_serve_queue_inputs')).toBe(3);
  client.abort();
  await answers;
  await untilCounted(service, '/analyze 499', 3);
  const seen = await scrape(service);
  expect(seen.requests).toEqual({ '/analyze 499': 3, '/analyze 503': 7 });
  expect(seen.byLabel('libtorch_serve_http_requests_rejected_total', 'reason')).toMatchObject({
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
  const service = await startHolding(60_000, { REQUEST_TIMEOUT_MS: '500' });
  // One after the other: those that wait together are looked at when the first one's time is up.
  for (let i = 0; i < 4; i++) expect((await analyze(service, 'good')).status).toBe(504);
  const seen = await scrape(service);
  expect(seen.requests).toEqual({ '/analyze 504': 4 });
  expect(seen.value('libtorch_serve_http_requests_timed_out_total')).toBe(4);
  expect(seen.value('libtorch_serve_http_requests_cancelled_total')).toBe(0);
  expect(seen.byLabel('libtorch_serve_inputs_total', 'outcome')).toMatchObject({
    completed: 0,
    expired: 4,
  });
});

it('counts clients that went: while they waited, and before their body was out', async () => {
  const service = await startHolding(60_000, { MAX_QUEUE_REQUESTS: '5' });
  const client = new AbortController();
  const { signal } = client;
  const gone = times(5, () => analyze(service, 'good', { signal }).catch(() => 'gone'));
  await untilQueued(service, 5);
  client.abort();
  expect(await gone).toEqual(Array(5).fill('gone'));

  for (let i = 0; i < 3; i++) {
    const leaving = new RawClient(service);
    leaving.write(`${analyzeHead(1000)}{"text":`);
    await leaving.receives(/100 Continue/); // the request has arrived
    leaving.leave();
  }
  await service.waitForLog(() => service.logs.filter(({ status }) => status === 499).length === 8);
  const seen = await scrape(service);
  expect(seen.requests).toEqual({ '/analyze 499': 8 });
  expect(seen.value('libtorch_serve_http_requests_cancelled_total')).toBe(8);
  // Those without a whole body never came to the queue.
  expect(seen.byLabel('libtorch_serve_inputs_total', 'outcome')).toMatchObject({
    completed: 0,
    cancelled: 5,
  });
  expect(seen.value('libtorch_serve_queue_inputs')).toBe(0);
});

it('counts what fails in the model', async () => {
  const EEG_MODEL_PATH = path.join(FIXTURES, 'eeg', 'raises-on-large-input.pt');
  const service = await startService('eeg', { env: { EEG_MODEL_PATH } });
  for (let i = 0; i < 3; i++) {
    expect((await predict(service, SPIKE)).status).toBe(500);
  }
  expect((await predict(service, SIGNAL)).status).toBe(200);
  const seen = await scrape(service);
  expect(seen.requests).toEqual({ '/predict 500': 3, '/predict 200': 1 });
  expect(seen.byLabel('libtorch_serve_inputs_total', 'outcome')).toMatchObject({
    completed: 1,
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
  const held = analyze(service, 'good', { signal }).catch(() => 'gone');
  await untilQueued(service, 1);
  await service.beginStop();
  for (const agent of agents.slice(1)) {
    expect((await analyze(service, 'good', { agent })).status).toBe(503);
  }
  const seen = await scrape(service, agents[0]);
  expect(seen.requests).toEqual({ '/analyze 503': 3, '/health 200': 4 });
  expect(seen.byLabel('libtorch_serve_http_requests_rejected_total', 'reason')).toMatchObject({
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
