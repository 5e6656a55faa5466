import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from '../helpers/http';
import { killAll, ROOT, type Service, startService } from '../helpers/service';
import { expectError, SERVICE_CASES } from '../helpers/services';

/** Bytes that a browser loads to show a page, compressed. */
const LARGEST_PAGE = 300 * 1024;

afterAll(killAll);

describe.each(SERVICE_CASES)('the page of $name', ({ name, options }) => {
  const folder = path.join(ROOT, 'dist', 'pages', name);
  const html = readFileSync(path.join(folder, 'index.html'), 'utf8');
  const linked = [...html.matchAll(/(?:src|href)="([^"]+\.(?:js|css|svg))"/g)].map(
    ([, url]) => url as string,
  );
  let service: Service;
  beforeAll(async () => {
    service = await startService(name, options);
  });
  const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
    request(service, { path, headers, method });

  it('is at /, is looked for again each time, and may load its own files only', async () => {
    const answer = await get('/');
    expect([answer.status, answer.text]).toEqual([200, html]);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-length': String(Buffer.byteLength(html)),
      'cache-control': 'no-cache',
      'content-security-policy': expect.stringMatching(/^default-src 'self';/),
      'x-content-type-options': 'nosniff',
      vary: 'Accept-Encoding',
    });
    expect(answer.headers['content-security-policy']).not.toContain('unsafe');
  });

  it('has nothing inline, and links that lead to its own files', async () => {
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]* src=)|https?:/);
    expect(linked.length).toBeGreaterThanOrEqual(4);
    for (const url of linked) {
      const { status, headers } = await get(`/${url}`);
      expect([url, status]).toEqual([url, 200]);
      const isHashed = /-[0-9A-Z]{8}\./.test(url);
      expect(headers['cache-control']).toBe(
        isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
      );
    }
  });

  it('is small', () => {
    const files = readdirSync(folder).filter((file) => /\.(?:html|js|css|svg)\.gz$/.test(file));
    const bytes = files.map((file) => readFileSync(path.join(folder, file)).length);
    const sum = bytes.reduce((total, length) => total + length, 0);
    expect(files.length).toBeGreaterThan(linked.length);
    expect(sum).toBeLessThan(LARGEST_PAGE);
  });

  it.each([
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['gzip;q=0', undefined],
    ['identity', undefined],
    ['', undefined],
  ])('sends to "Accept-Encoding: %s" the form %s', async (accepted, encoding) => {
    const answer = await get('/', { 'accept-encoding': accepted });
    expect(answer.headers['content-encoding']).toBe(encoding);
    const unpack = encoding === 'br' ? brotliDecompressSync : gunzipSync;
    expect((encoding ? unpack(answer.bytes) : answer.bytes).toString()).toBe(html);
  });

  it('answers 304 to who has it, each form by a name of its own', async () => {
    const plain = (await get('/')).headers.etag as string;
    const packed = (await get('/', { 'accept-encoding': 'br' })).headers.etag as string;
    expect(plain).not.toBe(packed);
    for (const sent of [plain, `W/${plain}`, `"other", ${plain}`, '*']) {
      const { status, text } = await get('/', { 'if-none-match': sent });
      expect([sent, status, text]).toEqual([sent, 304, '']);
    }
    expect((await get('/', { 'if-none-match': packed })).status).toBe(200);
  });

  it('answers HEAD without a body, and refuses what it does not serve', async () => {
    const { status, text, headers } = await get('/', {}, 'HEAD');
    expect([status, text]).toEqual([200, '']);
    expect(headers['content-length']).toBe(String(Buffer.byteLength(html)));
    const post = await get('/icon.svg', {}, 'POST'); // at /, a protocol may have it
    expectError(post, 405, /GET, HEAD/);
    expect(post.headers.allow).toBe('GET, HEAD');
    for (const place of ['/index.html', '/index.html.br', '/../main.js', '/%2e%2e/main.js', '//']) {
      expectError(await get(place), 404, 'Path not found.');
    }
  });

  it('names the licences of the libraries in it', async () => {
    const { status, text } = await get('/licenses.txt');
    expect(status).toBe(200);
    expect(text).toMatch(/^preact \d[\s\S]*Permission is hereby granted/m);
  });
});
