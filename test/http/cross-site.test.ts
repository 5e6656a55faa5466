/** Requests that a browser sends for a page that has no business here. */
import type http from 'node:http';
import { makeCertificate } from '../helpers/certificates';
import { Folder } from '../helpers/files';
import { type Address, exchange, request } from '../helpers/http';
import { FIRST, modelOf, newDirectory, removeDirectories } from '../helpers/models-directory';
import { type Service, startService, textModel } from '../helpers/service';
import { expectError } from '../helpers/services';
import { refusedUpgrade, StreamClient } from '../helpers/streams';

const EVIL = 'http://evil.example';
/** What browsers add to a request of another site's page, newer ones, older ones and those over plain HTTP. */
const CROSS_SITE: readonly http.OutgoingHttpHeaders[] = [
  { origin: EVIL, 'sec-fetch-site': 'cross-site' },
  { origin: EVIL },
  { 'sec-fetch-site': 'cross-site' },
  { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' },
  { origin: 'null', 'sec-fetch-site': 'cross-site' },
  { origin: 'null' },
];
/** A page whose name was bound to the address of the service after it had been loaded. */
const REBOUND: readonly http.OutgoingHttpHeaders[] = [
  { host: 'evil.example', origin: EVIL },
  {
    host: 'evil.example:8000',
    origin: 'http://evil.example:8000',
    'sec-fetch-site': 'same-origin',
  },
  { host: 'evil.example', 'sec-fetch-site': 'same-origin' },
  { host: '127.0.0.1.evil.example', origin: 'http://127.0.0.1.evil.example' },
  { host: 'localhost.evil.example', origin: 'http://localhost.evil.example' },
  { host: 'evil.example', origin: 'null' },
  { host: 'evil.example', 'sec-fetch-site': 'none' },
];

const folder = new Folder();
let service: Service;
let management: Address;
let routes: readonly { readonly port: Address; readonly method: string; readonly path: string }[];

/** Every method of every path that an OpenAPI document lists. */
async function routesOf(port: Address) {
  const { json } = await request(port, { path: '/openapi.json' });
  const { paths } = json as { readonly paths: Readonly<Record<string, object>> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({
      port,
      method: method.toUpperCase(),
      path: path.replaceAll(/\{\w+\}/g, 'films'),
    })),
  );
}

beforeAll(async () => {
  const directory = newDirectory();
  directory.text('films', FIRST);
  directory.signal('waves');
  service = await directory.start({ env: { MANAGEMENT_PORT: '0' } });
  management = { port: service.managementPort };
  routes = [
    ...(await routesOf(service)),
    ...(await routesOf(management)),
    ...['analyze', 'stream', 'stream/0'].map((name) => ({
      port: service,
      method: 'POST',
      path: `/models/waves/${name}`,
    })),
  ];
});

afterAll(async () => {
  await removeDirectories();
  folder.remove();
});

const isChange = ({ method }: { readonly method: string }): boolean => method !== 'GET';

it('no page of another origin changes or asks anything, whatever its request looks like', async () => {
  const changes = routes.filter(isChange);
  expect(new Set(changes.map(({ method }) => method))).toEqual(new Set(['POST', 'PUT', 'DELETE']));
  expect(changes.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['/v2/repository/models/films/unload', '/models', '/predictions/films']),
  );
  const passed: unknown[] = [];
  for (const { port, method, path } of changes) {
    for (const headers of CROSS_SITE) {
      for (const type of ['text/plain', undefined, 'application/x-www-form-urlencoded']) {
        const sent = { ...headers, 'content-type': type, 'content-length': 2 };
        const { status } = await request(port, { method, path, headers: sent, body: '{}' });
        if (status !== 403) passed.push({ method, path, sent, status });
      }
    }
  }
  expect(passed).toEqual([]);
  expect((await modelOf(service, 'films'))?.serving).toBe('1');
});

it('no page asks or reads anything under a name of its own that leads here', async () => {
  const passed: unknown[] = [];
  for (const { port, method, path } of routes) {
    for (const headers of REBOUND) {
      const { status } = await request(port, { method, path, headers });
      if (status !== 403) passed.push({ method, path, headers, status });
    }
  }
  expect(passed).toEqual([]);
  expect((await modelOf(service, 'films'))?.serving).toBe('1');
  const answer = await request(service, {
    path: '/info',
    headers: { host: 'evil.example', origin: EVIL },
  });
  expectError(
    answer,
    403,
    /^Host: expected .*, received "evil\.example"\. Add it to ALLOWED_HOSTS/,
  );
});

it('programs ask under any name', async () => {
  for (const host of ['libtorch-serve.models.svc.cluster.local', 'evil.example', 'localhost']) {
    const headers = { host, 'content-type': 'text/plain' };
    const path = '/v2/repository/models/films/load';
    expect((await request(service, { method: 'POST', path, headers })).status).toBe(200);
  }
  const { port } = service;
  const path = '/models/films/analyze';
  const body = JSON.stringify({ text: 'good' });
  const asked = { method: 'POST', path, headers: { host: `a.example:${port}` }, body };
  expect((await request(service, asked)).status).toBe(200);
});

it('pages of the service itself ask, by an address or a name of this machine', async () => {
  const { port } = service;
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`];
  for (const host of [...hosts, `films.localhost:${port}`, '192.0.2.7', '[2001:db8::7]:80']) {
    const origin = `http://${host.toLowerCase()}`;
    for (const site of [undefined, 'same-origin']) {
      const headers = { host, origin, 'sec-fetch-site': site, 'content-type': 'application/json' };
      const path = '/models/films/analyze';
      const body = '{"text": "good"}';
      const { status } = await request(service, { method: 'POST', path, headers, body });
      expect([host, site, status]).toEqual([host, site, 200]);
    }
  }
  // Another port of the same machine is another origin.
  const headers = { host: `localhost:${port}`, origin: `http://localhost:${port + 1}` };
  const path = '/models/films/analyze';
  expect((await request(service, { method: 'POST', path, headers, body: '{}' })).status).toBe(403);
});

it('a link on a page of another site leads to the pages and to what anybody may read', async () => {
  for (const path of ['/', '/health', '/info', '/models/films/']) {
    const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    expect([path, (await request(service, { path, headers })).status]).toEqual([path, 200]);
  }
});

it('WebSockets are refused as requests are', async () => {
  const path = '/models/waves/stream';
  for (const headers of [...CROSS_SITE, ...REBOUND] as Record<string, string>[]) {
    expect(await refusedUpgrade(service, { path, headers })).toMatchObject({ status: 403 });
  }
  const own = { path, headers: { host: 'any.example' } };
  const client = await StreamClient.open(service, { sampling_rate_hz: 95 }, own);
  await client.first('stream');
  client.socket.terminate();
});

it('ALLOWED_HOSTS and CORS_ORIGINS let pages ask', async () => {
  const env = {
    ...textModel(FIRST),
    ALLOWED_HOSTS: 'Models.example, other.example',
    CORS_ORIGINS: 'https://a.example',
  };
  const one = await startService('sentiment', { env });
  const ask = async (headers: http.OutgoingHttpHeaders) => {
    const sent = { 'content-type': 'application/json', ...headers };
    const body = '{"text": "good"}';
    return (await request(one, { method: 'POST', path: '/analyze', headers: sent, body })).status;
  };
  expect(await ask({ host: 'models.example', origin: 'https://models.example' })).toBe(200);
  expect(await ask({ host: 'other.example:81', origin: 'http://other.example:81' })).toBe(200);
  expect(await ask({ host: 'x.models.example', origin: 'https://x.models.example' })).toBe(403);
  expect(await ask({ host: 'models.example', origin: EVIL })).toBe(403);
  const other = { host: 'any.example', origin: 'https://a.example' };
  expect(await ask({ ...other, 'sec-fetch-site': 'cross-site' })).toBe(200);
  await one.stop();
});

it('with keys any name will do, and pages of other origins still may not ask', async () => {
  const { cert, key } = makeCertificate();
  const env = {
    ...textModel(FIRST),
    API_KEY: 'the-key',
    TLS_CERT_FILE: folder.put('a.crt', cert, 0o644),
    TLS_KEY_FILE: folder.put('a.key', key, 0o600),
  };
  const one = await startService('sentiment', { env });
  const ask = async (headers: http.OutgoingHttpHeaders) => {
    const sent = {
      authorization: 'Bearer the-key',
      'content-type': 'application/json',
      ...headers,
    };
    const body = '{"text": "good"}';
    const asked = { method: 'POST', path: '/analyze', headers: sent, body, ca: cert };
    return (await request(one, asked)).status;
  };
  expect(await ask({ origin: `https://127.0.0.1:${one.port}` })).toBe(200);
  // A proxy in front has changed Host; the browser says that the page is of the address that it asked.
  const proxied = { host: '127.0.0.1:8000', origin: 'https://models.example' };
  expect(await ask({ ...proxied, 'sec-fetch-site': 'same-origin' })).toBe(200);
  expect(await ask(proxied)).toBe(403);
  for (const headers of CROSS_SITE) expect(await ask(headers)).toBe(403);
  expect(await ask({ origin: EVIL, authorization: undefined })).toBe(401);
  await one.stop();
});

it.each(['Host: a\r\nHost: b', 'Host: a\r\nhost: a', 'HOST: a\r\nX: y\r\nhOST: a'])(
  'refuses two Host headers: %j',
  async (headers) => {
    for (const version of ['1.0', '1.1']) {
      const lines = `GET /health HTTP/${version}\r\n${headers}\r\nConnection: close\r\n\r\n`;
      const answer = await exchange(service, lines);
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toContain('Host: expected one header, received 2.');
    }
  },
);
