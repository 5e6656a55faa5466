import { gzipSync } from 'node:zlib';
import { type Answer, post, postRaw, request } from '../helpers/http';
import { killAll, type Service, startService } from '../helpers/service';
import { expectError, SERVICE_CASES } from '../helpers/services';
import { zstdSync } from '../helpers/zstd';

const MEBIBYTE = 1024 ** 2;
const ZSTD_MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** A zstd frame of empty blocks and one block that is not compressed. */
function rawFrame(text: string, emptyBlocks = 0): Buffer {
  const content = Buffer.from(text);
  const header = Buffer.alloc(3);
  header.writeUIntLE((content.length << 3) | 1, 0, 3);
  const window = Buffer.from([0, 10 << 3]);
  return Buffer.concat([ZSTD_MAGIC, window, Buffer.alloc(3 * emptyBlocks), header, content]);
}

afterAll(killAll);

describe.each(SERVICE_CASES)('the $name service', ({ name, path, options, ...bodies }) => {
  let service: Service;
  const body = JSON.stringify(bodies.body);
  const send = (text: string | Buffer, headers = {}): Promise<Answer> =>
    postRaw(service, path, text, { headers });

  beforeAll(async () => {
    service = await startService(name, options);
  });

  afterAll(async () => {
    expect(await service.stop()).toEqual({ code: 0, signal: null });
  });

  describe('GET /health', () => {
    it('is healthy, with the model loaded', async () => {
      const answer = await request(service, { path: '/health' });
      expect(answer.status).toBe(200);
      expect(answer.text).toBe('{"status":"healthy","model_loaded":true}');
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    });

    it('answers with a query, and HEAD without a body', async () => {
      expect((await request(service, { path: '/health?probe=1' })).status).toBe(200);
      const head = await request(service, { method: 'HEAD', path: '/health' });
      expect([head.status, head.text]).toEqual([200, '']);
    });
  });

  describe('unknown paths', () => {
    it.each(['/nothing', '/health/', '/Health', '/HEALTH', `${path}/`, `${path}/x`, '//'])(
      '%s is 404',
      async (unknown) => {
        expectError(await request(service, { path: unknown }), 404, 'Path not found.');
      },
    );

    it.each(['/%', '/%ff', '/health%', '/%2e%2e/health', `${path}%00`, '/..', '/\\'])(
      '%s is 404, whatever it decodes to',
      async (unknown) => {
        expectError(await postRaw(service, unknown, body), 404, 'Path not found.');
      },
    );
  });

  describe('wrong methods', () => {
    it.each(['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'TRACE'])(
      '%s on the endpoint is 405',
      async (method) => {
        const answer = await request(service, { method, path });
        expect([answer.status, answer.headers.allow]).toEqual([405, 'POST']);
        if (method !== 'HEAD') expectError(answer, 405, 'This path accepts POST only.');
      },
    );

    it.each(['POST', 'PUT', 'DELETE'])('%s on /health is 405', async (method) => {
      const answer = await request(service, { method, path: '/health' });
      expect(answer.headers.allow).toBe('GET, HEAD');
      expectError(answer, 405, 'This path accepts GET, HEAD only.');
    });

    it('OPTIONS says what is allowed', async () => {
      const answer = await request(service, { method: 'OPTIONS', path });
      expect([answer.status, answer.headers.allow, answer.text]).toEqual([204, 'POST', '']);
    });
  });

  describe('Content-Type', () => {
    it.each([
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/octet-stream',
      'application/jsonx',
      'application/jsonl',
      'text/json',
      'json',
    ])('%s is 415', async (type) => {
      const answer = await send(body, { 'content-type': type });
      expectError(answer, 415, 'The Content-Type must be application/json.');
    });

    it.each(['iso-8859-1', 'utf-16', '"latin1"'])('charset %s is 415', async (charset) => {
      const answer = await send(body, { 'content-type': `application/json; charset=${charset}` });
      expectError(answer, 415, 'The charset of JSON must be utf-8.');
    });

    it.each([
      'application/json',
      'Application/JSON',
      'application/json;',
      'application/json; charset=utf-8',
      'application/json;charset="UTF-8"',
      'application/vnd.api+json; x=y',
      '',
    ])('%p is taken', async (type) => {
      expect((await send(body, { 'content-type': type })).status).toBe(200);
    });

    it('may be absent', async () => {
      const headers = { 'content-length': Buffer.byteLength(body) };
      const answer = await request(service, { method: 'POST', path, body, headers });
      expect(answer.status).toBe(200);
    });
  });

  describe('a body that is no JSON object', () => {
    it.each([
      ['', 'body: is required'],
      [' ', 'body: is not valid JSON'],
      ['x', 'body: is not valid JSON'],
      ['{"a":1}x', 'body: is not valid JSON (at position 7)'],
      ['{"a" 1}', 'body: is not valid JSON (at position 5)'],
      ["{'a':1}", 'body: is not valid JSON (at position 1)'],
      ['{"a":NaN}', 'body: is not valid JSON'],
      ['[]', 'body: expected an object'],
      ['null', 'body: expected an object'],
      ['"text"', 'body: expected an object'],
      ['1', 'body: expected an object'],
    ])('%j is 422', async (text, detail) => {
      expectError(await send(text), 422, detail);
    });

    it('never comes back in the message', async () => {
      const answer = await send('{"text": "secret-1" secret-2}');
      expectError(answer, 422, 'body: is not valid JSON (at position 20)');
    });

    it.each([['ff'], ['22c328'.padStart(8, '22')], ['c080'], ['eda080']])(
      'bytes %s that are not UTF-8 are 422',
      async (hex) => {
        expectError(await send(Buffer.from(hex, 'hex')), 422, 'body: is not valid UTF-8');
      },
    );

    it('without any body is 422', async () => {
      expectError(await request(service, { method: 'POST', path }), 422, 'body: is required');
    });

    it('nested a hundred thousand deep is 422', async () => {
      expectError(
        await send(`${'['.repeat(1e5)}${']'.repeat(1e5)}`),
        422,
        'body: nested more than 100 levels deep',
      );
    });
  });

  describe('encodings', () => {
    it('takes a byte order mark', async () => {
      expect((await send(`\ufeff${body}`)).status).toBe(200);
    });

    it('takes gzip', async () => {
      expect((await send(gzipSync(body), { 'content-encoding': 'gzip' })).status).toBe(200);
    });

    it('takes zstd', async () => {
      const coding = { 'content-encoding': 'zstd' };
      const compressed = zstdSync(Buffer.from(body));
      expect((await send(compressed, coding)).status).toBe(200);
      const frames = Buffer.concat([rawFrame(body.slice(0, 5)), rawFrame(body.slice(5))]);
      expect((await send(frames, { ...coding, 'content-encoding': 'ZSTD' })).status).toBe(200);
      const chunked = { 'content-length': undefined, 'transfer-encoding': 'chunked' };
      expect((await send(compressed, { ...coding, ...chunked })).status).toBe(200);
    });

    it.each<[string, Buffer]>([
      ['no zstd', Buffer.from(body)],
      ['a truncated frame', rawFrame(body).subarray(0, -1)],
      ['a window of 16 MiB', Buffer.concat([ZSTD_MAGIC, Buffer.from([0, 14 << 3, 1, 0, 0])])],
      ['many empty blocks', rawFrame(body, 1000)],
      ['many empty frames', Buffer.concat(Array(1000).fill(rawFrame('')))],
    ])('answers %s with 422', async (_, bytes) => {
      const answer = await send(bytes, { 'content-encoding': 'zstd' });
      expectError(answer, 422, 'body: cannot be decoded with its Content-Encoding');
    });

    it('takes a chunked body', async () => {
      const answer = await send(body, {
        'content-length': undefined,
        'transfer-encoding': 'chunked',
      });
      expect(answer.status).toBe(200);
    });

    it('answers what cannot be inflated with 422', async () => {
      const answer = await send(body, { 'content-encoding': 'gzip' });
      expectError(answer, 422, 'body: cannot be decoded with its Content-Encoding');
      const cut = gzipSync(body).subarray(0, -12);
      const cutAnswer = await send(cut, { 'content-encoding': 'gzip' });
      expectError(cutAnswer, 422, 'body: cannot be decoded with its Content-Encoding');
    });

    it('answers an unknown one with 415', async () => {
      const answer = await send(body, { 'content-encoding': 'compress' });
      expectError(answer, 415, 'The Content-Encoding must be gzip, deflate, br, zstd or identity.');
    });
  });

  describe('BODY_LIMIT', () => {
    const detail = `The body exceeds the limit of ${MEBIBYTE} bytes.`;

    it('is inclusive', async () => {
      expect((await send(body.padEnd(MEBIBYTE))).status).toBe(200);
      expectError(await send(body.padEnd(MEBIBYTE + 1)), 413, detail);
    });

    it('counts a chunked body', async () => {
      const headers = { 'content-length': undefined, 'transfer-encoding': 'chunked' };
      expectError(await send(body.padEnd(3 * MEBIBYTE), headers), 413, detail);
    });

    it('counts what zstd decodes', async () => {
      const bomb = zstdSync(Buffer.alloc(64 * MEBIBYTE, ' '));
      expect(bomb.length).toBeLessThan(MEBIBYTE / 8);
      const coding = { 'content-encoding': 'zstd' };
      expectError(await send(bomb, coding), 413, detail);
      // A block of 128 KiB in 4 bytes, without the size of the content.
      const block = Buffer.from([2, 0, 16, 32]);
      const window = Buffer.from([0, 10 << 3]);
      const blocks = Array(1000).fill(block);
      expectError(await send(Buffer.concat([ZSTD_MAGIC, window, ...blocks]), coding), 413, detail);
    });

    it('counts what is inflated', async () => {
      const bomb = gzipSync(body.padEnd(64 * MEBIBYTE));
      expect(bomb.length).toBeLessThan(MEBIBYTE);
      expectError(await send(bomb, { 'content-encoding': 'gzip' }), 413, detail);
    });
  });

  describe('the order of checks', () => {
    it('is 422 before 400', async () => {
      expectError(await send('{}'), 422, /^(text|signal): is required$/);
      expectError(await post(service, path, bodies.refused), 400, bodies.refusedDetail);
    });
  });

  it('ignores fields it does not know', async () => {
    const more = { ...bodies.body, more: 1, __proto__: null, model: {}, label: 'x' };
    const [plain, extended] = await Promise.all([send(body), post(service, path, more)]);
    expect(extended.status).toBe(200);
    expect(extended.json).toEqual(plain.json);
  });

  it('says nothing of what it is made of', async () => {
    const answers = await Promise.all([send(body), send(''), request(service, { path: '/x' })]);
    for (const { headers } of answers) {
      expect(headers).not.toHaveProperty('x-powered-by');
      expect(headers).not.toHaveProperty('etag');
      expect(headers).not.toHaveProperty('server');
    }
  });

  describe('X-Request-Id', () => {
    const idOf = async (id: string) =>
      (await request(service, { path: '/health', headers: { 'x-request-id': id } })).headers[
        'x-request-id'
      ];

    it.each(['a', 'A-1_b.c', 'x'.repeat(128)])('is echoed: %s', async (id) => {
      expect(await idOf(id)).toBe(id);
    });

    it.each(['', 'a b', 'x'.repeat(129), '{"a":1}', 'ü'])('is made where it is %j', async (id) => {
      expect(await idOf(id)).toMatch(/^[0-9a-f-]{36}$/);
    });

    it('stands on errors too', async () => {
      const headers = { 'x-request-id': 'id-7' };
      expect((await send('', headers)).headers['x-request-id']).toBe('id-7');
      const missing = await request(service, { path: '/x', headers });
      expect(missing.headers['x-request-id']).toBe('id-7');
    });
  });
});

describe.each(SERVICE_CASES)('the $name service without its model', (service_) => {
  const { name, path, body, refused, unloadable } = service_;
  let service: Service;

  beforeAll(async () => {
    service = await startService(name, { env: unloadable });
  });

  afterAll(() => service.stop());

  it('is healthy, with no model loaded', async () => {
    const answer = await request(service, { path: '/health' });
    expect(answer.status).toBe(200);
    expect(answer.text).toBe('{"status":"healthy","model_loaded":false}');
  });

  it('answers 500, after 422 and before 400', async () => {
    expectError(await post(service, path, body), 500, 'Model is not loaded.');
    expectError(await post(service, path, refused), 500, 'Model is not loaded.');
    expectError(await post(service, path, {}), 422, /is required$/);
  });

  it('says why once, in one line', () => {
    const errors = service.logs.filter(({ msg }) => msg.startsWith('Model is not loaded: '));
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({
      level: 'error',
      model: expect.stringContaining('nonexistent'),
    });
  });
});
