import { readdirSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Folder } from '../../helpers/files';
import { request } from '../../helpers/http';
import { newDirectory, removeDirectories } from '../../helpers/models-directory';
import {
  BatchClient,
  FORM_TYPE,
  formOf,
  formPart,
  requestLine,
  sendForm,
} from '../../helpers/openai-batches';
import type { Service } from '../../helpers/service';
import { until } from '../../helpers/until';

const VECTORS = '../embeddings/sentences/v2-mean-normalize';
const FILE_LIMIT = 100_000;
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

const PURPOSE = formPart('purpose', 'batch');
const FILE = formPart('file', LINE, 'a.jsonl');
const contents = (folder = files.path): readonly string[] =>
  readdirSync(path.join(folder, 'files')).filter((name) => name.includes('.jsonl'));

/** Sends the start of an upload. @param bytes declared length of the body */
function beginUpload(to: Service, bytes: number): net.Socket {
  const socket = net.connect(to.port, '127.0.0.1').on('error', () => {});
  const head = `POST /v1/files HTTP/1.1\r\nHost: a\r\nContent-Type: ${FORM_TYPE}\r\n`;
  socket.write(`${head}X-Request-Id: upload-${bytes}\r\nContent-Length: ${bytes}\r\n\r\n`);
  socket.write(formPart('file', 'x'.repeat(20_000), 'a.jsonl'));
  return socket;
}

describe('uploads', () => {
  it.each([
    ['no file', formOf(PURPOSE), {}, 400, 'file: is required'],
    ['no purpose', formOf(FILE), {}, 400, 'purpose: is required'],
    [
      'another purpose',
      formOf(formPart('purpose', 'vision'), FILE),
      {},
      400,
      'purpose: expected "batch"',
    ],
    ['an empty file', formOf(PURPOSE, formPart('file', '', 'a')), {}, 400, 'file: is empty'],
    [
      'a file in another field',
      formOf(PURPOSE, formPart('files', 'x', 'a')),
      {},
      400,
      /field "file"/,
    ],
    ['two files', formOf(PURPOSE, FILE, FILE), {}, 400, /one file and at most 8 fields/],
    ['many fields', formOf(...Array(20).fill(PURPOSE), FILE), {}, 400, /at most 8 fields/],
    [
      'a long field',
      formOf(formPart('purpose', 'x'.repeat(300)), FILE),
      {},
      400,
      /exceeds 256 bytes/,
    ],
    ['no end', Buffer.concat([PURPOSE, FILE]), {}, 400, /not a valid multipart form/],
    ['an end within the file', formOf(PURPOSE, FILE).subarray(0, -40), {}, 400, /multipart form/],
    ['no parts', Buffer.from('text'), {}, 400, /multipart form|file: is required/],
    ['nothing', Buffer.alloc(0), {}, 400, /multipart form|file: is required/],
    ['JSON', Buffer.from('{}'), { 'content-type': 'application/json' }, 415, /multipart/],
    ['no boundary', FILE, { 'content-type': 'multipart/form-data' }, 415, /boundary/],
    ['compression', formOf(PURPOSE, FILE), { 'content-encoding': 'gzip' }, 415, /identity/],
    [
      'a short lifetime',
      formOf(PURPOSE, formPart('expires_after[seconds]', '5'), FILE),
      {},
      400,
      /from 3600 to/,
    ],
    [
      'a large file',
      formOf(PURPOSE, formPart('file', 'x'.repeat(FILE_LIMIT + 1), 'a')),
      {},
      413,
      /FILE_LIMIT/,
    ],
    ['a large form', Buffer.alloc(3 * FILE_LIMIT, 'x'), {}, 413, /FILE_LIMIT/],
  ])('rejects %s', async (_, body, headers, status, message) => {
    const before = contents();
    const answer = await sendForm(service, body, headers);
    const expected = typeof message === 'string' ? message : expect.stringMatching(message);
    expect({ status: answer.status, json: answer.json }).toMatchObject({
      status,
      json: { error: { message: expected, type: 'invalid_request_error' } },
    });
    expect(contents()).toEqual(before);
  });

  it('accepts the parts in each order, and a lifetime', async () => {
    const lifetime = [
      formPart('expires_after[anchor]', 'created_at'),
      formPart('expires_after[seconds]', '3600'),
    ];
    const { status, json } = await sendForm(service, formOf(FILE, ...lifetime, PURPOSE));
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
    const answer = await sendForm(service, formOf(PURPOSE, formPart('file', LINE, filename)));
    expect(answer.status).toBe(status);
    const { filename: shown = '' } = answer.json as { filename?: string };
    expect(shown).not.toMatch(/[\\/]temp/);
    expect(shown.length).toBeLessThan(256);
  });

  it('reads nothing but forms: bytes of all kinds do not end the service', async () => {
    const whole = formOf(PURPOSE, formPart('expires_after[seconds]', '3600'), FILE);
    for (let seed = 1; seed <= 200; seed++) {
      const bytes = Buffer.from(whole);
      for (let i = 0; i < 3; i++) bytes[(seed * 7919 + i * 104_729) % bytes.length] = seed & 255;
      const { status } = await sendForm(service, seed % 3 === 0 ? bytes.subarray(0, seed) : bytes);
      expect([200, 400]).toContain(status);
    }
  });

  it('removes the file of a client that disconnects', async () => {
    const before = contents();
    const socket = beginUpload(service, 50_000);
    await until('the file is there', () => contents().length > before.length);
    socket.destroy();
    await until('the file is removed', () => contents().length === before.length);
  });

  it('closes the connection of a client that sends without an end', async () => {
    const before = contents();
    const socket = beginUpload(service, 1e12);
    const start = performance.now();
    const endless = Readable.from(
      (function* () {
        for (;;) yield Buffer.alloc(1024 ** 2, 'x');
      })(),
    );
    await expect(pipeline(endless, socket)).rejects.toThrow(/EPIPE|ECONNRESET|premature/i);
    expect(performance.now() - start).toBeLessThan(30_000);
    // A client that is still sending may not receive the response.
    expect(await service.lineOf('upload-1000000000000')).toMatchObject({ status: 413 });
    expect(contents()).toEqual(before);
  });

  it('does not wait for a stalled upload at the shutdown', async () => {
    const folder = new Folder();
    const env = { FILES_DIR: folder.path };
    const stopping = await directory.start({ env });
    beginUpload(stopping, 50_000);
    await until('the file is there', () => contents(folder.path).length === 1);
    const start = performance.now();
    expect(await stopping.stop()).toMatchObject({ code: 0 });
    expect(performance.now() - start).toBeLessThan(10_000);
    const next = await directory.start({ env });
    expect(contents(folder.path)).toEqual([]);
    await next.stop();
    folder.remove();
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
