import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import https from 'node:https';
import net from 'node:net';
import path from 'node:path';
import tls from 'node:tls';
import { makeCertificate, type TestCertificate } from '../helpers/certificates';
import { Folder } from '../helpers/files';
import { analyze, exchange, post, request } from '../helpers/http';
import { Scrape, untilAlone, untilQueued, untilScraped } from '../helpers/metrics';
import { analyzeRequest } from '../helpers/raw-clients';
import {
  killAll,
  NodeProcess,
  ROOT,
  type Service,
  startService,
  textModel,
} from '../helpers/service';
import { expectError } from '../helpers/services';
import { times } from '../helpers/times';
import { until } from '../helpers/until';

const MODEL = textModel('bert-single-label');
const ANALYZE = analyzeRequest('good');
const FIRST = makeCertificate();
const SECOND = makeCertificate();

const folder = new Folder();

afterAll(async () => {
  await killAll();
  folder.remove();
});

/** Files of one service's own, which tests may put others in the place of. */
function files(name: string, { cert, key }: TestCertificate = FIRST) {
  return {
    TLS_CERT_FILE: folder.put(`${name}.crt`, cert, 0o644),
    TLS_KEY_FILE: folder.put(`${name}.key`, key),
  };
}

function start(name: string, env: Readonly<Record<string, string>> = {}): Promise<Service> {
  return startService('sentiment', { env: { ...MODEL, ...files(name), ...env } });
}

/** A connection once its handshake is done. */
function connect(
  service: Service,
  options: tls.ConnectionOptions = { ca: FIRST.cert },
): Promise<tls.TLSSocket> {
  return new Promise((resolve, reject) => {
    const at = { host: '127.0.0.1', port: service.port };
    const socket = tls.connect({ ...at, ...options }, () => resolve(socket));
    socket.once('error', reject);
  });
}

/** All that comes until the connection is closed. */
function read(socket: net.Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', () => undefined).on('close', () => resolve(text));
  });
}

async function measure(service: Service): Promise<Scrape> {
  return new Scrape((await request(service, { path: '/metrics', ca: FIRST.cert })).text);
}

const cut = (seen: Scrape) =>
  seen.byLabel('libtorch_serve_http_connections_closed_total', 'reason');
const opened = (seen: Scrape) => seen.value('libtorch_serve_http_connections');

/** Sends SIGHUP and resolves with the line about the certificate that follows. */
async function reload(service: Service) {
  const lines = () =>
    service.logs.filter(
      ({ msg }) =>
        msg.startsWith('TLS certificate reloaded') ||
        msg.startsWith('reloading the TLS certificate'),
    );
  const { length } = lines();
  service.kill('SIGHUP');
  await service.waitForLog(() => lines().length > length);
  return lines().at(-1);
}

describe('with a certificate', () => {
  let service: Service;
  const ca = FIRST.cert;

  beforeAll(async () => {
    service = await start('served', { BODY_LIMIT: '2kb' });
  });

  it('answers over TLS as over TCP', async () => {
    expect((await analyze(service, 'good', { ca })).status).toBe(200);
    const health = await request(service, { path: '/health', ca });
    expect(health.text).toBe('{"status":"healthy","model_loaded":true}');
    expectError(await request(service, { path: '/other', ca }), 404, /Path not found/);
    expectError(await post(service, '/analyze', {}, { ca }), 422, 'text: is required');
    const large = { text: 'x'.repeat(3000) };
    expectError(await post(service, '/analyze', large, { ca }), 413, /2048 bytes/);
    expect(service.logs.find(({ msg }) => msg === 'listening')).toMatchObject({
      access: { keys: 0, tls: true },
    });
  });

  it('shows that certificate, and no other is taken for it', async () => {
    await expect(request(service, { path: '/health', ca: SECOND.cert })).rejects.toThrow(
      /self-signed|unable to verify/,
    );
  });

  it('speaks TLS 1.3 and 1.2, and nothing older', async () => {
    for (const version of ['TLSv1.3', 'TLSv1.2'] as const) {
      const socket = await connect(service, { ca, minVersion: version, maxVersion: version });
      expect(socket.getProtocol()).toBe(version);
      socket.destroy();
    }
    const old = {
      ca,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'ALL:@SECLEVEL=0',
    } as const;
    await expect(connect(service, old)).rejects.toThrow(/protocol version/);
  });

  it('speaks HTTP/1.1 alone', async () => {
    const both = await connect(service, { ca, ALPNProtocols: ['h2', 'http/1.1'] });
    expect(both.alpnProtocol).toBe('http/1.1');
    both.destroy();
    await expect(connect(service, { ca, ALPNProtocols: ['h2'] })).rejects.toThrow(
      /no application protocol/,
    );
  });

  it('closes a connection that begins otherwise, counts it, and goes on', async () => {
    const before = cut(await measure(service)).tls_failed ?? 0;
    expect(await exchange(service, 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n')).not.toMatch(/HTTP/);
    const hasFailed = (each: Scrape) => (cut(each).tls_failed ?? 0) > before;
    const seen = await untilScraped('a handshake that failed', service, hasFailed, measure);
    expect(cut(seen)).toMatchObject({ tls_failed: before + 1, rejected: 0, evicted: 0 });
    // Those that leave by themselves are none: a load balancer may look whether the port is open.
    const socket = net.connect(service.port, '127.0.0.1');
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.destroy();
    const after = await untilAlone(service, measure);
    expect(cut(after).tls_failed).toBe(before + 1);
  });

  it('answers what is no HTTP in JSON', async () => {
    const socket = await connect(service);
    socket.write('hello\r\n\r\n');
    expect(await read(socket)).toMatch(/^HTTP\/1\.1 400 [\s\S]*The request is not valid HTTP/);
  });

  it('answers pipelined requests in order', async () => {
    const socket = await connect(service);
    const last = 'GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    socket.write(ANALYZE.repeat(3) + last);
    const heads = (await read(socket)).match(/"input_text":"good"|"status":"healthy"/g);
    expect(heads).toEqual([...Array(3).fill('"input_text":"good"'), '"status":"healthy"']);
  });

  it('keeps no connection that has ended', async () => {
    const sockets = await times(5, () => connect(service));
    await untilScraped('6 connections', service, (seen) => opened(seen) === 6, measure);
    for (const socket of sockets) socket.destroy();
    await untilAlone(service, measure);
  });
});

describe('SIGHUP', () => {
  it('shows new connections the new certificate, and loses no request under load', async () => {
    const service = await start('rotated');
    // One connection that lives through it all, and clients with one for each request.
    const both = [FIRST.cert, SECOND.cert].join('\n');
    const kept = await connect(service, { ca: both });
    const serial = (socket: tls.TLSSocket) => socket.getPeerX509Certificate()?.serialNumber;
    const serials = [FIRST, SECOND].map(({ cert }) => new X509Certificate(cert).serialNumber);
    const agent = new https.Agent({ keepAlive: true, maxSockets: 4 });
    let isOver = false;
    const statuses: number[] = [];
    const load = Array.from({ length: 8 }, async (_, i) => {
      while (!isOver) {
        const options = { ca: both, ...(i < 4 && { agent }) };
        statuses.push((await analyze(service, 'good', options)).status);
      }
    });
    for (let i = 1; i <= 6; i++) {
      files('rotated', i % 2 ? SECOND : FIRST);
      expect(await reload(service)).toMatchObject({ level: 'info', validTo: expect.any(String) });
      const socket = await connect(service, { ca: both });
      expect([i, serial(socket)]).toEqual([i, serials[i % 2]]);
      socket.destroy();
    }
    isOver = true;
    await Promise.all(load);
    expect(statuses.length).toBeGreaterThan(20);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    kept.write(`GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(serial(kept)).toBe(serials[0]);
    expect(await read(kept)).toMatch(/^HTTP\/1\.1 200 OK/);
    agent.destroy();
    await service.stop();
  });

  it('resumes no session across certificates', async () => {
    const service = await start('resumed');
    const first = await connect(service);
    const session = await new Promise<Buffer>((resolve) => {
      first.once('session', resolve);
      first.write(ANALYZE);
      first.resume();
    });
    first.destroy();
    const again = await connect(service, { ca: FIRST.cert, session });
    expect(again.isSessionReused()).toBe(true);
    again.destroy();
    files('resumed', SECOND);
    await reload(service);
    const other = await connect(service, { ca: SECOND.cert, session });
    expect(other.isSessionReused()).toBe(false);
    other.destroy();
    await service.stop();
  });

  it('leaves what was there where the new files are broken', async () => {
    const service = await start('broken');
    folder.put('broken.key', SECOND.key);
    expect(await reload(service)).toMatchObject({
      level: 'error',
      msg:
        'reloading the TLS certificate failed: TLS_KEY_FILE: does not match the certificate of ' +
        'TLS_CERT_FILE',
    });
    folder.put('broken.crt', 'half a');
    expect((await reload(service))?.msg).toMatch(/: TLS_CERT_FILE: expected a certificate in PEM/);
    expect((await analyze(service, 'good', { ca: FIRST.cert })).status).toBe(200);
    folder.put('broken.crt', SECOND.cert, 0o644);
    expect(await reload(service)).toMatchObject({ level: 'info' });
    expect((await analyze(service, 'good', { ca: SECOND.cert })).status).toBe(200);
    expect(service.stdout).not.toContain('PRIVATE');
    expect(service.stdout).not.toContain(SECOND.key.split('\n')[1]);
    await service.stop();
  });
});

describe('the end', () => {
  it('answers what was accepted, refuses what comes, and closes what is silent', async () => {
    const service = await start('drained', { MAX_QUEUE_DELAY_MS: '3000', MAX_QUEUE_REQUESTS: '2' });
    const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
    const ca = FIRST.cert;
    expect((await request(service, { path: '/health', ca, agent })).status).toBe(200);
    const idle = await connect(service);
    const idleEnds = read(idle);
    // No byte of a handshake comes from it, nor the rest of one from the other.
    const silent = net.connect(service.port, '127.0.0.1');
    const halfway = net.connect(service.port, '127.0.0.1', () => halfway.write('\x16\x03\x01'));
    const ends = [read(silent), read(halfway)];
    const accepted = analyze(service, 'good', { ca });
    await untilQueued(service, 1, measure);
    await untilScraped('6 connections', service, (seen) => opened(seen) === 6, measure);
    await service.beginStop();
    const refused = await analyze(service, 'good', { ca, agent });
    expectError(refused, 503, 'The service is shutting down.');
    expect(refused.headers).toMatchObject({ 'retry-after': '1', connection: 'close' });
    const answer = await accepted;
    expect([answer.status, answer.headers.connection]).toEqual([200, 'close']);
    expect(await Promise.all([idleEnds, ...ends])).toEqual(['', '', '']);
    expect(await service.exit).toEqual({ code: 0, signal: null });
    agent.destroy();
  });

  it('drops the request of a client that has gone', async () => {
    const service = await start('gone', { MAX_QUEUE_DELAY_MS: '3000' });
    const socket = await connect(service);
    socket.write(analyzeRequest('good', 'X-Request-Id: gone\r\n'));
    await untilQueued(service, 1, measure);
    socket.destroy();
    const line = await service.lineOf('gone');
    expect(line).toMatchObject({ status: 499, route: '/analyze' });
    await service.stop();
  });
});

describe('MAX_CONNECTIONS', () => {
  it('lets those go first that never come to a handshake', async () => {
    const service = await start('bounded', { MAX_CONNECTIONS: '4' });
    const silent = Array.from({ length: 4 }, () => net.connect(service.port, '127.0.0.1'));
    const ends = silent.map(read);
    for (let i = 0; i < 4; i++) {
      expect((await analyze(service, 'good', { ca: FIRST.cert })).status).toBe(200);
    }
    expect(await ends[0]).toBe('');
    const seen = await measure(service);
    expect(cut(seen).evicted).toBeGreaterThanOrEqual(1);
    expect(cut(seen)).toMatchObject({ rejected: 0, tls_failed: 0 });
    for (const socket of silent) socket.destroy();
    await service.stop();
  });

  it('tells the sender of half a request why it has to go', async () => {
    const service = await start('slow', { MAX_CONNECTIONS: '2' });
    const slow = await connect(service);
    const head = 'POST /analyze HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n';
    const received = read(slow);
    slow.write(`${head}Content-Length: 100\r\n\r\n`);
    // "100 Continue" says that its headers have been read.
    await new Promise((resolve) => slow.once('data', resolve));
    const others = [await connect(service), await connect(service)];
    expect(await received).toMatch(
      /^HTTP\/1\.1 100 [\s\S]*HTTP\/1\.1 408 [\s\S]*not received in time/,
    );
    for (const other of others) other.destroy();
    await service.stop();
  });

  it('refuses one more where an answer is due on all', async () => {
    const service = await start('full', { MAX_CONNECTIONS: '2', MAX_QUEUE_DELAY_MS: '60000' });
    const ask = async () => {
      const socket = await connect(service);
      socket.on('error', () => undefined).write(ANALYZE);
      return socket;
    };
    const clients = [await ask(), await ask()];
    // Until the second request has been read, its connection may make room.
    await until('a connection that is refused', async () => {
      const client = await ask().catch(() => null);
      if (client !== null) clients.push(client);
      return client === null;
    });
    for (const client of clients) client.destroy();
    const seen = cut(await until('a connection', () => measure(service).catch(() => null)));
    expect(seen.rejected).toBeGreaterThanOrEqual(1);
    expect(seen.tls_failed).toBe(0);
    await service.stop();
  });
});

describe('the start', () => {
  const LOCKED = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' },
  }).privateKey;

  it.each([
    ['no such file', { cert: null, key: FIRST.key }, /^TLS_CERT_FILE: .*: file not found$/],
    ['words', { cert: 'words', key: FIRST.key }, /^TLS_CERT_FILE: expected a certificate in PEM/],
    [
      'files changed round',
      { cert: FIRST.key, key: FIRST.cert },
      /^TLS_CERT_FILE: expected a cert/,
    ],
    ['a key of words', { cert: FIRST.cert, key: 'words' }, /^TLS_KEY_FILE: expected a private key/],
    ['an empty key', { cert: FIRST.cert, key: '' }, /^TLS_KEY_FILE: expected a private key in PEM/],
    [
      'a passphrase',
      { cert: FIRST.cert, key: LOCKED },
      /^TLS_KEY_FILE: expected a private key without a passphrase/,
    ],
    [
      'a key of another certificate',
      { cert: FIRST.cert, key: SECOND.key },
      /^TLS_KEY_FILE: does not match the certificate of TLS_CERT_FILE$/,
    ],
    [
      'a chain that breaks off',
      { cert: `${FIRST.cert}-----BEGIN CERTIFICATE-----\nabc\n`, key: FIRST.key },
      /^TLS_CERT_FILE: unusable certificate: /,
    ],
  ])('ends with 2 and a line that quotes nothing: %s', async (name, { cert, key }, line) => {
    const env = {
      ...MODEL,
      TLS_CERT_FILE: cert === null ? '/nonexistent/cert' : folder.put(`${name}.crt`, cert, 0o644),
      TLS_KEY_FILE: folder.put(`${name}.key`, key),
    };
    const process = new NodeProcess({ args: ['sentiment'], env });
    expect(await process.exit).toEqual({ code: 2, signal: null });
    const lines = process.stderr.trimEnd().split('\n');
    expect(lines).toHaveLength(1);
    expect(lines[0]?.replace(/^libtorch-serve: /, '')).toMatch(line);
    expect(process.stderr + process.stdout).not.toMatch(/BEGIN|PRIVATE|words/);
  });

  it('warns of a certificate that is out of date, and of a key that others can read', async () => {
    const { cert, key } = makeCertificate({ to: new Date(Date.now() - 3_600_000) });
    const TLS_CERT_FILE = folder.put('expired.crt', cert, 0o644);
    const TLS_KEY_FILE = folder.put('expired.key', key, 0o644);
    const service = await startService('sentiment', {
      env: { ...MODEL, TLS_CERT_FILE, TLS_KEY_FILE },
    });
    const warnings = service.logs.filter(({ level }) => level === 'warn').map(({ msg }) => msg);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^TLS_KEY_FILE: .* is readable by all users. Remove read access for others \(chmod o-r\)$/,
      ),
      expect.stringMatching(/^TLS_CERT_FILE: expired on /),
    ]);
    await service.stop();
  });
});

it('has its health checked by the container image, with and without TLS', async () => {
  const dockerfile = readFileSync(path.join(ROOT, 'Dockerfile'), 'utf8');
  const [, command = ''] = /HEALTHCHECK[^\n]*\\\n {2}CMD (\[.*\])\n/.exec(dockerfile) ?? [];
  const [, ...args] = JSON.parse(command) as readonly string[];
  const service = await start('image');
  const env = { PORT: String(service.port), TLS_CERT_FILE: 'set' };
  execFileSync(process.execPath, args, { env });
  expect(() => execFileSync(process.execPath, args, { env: { PORT: env.PORT } })).toThrow();
  await service.stop();
  expect(() => execFileSync(process.execPath, args, { env })).toThrow();
  const plain = await startService('sentiment', { env: MODEL });
  execFileSync(process.execPath, args, { env: { PORT: String(plain.port) } });
  await plain.stop();
});
