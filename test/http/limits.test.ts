import http from 'node:http';
import { analyze, exchange, postRaw, request } from '../helpers/http';
import { analyzeRequest, RawClient } from '../helpers/raw-clients';
import { killAll, type Service, startService, textModel } from '../helpers/service';
import { expectError } from '../helpers/services';

const MODEL = textModel('bert-single-label');
const TOO_DEEP = 'body: nested more than 100 levels deep';

afterAll(killAll);

const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => code);

describe('what every request may be', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService('sentiment', { env: MODEL });
  });

  afterEach(async () => {
    expect((await analyze(service, 'good')).status).toBe(200);
  });

  it('100 headers, and not more', async () => {
    const headers = (count: number) => 'x: 1\r\n'.repeat(count);
    const close = 'Connection: close\r\n';
    // Host, Connection and Content-Length are three.
    expect(statuses(await exchange(service, analyzeRequest('good', headers(97) + close)))).toEqual([
      '200',
    ]);
    for (const count of [98, 3000]) {
      const answer = await exchange(service, analyzeRequest('good', headers(count) + close));
      expect(statuses(answer)).toEqual(['431']);
      expect(answer).toContain('{"detail":"There are over 100 headers."}');
    }
  });

  it('16 KiB of headers', async () => {
    const answer = await exchange(service, analyzeRequest('good', `x: ${'x'.repeat(17_000)}\r\n`));
    expect(statuses(answer)).toEqual(['431']);
    expect(answer).toContain('{"detail":"The headers exceed 16384 bytes."}');
  });

  it.each([
    ['10,000 arrays', '['.repeat(10_000) + ']'.repeat(10_000)],
    ['10,000 objects', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
    ['10,000 arrays in the text', `{"text":${'['.repeat(10_000)}${']'.repeat(10_000)}}`],
    ['arrays up to BODY_LIMIT', '['.repeat(524_288) + ']'.repeat(524_288)],
    ['objects up to BODY_LIMIT, never closed', '{"":'.repeat(262_000)],
    ['a field that nobody reads', `{"text":"a","x":${'['.repeat(101)}${']'.repeat(101)}}`],
  ])('100 levels of JSON, not %s', async (_name, body) => {
    expectError(await postRaw(service, '/analyze', body), 422, TOO_DEEP);
  });

  it('100 levels of JSON', async () => {
    const body = `{"text":"a[[[","x":${'['.repeat(99)}${']'.repeat(99)}}`;
    expect((await postRaw(service, '/analyze', body)).status).toBe(200);
  });
});

it('MAX_CONNECTION_REQUESTS ends a connection, and loses nothing', async () => {
  const env = { ...MODEL, MAX_CONNECTION_REQUESTS: '3' };
  const service = await startService('sentiment', { env });
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const connections: unknown[] = [];
  for (let i = 0; i < 7; i++) {
    const answer = await analyze(service, 'good', { agent });
    connections.push([answer.status, answer.headers.connection]);
  }
  const [stays, ends] = [[200, 'keep-alive'], [200, 'close']]; // biome-ignore format: two words
  expect(connections).toEqual([stays, stays, ends, stays, stays, ends, stays]);
  agent.destroy();
  // What was sent before anybody could know is answered, too.
  const answer = await exchange(service, analyzeRequest('good').repeat(10));
  expect(statuses(answer)).toEqual(Array(10).fill('200'));
  expect(answer.match(/connection: close/gi)).toHaveLength(1);
  await service.stop();
});

it('MAX_CONNECTION_REQUESTS ends a connection that never waits', async () => {
  const env = { ...MODEL, MAX_CONNECTION_REQUESTS: '2', MAX_QUEUE_DELAY_MS: '100' };
  const service = await startService('sentiment', { env });
  const health = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n';
  // All are due before the first is answered.
  const answer = await exchange(service, analyzeRequest('good') + health.repeat(999));
  const count = statuses(answer).length;
  expect(count).toBeGreaterThanOrEqual(2);
  expect(count).toBeLessThanOrEqual(2 + 128);
  await service.stop();
});

it('without it a connection takes any number', async () => {
  const service = await startService('sentiment', { env: MODEL });
  const last = analyzeRequest('good', 'Connection: close\r\n');
  const answer = await exchange(service, analyzeRequest('good').repeat(100) + last);
  expect(statuses(answer)).toEqual(Array(101).fill('200'));
  await service.stop();
});

it('KEEP_ALIVE_TIMEOUT_MS ends an idle connection, and is what clients are told', async () => {
  const env = { ...MODEL, KEEP_ALIVE_TIMEOUT_MS: '2000' };
  const service = await startService('sentiment', { env });
  const { headers } = await request(service, {
    path: '/health',
    agent: new http.Agent({ keepAlive: true }),
  });
  expect(headers['keep-alive']).toBe('timeout=2');
  // Closed without a word, and by the service.
  const client = new RawClient(service);
  client.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
  await client.closed;
  client.leave();
  expect(statuses(client.received)).toEqual(['200']);
  await service.stop();
});
