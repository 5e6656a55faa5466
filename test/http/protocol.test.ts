import net from 'node:net';
import { analyze, exchange, post, request } from '../helpers/http';
import { RawClient } from '../helpers/raw-clients';
import { killAll, type Service, startService, textModel } from '../helpers/service';

let service: Service;

beforeAll(async () => {
  service = await startService('sentiment', { env: textModel('bert-single-label') });
});

afterAll(killAll);

function detailOf(answer: string): unknown {
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4));
}

describe('what is no HTTP', () => {
  it.each([
    ['words', 'hello\r\n\r\n'],
    ['an unknown method', 'FETCH /health HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a bad header', 'GET /health HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n'],
    [
      'two lengths',
      'POST /analyze HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx',
    ],
    [
      'a bad chunk',
      'POST /analyze HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    ],
  ])('%s is 400 in JSON', async (_name, bytes) => {
    const answer = await exchange(service, bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toMatch(/\r\ncontent-type: application\/json; charset=utf-8\r\n/i);
    expect(detailOf(answer)).toEqual({ detail: 'The request is not valid HTTP.' });
  });

  it('headers that are too large are 431 in JSON', async () => {
    const large = `GET /health HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`;
    const answer = await exchange(service, large);
    expect(answer).toMatch(/^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/);
    expect(detailOf(answer)).toEqual({ detail: 'The headers exceed 16384 bytes.' });
  });
});

it('wants a host of HTTP/1.1', async () => {
  const answer = await exchange(service, 'GET /health HTTP/1.1\r\nConnection: close\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  expect(detailOf(answer)).toEqual({ detail: 'The Host header is missing.' });
});

it('ignores an expectation it does not know', async () => {
  const answer = await exchange(
    service,
    'GET /health HTTP/1.1\r\nHost: x\r\nExpect: magic\r\nConnection: close\r\n\r\n',
  );
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
});

it('answers pipelined requests in order', async () => {
  const body = '{"text":"good"}';
  const answer = await exchange(
    service,
    `POST /analyze HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}` +
      'GET /health HTTP/1.1\r\nHost: x\r\n\r\n' +
      'GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  );
  const order = ['"input_text":"good"', '"status":"healthy"', '"detail":'];
  const places = order.map((part) => answer.indexOf(part));
  expect(places).toEqual([...places].sort((a, b) => a - b));
  expect(places).not.toContain(-1);
});

it('takes HTTP/1.0', async () => {
  expect(await exchange(service, 'GET /health HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
});

describe('a target', () => {
  const ask = (method: string, target: string, body = '') =>
    exchange(
      service,
      `${method} ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );

  it.each([
    'http://any.host/health',
    'HTTP://any.host:80/health?query',
    '/health#fragment',
    // Hosts that no URL can have.
    'http://[::1/health',
    'http://xn--a/health',
    'http://a:b/health',
  ])('%s is that of /health', async (target) => {
    const answer = await ask('GET', target);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).toContain('"status":"healthy"');
  });

  it.each(['http://any.host/analyze', 'http://[::1/analyze?query', '/analyze#fragment'])(
    '%s is that of /analyze, which keeps its deadline',
    async (target) => {
      expect(await ask('POST', target, '{"text":"good"}')).toContain('"input_text":"good"');
    },
  );

  it.each(['*', '//health', 'http://any.host//health', 'http://any.host/other'])(
    '%s is that of nothing',
    async (target) => {
      expect(detailOf(await ask('GET', target))).toEqual({ detail: 'Path not found.' });
    },
  );

  it('whose host is no host leaves nothing on standard error', () => {
    expect(service.stderr).toBe('');
  });
});

it('has nothing between the head and the body of an answer to what came pipelined and expects 100', async () => {
  const one = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n';
  const answer = await exchange(service, `${one}\r\n${one}Expect: 100-continue\r\n\r\n`);
  const bodies = answer.split(/HTTP\/1\.1 200 OK\r\n[\s\S]*?\r\n\r\n/).slice(1);
  expect(bodies).toHaveLength(2);
  for (const body of bodies) expect(JSON.parse(body)).toMatchObject({ openapi: '3.1.1' });
});

it('answers what asks for another protocol, and takes nothing behind it for a request', async () => {
  const client = await new RawClient(service).connected();
  const upgrade = 'Host: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n';
  const body = '{"text":"good"}';
  const inBody = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
  client.write(
    `POST /analyze HTTP/1.1\r\n${upgrade}Content-Length: ${body.length}\r\n\r\n${body}` +
      `POST /analyze HTTP/1.1\r\nHost: x\r\nContent-Length: ${inBody.length}\r\n\r\n`,
  );
  await client.receives(/\r\n\r\n./);
  client.write(inBody);
  await client.closed;
  expect(client.received).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\nConnection: close\r\n/);
  expect(client.received.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  expect(client.received).toContain('"input_text":"good"');
  client.leave();
});

it('answers one connection many times', async () => {
  const times = 20;
  const one = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n';
  const last = 'GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  const answer = await exchange(service, one.repeat(times - 1) + last);
  expect(answer.match(/"status":"healthy"/g)).toHaveLength(times);
});

it('lets a client go in the middle of its body', async () => {
  const id = 'leaves-early';
  await new Promise<void>((resolve) => {
    const socket = net.connect(service.port, '127.0.0.1', () => {
      socket.write(
        `POST /analyze HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${id}\r\nContent-Length: 100\r\n\r\n{"text"`,
        () => socket.destroy(),
      );
    });
    socket.on('close', () => resolve());
  });
  const line = await service.lineOf(id);
  expect(line).toMatchObject({ level: 'info', status: 499, route: '/analyze' });
  expect((await request(service, { path: '/health' })).status).toBe(200);
});

describe('the log', () => {
  const logged = (id: string) => service.lineOf(id);

  it('has one line a request, with what the request cost', async () => {
    const headers = { 'x-request-id': 'counted' };
    await analyze(service, 'a secret text', { headers });
    expect(await logged('counted')).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      service: 'sentiment',
      model: 'sentiment',
      requestId: 'counted',
      method: 'POST',
      route: '/analyze',
      status: 200,
      durationMs: expect.any(Number),
      queueMs: expect.any(Number),
      tokenizationMs: expect.any(Number),
      inferenceMs: expect.any(Number),
      batchSize: 1,
      tokens: expect.any(Number),
      truncated: false,
      msg: 'request',
    });
    expect(service.logs.filter(({ requestId }) => requestId === 'counted')).toHaveLength(1);
  });

  it('never has what the client wrote', async () => {
    const headers = { 'x-request-id': 'private', 'user-agent': 'secret-agent' };
    await request(service, { path: '/secret-path?secret=query', headers });
    expect(await logged('private')).toMatchObject({ route: null, status: 404 });
    await analyze(service, 'secret-body');
    await post(service, '/analyze?secret-query', { text: 5, 'secret-key': 1 });
    await analyze(service, 'ok', { headers: { 'x-request-id': 'last' } });
    await logged('last');
    expect(service.stdout).not.toContain('secret');
  });

  it('leaves health checks out', async () => {
    await request(service, { path: '/health', headers: { 'x-request-id': 'probe' } });
    await analyze(service, 'ok', { headers: { 'x-request-id': 'after' } });
    await logged('after');
    expect(service.stdout).not.toContain('probe');
  });
});
