import http2 from 'node:http2';
import tls from 'node:tls';
import { makeCertificate } from '../helpers/certificates';
import { type Address, type Answer, post, request } from '../helpers/http';
import { scrape } from '../helpers/metrics';
import { needs } from '../helpers/needs';
import { freePort } from '../helpers/ports';
import {
  type Proxy as NginxInFront,
  type NginxOptions,
  startNginx,
  startReplica,
  stopProxies,
} from '../helpers/proxies';
import { killAll, type Service } from '../helpers/service';

const CERTIFICATE = makeCertificate();
const OVER_TLS = { ca: CERTIFICATE.cert };
const BODY = { text: 'A quiet, funny film.' };

let replicas: [Service, Service];

async function startBehind(options: NginxOptions = {}): Promise<NginxInFront> {
  const [a, b] = replicas;
  return startNginx([a.port, b.port], { certificate: CERTIFICATE, ...options });
}

function ask(proxy: Address, body: unknown = BODY): Promise<Answer> {
  return post(proxy, '/analyze', body, OVER_TLS);
}

async function answeredBy(replica: Service): Promise<number> {
  return (await scrape(replica)).requests['/analyze 200'] ?? 0;
}

/** One after the other, so that nginx takes them in turn. */
async function askInTurn(proxy: Address, count: number): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (let i = 0; i < count; i++) statuses.push((await ask(proxy)).status);
  return statuses;
}

function protocolOf(proxy: Address, options: tls.ConnectionOptions): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const at = { host: '127.0.0.1', port: proxy.port, ca: CERTIFICATE.cert };
    const socket = tls.connect({ ...at, ...options }, () => {
      resolve(socket.getProtocol());
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

needs('nginx').describe('deploy/nginx, in front of two replicas', () => {
  let proxy: NginxInFront;

  beforeAll(async () => {
    replicas = await Promise.all([startReplica(0), startReplica(0)]);
    proxy = await startBehind();
  });

  afterAll(async () => {
    stopProxies();
    await killAll();
  });

  it('speaks TLS 1.2 and 1.3, and HTTP/2, and shares requests out', async () => {
    const versions = ['TLSv1.2', 'TLSv1.3'] as const;
    const spoken = versions.map((version) =>
      protocolOf(proxy, { minVersion: version, maxVersion: version }),
    );
    expect(await Promise.all(spoken)).toEqual(versions);
    const old = protocolOf(proxy, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1' });
    await expect(old).rejects.toThrow();

    expect(await askInTurn(proxy, 10)).toEqual(Array(10).fill(200));
    const [a, b] = await Promise.all(replicas.map(answeredBy));
    expect([(a ?? 0) > 0, (b ?? 0) > 0]).toEqual([true, true]);
    const answer = await ask(proxy);
    expect(answer.headers['strict-transport-security']).toMatch(/^max-age=\d{7,}$/);
    expect(answer.headers.server).toBe('nginx');
    expect(await statusOverHttp2(proxy)).toBe(200);
  });

  it('sends plain HTTP to TLS, and a POST remains one', async () => {
    const plain = { port: proxy.plainPort as number };
    const { status, headers } = await post(plain, '/analyze?x=1', BODY, {
      headers: { host: 'example.org' },
    });
    expect([status, headers.location]).toEqual([308, 'https://example.org/analyze?x=1']);
  });

  it('keeps what is asked of one replica to itself', async () => {
    for (const path of ['/ready', '/metrics']) {
      const { status, json } = await request(proxy, { path, ...OVER_TLS });
      expect([path, status, json]).toEqual([path, 404, { detail: 'Not Found' }]);
    }
    expect((await request(proxy, { path: '/health', ...OVER_TLS })).status).toBe(200);
  });

  it('has bodies refused by the service, and those far too large by itself, both in JSON', async () => {
    const sizes = [1_050_000, 1_200_000];
    const answers = await Promise.all(sizes.map((size) => ask(proxy, { text: 'x'.repeat(size) })));
    expect(answers.map(({ status, json }) => [status, json])).toEqual([
      [413, { detail: expect.not.stringContaining('1100 kB') }],
      [413, { detail: 'The body is larger than 1100 kB.' }],
    ]);
    const large = { text: 'word '.repeat(150_000) }; // goes through a file of nginx
    expect((await ask(proxy, large)).status).toBe(200);
  });

  it('limits what one address asks, in JSON', async () => {
    const slow = await startBehind({
      replacing: { 'rate=10000r/s': 'rate=1r/m', 'burst=10000 ': 'burst=2 ' },
    });
    expect(await askInTurn(slow, 3)).toEqual([200, 200, 200]);
    const { status, json } = await ask(slow);
    expect([status, json]).toEqual([
      429,
      { detail: 'Too many requests from one address. Try again later.' },
    ]);
    await slow.stop();
  });

  it('loses nothing when a replica is killed, and takes it back when it is there again', async () => {
    const [a, b] = replicas;
    a.kill('SIGKILL');
    await a.exit;
    const before = await answeredBy(b);
    expect(await askInTurn(proxy, 10)).toEqual(Array(10).fill(200));
    expect(await answeredBy(b)).toBe(before + 10);

    replicas[0] = await startReplica(a.port);
    expect(await askInTurn(proxy, 10)).toEqual(Array(10).fill(200));
    expect(await answeredBy(replicas[0])).toBeGreaterThan(0);
  });

  it('says in JSON that no replica is there', async () => {
    const nobody = await startNginx([await freePort(), await freePort()], {
      certificate: CERTIFICATE,
    });
    const { status, json } = await ask(nobody);
    expect([status, json]).toEqual([
      502,
      { detail: 'No replica accepts requests. Try again later.' },
    ]);
    await nobody.stop();
  });
});

function statusOverHttp2({ port }: Address): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const session = http2.connect(`https://127.0.0.1:${port}`, { ca: CERTIFICATE.cert });
    session.on('error', reject);
    const stream = session.request({ ':path': '/health' });
    stream.on('error', reject);
    stream.on('response', (headers) => {
      resolve(headers[':status']);
      session.close();
    });
    stream.resume();
  });
}
