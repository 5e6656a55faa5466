import { startHolding } from '../helpers/holding';
import { analyze, postRaw, request, untilStatus } from '../helpers/http';
import { type Scrape, scrape, untilAlone, untilQueued, untilScraped } from '../helpers/metrics';
import { analyzeHead, analyzeRequest, RawClient } from '../helpers/raw-clients';
import { killAll, type Service, startService, textModel } from '../helpers/service';
import { expectError } from '../helpers/services';
import { times } from '../helpers/times';
import { until } from '../helpers/until';

const MODEL = textModel('bert-single-label');

afterEach(killAll);

function start(env: Readonly<Record<string, string>>): Promise<Service> {
  return startService('sentiment', { env: { ...MODEL, ...env } });
}

function cut(seen: Scrape): Readonly<Record<string, number>> {
  return seen.byLabel('libtorch_serve_http_connections_closed_total', 'reason');
}

/** Clients that have sent `bytes` of a request and no more; in the order of their connections. */
async function stuck(service: Service, count: number, bytes: string): Promise<RawClient[]> {
  const clients: RawClient[] = [];
  for (let i = 0; i < count; i++) {
    const client = await new RawClient(service).connected();
    clients.push(client);
    client.write(bytes);
    if (bytes.includes('100-continue')) await client.receives(/100 Continue/);
  }
  return clients;
}

describe('at MAX_CONNECTIONS', () => {
  it.each([
    ['that never ask', '', /^$/],
    ['that are slow with their headers', 'POST /analyze HTTP/1.1\r\nHo', /^$/],
    [
      'that are slow with their bodies',
      analyzeHead(100),
      /100 Continue\r\n\r\nHTTP\/1\.1 408 [\s\S]*not received in time/,
    ],
  ])('clients %s make room, the first of them first', async (_name, bytes, lastWords) => {
    const service = await start({ MAX_CONNECTIONS: '8' });
    const clients = await stuck(service, 8, bytes);
    expect((await analyze(service, 'good')).status).toBe(200);
    await clients[0]?.closed;
    expect(clients[0]?.received).toMatch(lastWords);
    expect(clients.map(({ isClosed }) => isClosed)).toEqual([true, ...Array(7).fill(false)]);
    for (let i = 0; i < 30; i++) expect((await analyze(service, 'good')).status).toBe(200);
    const seen = await scrape(service);
    expect(seen.value('libtorch_serve_http_connections')).toBeLessThanOrEqual(8);
    // The connections of the requests were closed by their clients, or made room themselves.
    expect(cut(seen)).toMatchObject({ rejected: 0, response_stalled: 0, body_stalled: 0 });
    expect(cut(seen).evicted).toBeGreaterThanOrEqual(1);
    for (const client of clients) client.leave();
  });

  it('one more is refused where an answer is due on all of them', async () => {
    const service = await startHolding(60_000, { MAX_CONNECTIONS: '4' });
    const clients = await stuck(service, 4, analyzeRequest('good'));
    // Until the fourth request has been read, its connection may make room; so it may not have to.
    const answer = await until('a connection that is refused', async () => {
      const health = await request(service, { path: '/health' });
      if (health.status !== 200) return health;
      clients.push(...(await stuck(service, 1, analyzeRequest('good'))));
      return null;
    });
    expectError(answer, 503, 'All connections of the service are in use.');
    expect(answer.headers).toMatchObject({ 'retry-after': '1', connection: 'close' });
    expect(clients.filter(({ isClosed }) => !isClosed).length).toBeGreaterThanOrEqual(4);
    for (const client of clients) client.leave();
    await untilStatus(200, () => request(service, { path: '/health' }));
    const seen = await untilQueued(service, 0);
    expect(cut(seen).rejected).toBeGreaterThanOrEqual(1);
  });
});

it('closes connections of what is no HTTP, though their clients do not', async () => {
  const service = await start({});
  const clients = await times(20, () => new RawClient(service).connected());
  for (const client of clients) client.write('hello\r\n\r\n');
  for (const client of clients) await client.receives(/^HTTP\/1\.1 400 /);
  await untilAlone(service);
  for (const client of clients) client.leave();
});

it('lives on without a descriptor for one more connection', async () => {
  const env = { ...MODEL, MAX_CONNECTIONS: '1000' };
  const service = await startService('sentiment', { env, descriptors: 96 });
  expect(service.logs[0]).toMatchObject({
    level: 'warn',
    msg: expect.stringContaining('96 file descriptors of this process (ulimit -n)'),
  });
  const clients = await times(200, () => new RawClient(service).connected());
  // Some find no descriptor, and are closed.
  await Promise.race(clients.map(({ closed }) => closed));
  for (const client of clients) client.leave();
  await until('an answer', async () => {
    const answer = await analyze(service, 'good').catch(() => null);
    return answer?.status === 200;
  });
  await untilAlone(service);
  expect(await service.stop()).toEqual({ code: 0, signal: null });
});

describe('bodies on their way', () => {
  const ENV = { BODY_LIMIT: '64kb', BODY_MEMORY: '64kb' };
  const LARGE = JSON.stringify({ text: 'x'.repeat(60_000) });

  it('that would be more than BODY_MEMORY are refused, until one that is stuck makes room', async () => {
    const service = await start(ENV);
    const [slow] = await stuck(service, 1, analyzeHead(60_000));
    slow?.write('x'.repeat(50_000));
    // Small ones have room beside it.
    expect((await analyze(service, 'good')).status).toBe(200);
    let refusals = 0;
    // A stuck one makes room when it has taken its time.
    await until('room for a large body', async () => {
      const { status } = await postRaw(service, '/analyze', LARGE);
      if (status === 200) return true;
      expect(status).toBe(503);
      refusals++;
      return false;
    });
    await slow?.closed;
    const seen = await scrape(service);
    expect(cut(seen).body_stalled).toBe(1);
    expect(
      seen.byLabel('libtorch_serve_http_requests_rejected_total', 'reason').body_memory_full,
    ).toBe(refusals);
  });

  it('are refused in the middle, too, where they do not say how long they are', async () => {
    const service = await start(ENV);
    const clients = await stuck(service, 2, analyzeHead('chunked'));
    const chunk = `c000\r\n${'x'.repeat(0xc000)}\r\n`;
    for (const client of clients) client.write(chunk);
    const refused = await Promise.race(
      clients.map((client) => client.receives(/HTTP\/1\.1 503 /).then(() => client)),
    );
    expect(refused.received).toContain('The memory for request bodies (BODY_MEMORY) is full.');
    await refused.closed;
    for (const client of clients) client.leave();
  });

  it('count with what is kept of each piece, beside its bytes', async () => {
    const service = await start(ENV);
    const [client] = await stuck(service, 1, analyzeHead('chunked'));
    client?.write('1\r\n \r\n'.repeat(1000)); // a kilobyte, of which over 300 are held
    await client?.receives(
      /HTTP\/1\.1 503 [\s\S]*The memory for request bodies \(BODY_MEMORY\) is full\./,
    );
    await client?.closed;
  });

  it('count as large as they may be where they are compressed', async () => {
    const service = await start(ENV);
    const gzip = 'Content-Encoding: gzip\r\n';
    await stuck(service, 1, analyzeHead(100, gzip));
    const next = new RawClient(service);
    next.write(analyzeHead(100, gzip));
    await next.receives(/HTTP\/1\.1 503 /);
    expect((await postRaw(service, '/analyze', LARGE)).status).toBe(200);
    next.leave();
  });

  it('leave nothing behind when their clients are killed', async () => {
    const service = await start(ENV);
    for (let i = 1; i <= 10; i++) {
      const [client] = await stuck(service, 1, analyzeHead(60_000));
      client?.write('x'.repeat(50_000));
      client?.leave();
      await service.waitForLog(
        () => service.logs.filter(({ status }) => status === 499).length === i,
      );
    }
    expect((await postRaw(service, '/analyze', LARGE)).status).toBe(200);
    const seen = await scrape(service);
    expect(seen.requests).toEqual({ '/analyze 499': 10, '/analyze 200': 1 });
    expect(seen.value('libtorch_serve_http_requests_in_flight')).toBe(1);
    expect(seen.value('libtorch_serve_http_connections')).toBe(1);
  });
});

it('works on so many pipelined requests of a connection, and refuses more', async () => {
  const service = await startHolding(3000, {
    MAX_BATCH_REQUESTS: '130',
    MAX_BATCH_TOKENS: '10000',
  });
  const client = new RawClient(service);
  client.write(analyzeRequest('good').repeat(300));
  const isFull = (seen: Scrape) => (seen.value('libtorch_serve_queue_inputs') ?? 0) >= 128;
  await untilScraped('128 inputs in the queue', service, isFull);
  // Others find room.
  const others = await times(2, () => analyze(service, 'good'));
  expect(others.map(({ status }) => status)).toEqual([200, 200]);
  const statuses = () => client.received.match(/HTTP\/1\.1 \d+/g) ?? [];
  await until('300 answers', () => statuses().length >= 300);
  expect(statuses().slice(0, 129)).toEqual([...Array(128).fill('HTTP/1.1 200'), 'HTTP/1.1 503']);
  expect(new Set(statuses())).toEqual(new Set(['HTTP/1.1 200', 'HTTP/1.1 503']));
  const seen = await scrape(service);
  const refused = statuses().filter((status) => status.endsWith('503')).length;
  expect(seen.byLabel('libtorch_serve_http_requests_rejected_total', 'reason').pipeline_full).toBe(
    refused,
  );
  client.leave();
});

it('cuts off who does not take answers, when there are too many', async () => {
  const env = { MAX_QUEUE_REQUESTS: '10000', MAX_LIST_LENGTH: '3900', BODY_MEMORY: '512kb' };
  const service = await start({ ...env, BODY_LIMIT: '512kb' });
  const clients = await times(3, () => new RawClient(service, { reads: false }).connected());
  // Each asks until the kernel holds no more for it, and the service has to.
  // Small, so that there always is room for it, but its answer is not.
  const body = JSON.stringify({ texts: Array(3900).fill('a') });
  const head = `POST /analyze/batch HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`;
  const one = head + body;
  const writing = setInterval(() => {
    for (const client of clients) if (client.socket.writableLength === 0) client.write(one);
  }, 5);
  const areCut = (seen: Scrape) => (cut(seen).response_stalled ?? 0) >= 2;
  const seen = await untilScraped('two clients that are cut off', service, areCut);
  clearInterval(writing);
  expect(cut(seen)).toMatchObject({ rejected: 0, evicted: 0, body_stalled: 0 });
  expect((await analyze(service, 'good')).status).toBe(200);
  for (const client of clients) client.leave();
  await untilAlone(service);
});
