import http from 'node:http';
import { startHolding } from '../helpers/holding';
import { analyze, request } from '../helpers/http';
import { scrape, untilQueued } from '../helpers/metrics';
import { analyzeRequest, RawClient } from '../helpers/raw-clients';
import { killAll, startService, textModel } from '../helpers/service';
import { expectError } from '../helpers/services';
import { until } from '../helpers/until';

const MODEL = textModel('bert-single-label');
/** A delay that no test waits for. */
const LONG_DELAY = { ...MODEL, SHUTDOWN_DELAY_MS: '600000', SHUTDOWN_TIMEOUT_MS: '1200000' };

afterEach(killAll);

it('is not ready from the signal on, and still takes connections and answers requests', async () => {
  const service = await startService('sentiment', { env: LONG_DELAY });
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const before = await request(service, { path: '/ready', agent });
  expect([before.status, before.headers.connection]).toEqual([200, 'keep-alive']);
  await service.beginStop();

  for (const options of [{ agent }, {}]) {
    const ready = await request(service, { path: '/ready', ...options });
    expectError(ready, 503, 'The service is shutting down.');
    expect(ready.headers).toMatchObject({ 'retry-after': '1', connection: 'close' });
    // Answered, and the client is sent elsewhere.
    const answer = await analyze(service, 'good', options);
    expect([answer.status, answer.headers.connection]).toEqual([200, 'close']);
    expect((await request(service, { path: '/health', ...options })).status).toBe(200);
  }
  const seen = await scrape(service);
  expect(seen.requests).toMatchObject({ '/ready 200': 1, '/ready 503': 2, '/analyze 200': 2 });
  agent.destroy();
});

it('closes the port after SHUTDOWN_DELAY_MS, and ends with 0', async () => {
  const service = await startService('sentiment', { env: { ...MODEL, SHUTDOWN_DELAY_MS: '300' } });
  await service.beginStop();
  // One after the other, until the port is closed.
  const statuses: number[] = [];
  const closed = until('the port to be closed', async () => {
    statuses.push((await analyze(service, 'good')).status);
    return false;
  });
  // ECONNRESET: the kernel took the connection, nobody else.
  await expect(closed).rejects.toThrow(/ECONNREFUSED|ECONNRESET/);
  // One whose connection was open when the port closed is refused, not cut off.
  if (statuses.at(-1) === 503) statuses.pop();
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(await service.exit).toEqual({ code: 0, signal: null });
  expect(service.logs.at(-1)?.msg).toBe('stopped');
});

it('waits for no load balancer after an error that nobody caught', async () => {
  const service = await startService('sentiment', {
    env: LONG_DELAY,
    nodeArgs: ['--require', `${__dirname}/../lifecycle/scripts/preload-throw.cjs`],
  });
  service.kill('SIGUSR2');
  expect(await service.exit).toEqual({ code: 1, signal: null });
});

it.each([
  { name: 'that came before the signal', isOneLate: false },
  { name: 'where one more comes after it', isOneLate: true },
])('answers all pipelined requests $name', async ({ isOneLate }) => {
  // The fourth request completes the batch.
  const service = await startHolding(60_000, { ...LONG_DELAY, MAX_BATCH_REQUESTS: '4' });
  const client = new RawClient(service);
  client.write(analyzeRequest('good').repeat(3));
  await untilQueued(service, 3);
  await service.beginStop();
  if (isOneLate) client.write(analyzeRequest('good'));
  else expect((await analyze(service, 'good')).status).toBe(200);
  await client.closed;
  client.leave();
  const heads = client.received.match(/HTTP\/1\.1 [\s\S]*?\r\n\r\n/g) ?? [];
  expect(heads.map((head) => head.slice(9, 12))).toEqual(Array(isOneLate ? 4 : 3).fill('200'));
  // Only the last one says so: Node closes the connection after it.
  const closing = heads.map((head) => /connection: close/i.test(head));
  expect(closing).toEqual(heads.map((_, i) => i === heads.length - 1));
});
