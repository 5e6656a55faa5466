import http from 'node:http';
import net from 'node:net';
import { startHolding } from '../helpers/holding';
import { analyze, request } from '../helpers/http';
import { untilQueued } from '../helpers/metrics';
import { analyzeHead, analyzeRequest, RawClient } from '../helpers/raw-clients';
import { killAll, startService, textModel } from '../helpers/service';
import { expectError } from '../helpers/services';
import { times } from '../helpers/times';

afterEach(killAll);

it('refuses at once what the queue has no room for', async () => {
  const service = await startHolding(2000, { MAX_QUEUE_REQUESTS: '3' });
  const answers = await times(10, () => analyze(service, 'good'));
  const refused = answers.filter(({ status }) => status === 503);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
  expect(refused).toHaveLength(7);
  for (const answer of refused) {
    expectError(answer, 503, 'The queue is full.');
    expect(answer.headers['retry-after']).toBe('1');
  }
  // There is room again.
  expect((await analyze(service, 'good')).status).toBe(200);
});

it('answers 504 when the deadline passes before the model runs', async () => {
  const service = await startHolding(400, { REQUEST_TIMEOUT_MS: '50' });
  expectError(
    await analyze(service, 'good'),
    504,
    'The deadline of 50 ms passed before the model ran.',
  );
  expect((await request(service, { path: '/health' })).status).toBe(200);
});

it('drops a request whose client has gone, and gives its place to another', async () => {
  const service = await startHolding(3000, { MAX_QUEUE_REQUESTS: '1' });
  const client = new AbortController();
  const headers = { 'x-request-id': 'gone' };
  const gone = analyze(service, 'good', { headers, signal: client.signal });
  gone.catch(() => undefined);
  await untilQueued(service, 1);
  client.abort();
  await expect(gone).rejects.toThrow(/abort/);
  const line = await service.lineOf('gone');
  expect(line).toMatchObject({ level: 'info', status: 499, route: '/analyze' });
  // While it waited, this would have been refused.
  expect((await analyze(service, 'good')).status).toBe(200);
});

it('drops pipelined requests with the connection that they came on', async () => {
  const service = await startHolding(60_000, { MAX_QUEUE_REQUESTS: '3' });
  const client = new RawClient(service);
  client.write(analyzeRequest('good').repeat(3));
  await untilQueued(service, 3);
  client.leave();
  const dropped = () => service.logs.filter(({ status }) => status === 499).length;
  await service.waitForLog(() => dropped() === 3);
  expect(await service.stop()).toEqual({ code: 0, signal: null });
  expect(service.logs.at(-1)?.msg).toBe('stopped');
});

describe('SIGTERM', () => {
  it('answers what was accepted, refuses what comes, and ends with 0', async () => {
    const service = await startHolding(3000, { MAX_QUEUE_REQUESTS: '1' });
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    expect((await request(service, { path: '/health', agent })).status).toBe(200);
    const accepted = analyze(service, 'good');
    await untilQueued(service, 1);

    await service.beginStop();
    const refused = await analyze(service, 'good', { agent });
    expectError(refused, 503, 'The service is shutting down.');
    expect(refused.headers).toMatchObject({ 'retry-after': '1', connection: 'close' });
    await expect(request(service, { path: '/health' })).rejects.toThrow('ECONNREFUSED');

    const answer = await accepted;
    expect([answer.status, answer.headers.connection]).toEqual([200, 'close']);
    expect(await service.exit).toEqual({ code: 0, signal: null });
    expect(service.logs.at(-1)?.msg).toBe('stopped');
    agent.destroy();
  });

  it('keeps health honest on connections that are open', async () => {
    const service = await startHolding(3000, { MAX_QUEUE_REQUESTS: '1' });
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    await request(service, { path: '/health', agent });
    const accepted = analyze(service, 'good');
    await untilQueued(service, 1);
    await service.beginStop();
    const health = await request(service, { path: '/health', agent });
    expect(health.text).toBe('{"status":"healthy","model_loaded":true}');
    expect(health.headers.connection).toBe('close');
    expect((await accepted).status).toBe(200);
    agent.destroy();
  });

  it('answers a request whose body is still on its way', async () => {
    const service = await startService('sentiment', { env: textModel('bert-single-label') });
    const body = '{"text":"good"}';
    const client = new RawClient(service);
    client.write(analyzeHead(body.length));
    // It says that the request has been received up to its body.
    await client.receives(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
    await service.beginStop();
    client.write(body);
    await client.closed;
    client.leave();
    expect(client.received).toMatch(/HTTP\/1\.1 200 OK\r\n[\s\S]*"input_text":"good"/);
    expect(await service.exit).toEqual({ code: 0, signal: null });
  });

  it('closes connections that are idle, or stuck before a whole request', async () => {
    const service = await startService('sentiment', { env: textModel('bert-single-label') });
    const idle = net.connect(service.port, '127.0.0.1');
    const stuck = net.connect(service.port, '127.0.0.1');
    stuck.write('POST /analyze HTTP/1.1\r\nHo');
    // A later connection was accepted, so those two are.
    await request(service, { path: '/health' });
    expect(await service.stop()).toEqual({ code: 0, signal: null });
    idle.destroy();
    stuck.destroy();
  });
});
