import http from 'node:http';
import { startHolding } from '../helpers/holding';
import { type Answer, post, request } from '../helpers/http';
import { scrape, untilQueued } from '../helpers/metrics';
import { killAll, type Service, startService, textModel } from '../helpers/service';
import { expectError } from '../helpers/services';

afterEach(killAll);

function batch(service: Service, count: number, options = {}): Promise<Answer> {
  return post(service, '/analyze/batch', { texts: Array(count).fill('good') }, options);
}

it('is refused whole where the queue has no room for all of it', async () => {
  const service = await startHolding(3000, { MAX_QUEUE_REQUESTS: '5', WORKERS: '1' });
  const first = batch(service, 3);
  await untilQueued(service, 3);
  const refused = await batch(service, 3);
  expectError(refused, 503, 'The queue is full.');
  expect(refused.headers['retry-after']).toBe('1');
  // Both free places are still free: nothing of the refused lists was kept or has run.
  const second = batch(service, 2);
  const answers = await Promise.all([first, second]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  const lengths = answers.map(({ json }) => (json as { results: unknown[] }).results.length);
  expect(lengths).toEqual([3, 2]);
  const ran = () => service.logs.filter(({ batchSize }) => batchSize !== undefined);
  await service.waitForLog(() => ran().length === 2);
  expect(ran().map(({ batchSize }) => batchSize)).toEqual([5, 5]);
});

it('is rejected as a whole if its characters exceed the queue capacity', async () => {
  const env = { ...textModel('bert-single-label'), BODY_LIMIT: '128mb' };
  const service = await startService('sentiment', { env });
  const texts = (count: number) => Array(count).fill('good '.repeat(800_000)); // 4 MB each
  expectError(
    await post(service, '/analyze/batch', { texts: texts(17) }),
    413,
    /^The 17 inputs have at least 68000000 bytes in total, over the limit of 67108864\. .*Send fewer or shorter texts\.$/,
  );
  expect((await scrape(service)).byLabel('libtorch_serve_inputs_total', 'outcome')).toEqual({
    completed: 0,
    failed: 0,
    cancelled: 0,
    expired: 0,
    timed_out: 0,
    too_long: 0,
  });
  expect((await post(service, '/analyze/batch', { texts: texts(3) })).status).toBe(200);
});

it('gives its places to others when its client has gone', async () => {
  const service = await startHolding(3000, { MAX_QUEUE_REQUESTS: '4' });
  const client = new AbortController();
  const headers = { 'x-request-id': 'gone' };
  const gone = batch(service, 4, { headers, signal: client.signal });
  gone.catch(() => undefined);
  await untilQueued(service, 4);
  client.abort();
  await expect(gone).rejects.toThrow(/abort/);
  const line = await service.lineOf('gone');
  expect(line).toMatchObject({ level: 'info', status: 499, route: '/analyze/batch' });
  // All four places are free, or the second of these lists would have been refused.
  const others = [batch(service, 2), batch(service, 2)];
  expect((await Promise.all(others)).map(({ status }) => status)).toEqual([200, 200]);
});

it('is answered while the service drains, and refused when it comes later', async () => {
  const service = await startHolding(3000, { MAX_QUEUE_REQUESTS: '4' });
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  await request(service, { path: '/health', agent });
  const accepted = batch(service, 4);
  await untilQueued(service, 4);
  await service.beginStop();
  expectError(await batch(service, 1, { agent }), 503, 'The service is shutting down.');
  expect((await accepted).status).toBe(200);
  expect(await service.exit).toEqual({ code: 0, signal: null });
  agent.destroy();
});
