/** Files and batches of OpenAI's API: invalid uploads, invalid lines, limits, and paths in IDs. */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { Folder } from '../../helpers/files';
import { type Answer, request } from '../../helpers/http';
import { newDirectory, removeDirectories } from '../../helpers/models-directory';
import { BatchClient, manyLines, requestLine } from '../../helpers/openai-batches';
import type { Service } from '../../helpers/service';
import { until } from '../../helpers/until';

const VECTORS = '../embeddings/sentences/v2-mean-normalize';
const FILE_LIMIT = 100_000;
const BOUNDARY = 'a-boundary';
const MULTIPART = `multipart/form-data; boundary=${BOUNDARY}`;
const LINE = requestLine('a', { input: 'text' });

const directory = newDirectory();
const files = new Folder();
let service: Service;
let client: BatchClient;

beforeAll(async () => {
  directory.text('vectors', VECTORS);
  const limits = { FILE_LIMIT: String(FILE_LIMIT), BODY_LIMIT: '20000', MAX_FILE_LINES: '1000' };
  service = await directory.start({ env: { FILES_DIR: files.path, ...limits } });
  client = new BatchClient(service);
});

afterAll(async () => {
  await removeDirectories();
  files.remove();
});

/** A part of a form; with a file name, a file. */
function part(name: string, content: string | Buffer, filename?: string): Buffer {
  const file = filename === undefined ? '' : `; filename="${filename}"`;
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(content), Buffer.from('\r\n')]);
}

function form(...parts: readonly Buffer[]): Buffer {
  return Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

function send(body: Buffer | string, headers: object = {}, to = service): Promise<Answer> {
  const all = { 'content-type': MULTIPART, ...headers };
  return request(to, { method: 'POST', path: '/v1/files', body, headers: all });
}

const PURPOSE = part('purpose', 'batch');
const FILE = part('file', LINE, 'a.jsonl');
const contents = (folder = files.path): readonly string[] =>
  readdirSync(path.join(folder, 'files')).filter((name) => name.includes('.jsonl'));

describe('uploads', () => {
  it.each([
    ['no file', form(PURPOSE), {}, 400, 'file: is required'],
    ['no purpose', form(FILE), {}, 400, 'purpose: is required'],
    [
      'another purpose',
      form(part('purpose', 'vision'), FILE),
      {},
      400,
      'purpose: expected "batch"',
    ],
    ['an empty file', form(PURPOSE, part('file', '', 'a')), {}, 400, 'file: is empty'],
    ['a file in another field', form(PURPOSE, part('files', 'x', 'a')), {}, 400, /field "file"/],
    ['two files', form(PURPOSE, FILE, FILE), {}, 400, /one file and at most 8 fields/],
    ['many fields', form(...Array(20).fill(PURPOSE), FILE), {}, 400, /at most 8 fields/],
    ['a long field', form(part('purpose', 'x'.repeat(300)), FILE), {}, 400, /exceeds 256 bytes/],
    ['no end', Buffer.concat([PURPOSE, FILE]), {}, 400, /not a valid multipart form/],
    ['an end within the file', form(PURPOSE, FILE).subarray(0, -40), {}, 400, /multipart form/],
    ['no parts', Buffer.from('text'), {}, 400, /multipart form|file: is required/],
    ['nothing', Buffer.alloc(0), {}, 400, /multipart form|file: is required/],
    ['JSON', Buffer.from('{}'), { 'content-type': 'application/json' }, 415, /multipart/],
    ['no boundary', FILE, { 'content-type': 'multipart/form-data' }, 415, /boundary/],
    ['compression', form(PURPOSE, FILE), { 'content-encoding': 'gzip' }, 415, /identity/],
    [
      'a short lifetime',
      form(PURPOSE, part('expires_after[seconds]', '5'), FILE),
      {},
      400,
      /from 3600 to/,
    ],
    [
      'a large file',
      form(PURPOSE, part('file', 'x'.repeat(FILE_LIMIT + 1), 'a')),
      {},
      413,
      /FILE_LIMIT/,
    ],
    ['a large form', Buffer.alloc(3 * FILE_LIMIT, 'x'), {}, 413, /FILE_LIMIT/],
  ])('rejects %s', async (_, body, headers, status, message) => {
    const before = contents();
    const answer = await send(body, headers);
    const expected = typeof message === 'string' ? message : expect.stringMatching(message);
    expect({ status: answer.status, json: answer.json }).toMatchObject({
      status,
      json: { error: { message: expected, type: 'invalid_request_error' } },
    });
    expect(contents()).toEqual(before);
  });

  it('accepts the parts in each order, and a lifetime', async () => {
    const lifetime = [
      part('expires_after[anchor]', 'created_at'),
      part('expires_after[seconds]', '3600'),
    ];
    const { status, json } = await send(form(FILE, ...lifetime, PURPOSE));
    const { created_at, expires_at } = json as { created_at: number; expires_at: number };
    expect([status, expires_at - created_at]).toEqual([200, 3600]);
  });

  it.each([
    ['a\\"b\u0001\u{1f600}.jsonl', 200],
    ['C:\\\\temp\\\\x.jsonl', 200],
    ['x'.repeat(1000), 200],
    ['x'.repeat(100_000), 200],
    ['', 200],
  ])('shortens the name %#', async (filename, status) => {
    const answer = await send(form(PURPOSE, part('file', LINE, filename)));
    expect(answer.status).toBe(status);
    const { filename: shown = '' } = answer.json as { filename?: string };
    expect(shown).not.toMatch(/[\\/]temp/);
    expect(shown.length).toBeLessThan(256);
  });

  it('reads nothing but forms: bytes of all kinds do not end the service', async () => {
    const whole = form(PURPOSE, part('expires_after[seconds]', '3600'), FILE);
    for (let seed = 1; seed <= 200; seed++) {
      const bytes = Buffer.from(whole);
      for (let i = 0; i < 3; i++) bytes[(seed * 7919 + i * 104_729) % bytes.length] = seed & 255;
      const { status } = await send(seed % 3 === 0 ? bytes.subarray(0, seed) : bytes);
      expect([200, 400]).toContain(status);
    }
  });

  it('removes the file of a client that disconnects', async () => {
    const before = contents();
    const socket = net.connect(service.port, '127.0.0.1');
    const head = `POST /v1/files HTTP/1.1\r\nHost: a\r\nContent-Type: ${MULTIPART}\r\n`;
    socket.write(`${head}Content-Length: 50000\r\n\r\n`);
    socket.write(part('file', 'x'.repeat(20_000), 'a.jsonl'));
    await until('the file is there', () => contents().length > before.length);
    socket.destroy();
    await until('the file is removed', () => contents().length === before.length);
  });
});

describe('IDs', () => {
  it.each([
    '..%2f..%2fetc%2fpasswd',
    '%2e%2e%2f.lock',
    'file-..%2f..%2fx',
    `file-${'0'.repeat(32)}`,
    `file-${'a'.repeat(300)}`,
    'file-%00',
    '__proto__',
    'constructor',
  ])('does not find %s', async (id) => {
    for (const [method, at] of [
      ['GET', `/v1/files/${id}`],
      ['GET', `/v1/files/${id}/content`],
      ['DELETE', `/v1/files/${id}`],
      ['GET', `/v1/batches/${id}`],
      ['POST', `/v1/batches/${id}/cancel`],
    ] as const) {
      const { status, json, text } = await request(service, { method, path: at });
      expect({ status, json }).toMatchObject({ status: 404, json: { error: { param: 'id' } } });
      expect(text).not.toContain(files.path);
    }
    const body = { input_file_id: decodeURIComponent(id), endpoint: '/v1/embeddings' };
    const creating = client.openai.batches.create({ ...body, completion_window: '24h' } as never);
    await expect(creating).rejects.toMatchObject({ status: 404 });
  });
});

describe('lines', () => {
  const json = (value: object): string => `${JSON.stringify(value)}\n`;
  const valid = { custom_id: 'a', method: 'POST', url: '/v1/embeddings', body: { input: 'a' } };

  it.each([
    ['not JSON', '{"a": \n', 'invalid_json_line', null],
    ['not an object', '[1]\n', 'invalid_json_line', null],
    ['not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'invalid_json_line', null],
    ['deep', `${'['.repeat(5000)}\n`, 'invalid_json_line', null],
    ['long', requestLine('a', { input: 'x'.repeat(25_000) }), 'line_too_long', null],
    [
      'without custom_id',
      json({ ...valid, custom_id: undefined }),
      'invalid_custom_id',
      'custom_id',
    ],
    [
      'with a long custom_id',
      json({ ...valid, custom_id: 'x'.repeat(600) }),
      'invalid_custom_id',
      'custom_id',
    ],
    ['of another method', json({ ...valid, method: 'GET' }), 'invalid_method', 'method'],
    ['of another URL', json({ ...valid, url: '/v1/files' }), 'invalid_url', 'url'],
    ['with a text as body', json({ ...valid, body: 'text' }), 'invalid_body', 'body'],
    [
      'with a repeated custom_id',
      json({ ...valid, custom_id: 'first' }),
      'duplicate_custom_id',
      'custom_id',
    ],
  ])('reports a line that is %s', async (_, content, code, param) => {
    const first = requestLine('first', { input: 'text' });
    const batch = await client.run(
      Buffer.concat([Buffer.from(`${first}\n`), Buffer.from(content)]),
    );
    expect(batch).toMatchObject({
      status: 'failed',
      failed_at: expect.any(Number),
      errors: { object: 'list', data: [{ code, param, line: 3 }] },
      output_file_id: null,
      error_file_id: null,
    });
  });

  it('rejects blank files, too many lines, and reports at most 100 problems', async () => {
    const codesOf = async (content: string) =>
      (await client.run(content)).errors?.data?.map(({ code }) => code);
    expect(await codesOf('\n \r\n\t\n')).toEqual(['empty_file']);
    expect(await codesOf('\n'.repeat(50_000))).toEqual(['empty_file']);
    const short = (count: number) =>
      Array.from({ length: count }, (_, i) => requestLine(`${i}`, {})).join('');
    expect(await codesOf(short(1001))).toEqual(['too_many_requests']);
    expect(await codesOf('x\n'.repeat(900))).toHaveLength(100);
  });

  it('accepts a byte order mark, CRLF and no line break at the end', async () => {
    const content = `\ufeff${LINE.trimEnd()}\r\n\r\n${requestLine('b', { input: 'b' }).trimEnd()}`;
    const { status, request_counts } = await client.run(content);
    expect({ status, request_counts }).toEqual({
      status: 'completed',
      request_counts: { total: 2, completed: 2, failed: 0 },
    });
  });
});

describe('batches', () => {
  it.each([
    [{ endpoint: '/v1/files' }, 400, 'endpoint'],
    [{ endpoint: '/v1/moderations' }, 400, 'endpoint'],
    [{ completion_window: '1h' }, 400, 'completion_window'],
    [{ input_file_id: 5 }, 400, 'input_file_id'],
    [{ metadata: [] }, 400, 'metadata'],
    [{ metadata: { a: 1 } }, 400, 'metadata'],
    [{ metadata: { a: 'x'.repeat(513) } }, 400, 'metadata'],
    [{ output_expires_after: { anchor: 'created_at', seconds: 1 } }, 400, null],
  ])('rejects %j', async (change, status, param) => {
    const id = await client.upload(LINE);
    const body = { input_file_id: id, endpoint: '/v1/embeddings', completion_window: '24h' };
    const creating = client.openai.batches.create({ ...body, ...change } as never);
    await expect(creating).rejects.toMatchObject({ status, ...(param && { error: { param } }) });
  });

  it('limits files, their size and unfinished batches', async () => {
    const folder = new Folder();
    const env = { FILES_DIR: folder.path, MAX_FILES: '3', MAX_BATCHES: '1' };
    const small = { FILE_LIMIT: '2mb', FILES_LIMIT: '2500kb' };
    const limited = await directory.start({ env: { ...env, ...small } });
    const other = new BatchClient(limited);
    const content = manyLines(10_000);
    const { id, input_file_id } = await other.create(content);
    const second = {
      input_file_id,
      endpoint: '/v1/embeddings',
      completion_window: '24h',
    } as const;
    const creating = other.openai.batches.create(second);
    await expect(creating).rejects.toMatchObject({ status: 413, message: /MAX_BATCHES/ });
    const full = await send(form(PURPOSE, part('file', 'x'.repeat(2e6), 'a')), {}, limited);
    expect(full).toMatchObject({ status: 413, text: expect.stringContaining('FILES_LIMIT') });
    // The output does not fit either: what is done so far can be downloaded.
    const batch = await other.ended(id);
    expect(batch).toMatchObject({ status: 'failed', errors: { data: [{ code: 'storage_full' }] } });
    const lines = await other.lines(batch.output_file_id);
    expect(lines).toHaveLength(batch.request_counts?.completed ?? -1);
    await other.openai.files.delete(input_file_id);
    for (let i = 0; i < 2; i++) await other.upload(LINE);
    const last = await send(form(PURPOSE, FILE), {}, limited);
    expect(last).toMatchObject({ status: 413, text: expect.stringContaining('MAX_FILES') });
    await limited.stop();
    folder.remove();
  });

  it('describes its routes as valid OpenAPI', async () => {
    const { text } = await request(service, { path: '/openapi.json' });
    const script = path.join(__dirname, '..', 'scripts', 'validate-openapi.mjs');
    const result = execFileSync(process.execPath, [script], { input: text, encoding: 'utf8' });
    expect(JSON.parse(result)).toEqual({ valid: true, version: '3.1' });
    const { paths, tags } = JSON.parse(text);
    expect(Object.keys(paths['/v1/files'].post.requestBody.content)).toEqual([
      'multipart/form-data',
    ]);
    expect(paths['/v1/batches/{id}/cancel'].post.responses).toHaveProperty('404');
    const names = tags.map(({ name }: { name: string }) => name);
    expect(names).toEqual([...new Set(names)]);
  });
});
