import net from 'node:net';
import path from 'node:path';
import { makeCertificate } from '../helpers/certificates';
import { Folder } from '../helpers/files';
import { analyze, post, request } from '../helpers/http';
import { scrape, untilQueued } from '../helpers/metrics';
import { ModelsDirectory } from '../helpers/models-directory';
import { OtlpReceiver, type Span } from '../helpers/otlp-receiver';
import { killAll, startService, textModel } from '../helpers/service';
import { SERVICE_CASES } from '../helpers/services';
import { until } from '../helpers/until';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';
const SAMPLED = `00-${TRACE}-${CALLER}-01`;
const PRELOAD = path.join(__dirname, '..', 'lifecycle', 'scripts', 'preload-modules.cjs');
const TEXT = textModel('bert-single-label');
const STOPPED = { code: 0, signal: null };

const receivers: OtlpReceiver[] = [];

afterEach(async () => {
  await killAll();
  for (const receiver of receivers.splice(0)) await receiver.close();
});

async function startReceiver(...args: ConstructorParameters<typeof OtlpReceiver>) {
  const receiver = new OtlpReceiver(...args);
  receivers.push(receiver);
  return { receiver, url: await receiver.listen() };
}

const ms = (span: Span): number => Number(span.end - span.start) / 1e6;

describe.each(SERVICE_CASES)(
  '$name',
  ({ name, path: route, body, refused, options, unloadable }) => {
    describe.each(['http/protobuf', 'http/json'])('exports over %s', (protocol) => {
      it('a span for a request and one for each part of its time', async () => {
        const { receiver, url } = await startReceiver();
        const env = { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_PROTOCOL: protocol };
        const service = await startService(name, { env: { ...options.env, ...env } });
        const before = BigInt(Date.now()) * 1_000_000n;
        const answer = await post(service, route, body, {
          headers: { traceparent: SAMPLED, tracestate: 'vendor=1,other=x', 'x-request-id': 'one' },
        });
        const line = await service.lineOf('one');
        expect(await service.stop()).toEqual(STOPPED); // exports what has not been yet
        const after = BigInt(Date.now()) * 1_000_000n;

        expect(receiver.requests.map(({ url }) => url)).toEqual(['/v1/traces']);
        const [server, ...parts] = receiver.trace(TRACE) as [Span, ...Span[]];
        expect(server).toMatchObject({
          name: `POST ${route}`,
          kind: 2,
          parentSpanId: CALLER,
          traceState: 'vendor=1,other=x',
          status: 0,
          scope: 'libtorch-serve',
          attributes: {
            'http.request.method': 'POST',
            'http.route': route,
            'url.path': route,
            'url.scheme': 'http',
            'http.response.status_code': 200,
            'network.protocol.version': '1.1',
          },
        });
        expect(server.resource).toMatchObject({
          'service.name': `libtorch-serve-${name}`,
          'service.version': expect.stringMatching(/^\d/),
          'telemetry.sdk.language': 'nodejs',
        });
        expect([line.traceId, line.spanId]).toEqual([TRACE, server.spanId]);
        expect(Math.abs(ms(server) - (line.durationMs as number))).toBeLessThan(0.002);
        expect(server.start).toBeGreaterThan(before - 2_000_000n);
        expect(server.end).toBeLessThan(after + 2_000_000n);

        const names = ['tokenization', 'queue', 'inference'];
        const expected = name === 'sentiment' ? names : names.slice(1);
        expect(parts.map((part) => part.name)).toEqual(expected);
        let last = server.start;
        for (const part of parts) {
          expect(part).toMatchObject({
            parentSpanId: server.spanId,
            kind: 1,
            traceState: 'vendor=1,other=x',
          });
          const header = Number(answer.headers[`x-${part.name}-time`]);
          expect(Math.abs(ms(part) - header)).toBeLessThan(0.002);
          expect(part.start).toBeGreaterThanOrEqual(last);
          last = part.end - 1000n; // each is rounded by itself
        }
        expect(last).toBeLessThanOrEqual(server.end);
        expect(parts.at(-1)?.attributes).toEqual({
          'libtorch_serve.inputs': 1,
          'libtorch_serve.batch_size': 1,
          'libtorch_serve.tokens': Number(answer.headers['x-compute-tokens']),
          'libtorch_serve.truncated': false,
        });
      });
    });

    it('begins a trace of its own, and says so in the log', async () => {
      const { receiver, url } = await startReceiver();
      const env = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/custom/path` };
      const service = await startService(name, { env: { ...options.env, ...env } });
      const headers = { traceparent: `00-${TRACE}-${CALLER}-zz`, 'x-request-id': 'new' };
      await post(service, route, refused, { headers });
      const line = await service.lineOf('new');
      await service.stop();
      expect(receiver.requests.map(({ url }) => url)).toEqual(['/custom/path']);
      expect(receiver.spans).toHaveLength(1);
      const [span] = receiver.spans;
      expect(span).toMatchObject({ traceId: line.traceId, spanId: line.spanId, parentSpanId: '' });
      expect(span?.traceId).not.toBe(TRACE);
      expect(span).toMatchObject({ status: 0, attributes: { 'http.response.status_code': 400 } });
    });

    it('marks errors of the service', async () => {
      const { receiver, url } = await startReceiver();
      const env = { ...unloadable, OTEL_EXPORTER_OTLP_ENDPOINT: url };
      const service = await startService(name, { env });
      await post(service, route, body);
      await service.stop();
      expect(receiver.spans).toEqual([
        expect.objectContaining({
          status: 2,
          attributes: expect.objectContaining({
            'http.response.status_code': 500,
            'error.type': '500',
          }),
        }),
      ]);
    });

    it('never says what a client wrote', async () => {
      const { receiver, url } = await startReceiver();
      const env = {
        ...options.env,
        OTEL_EXPORTER_OTLP_ENDPOINT: url,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      };
      const service = await startService(name, { env });
      const headers = { 'user-agent': 'secret-agent', 'x-request-id': 'secret-id' };
      const secret = { patient_id: 'secret-patient', 'secret-key': 'secret' };
      await post(service, `${route}?secret=query`, { ...body, ...secret }, { headers });
      await post(
        service,
        route,
        { ...secret, text: ['secret text'], signal: 'secret' },
        { headers },
      );
      await request(service, { path: '/secret-path', method: 'PROPFIND', headers });
      await service.stop();
      expect(receiver.spans.filter(({ kind }) => kind === 2).map(({ name }) => name)).toEqual([
        `POST ${route}`,
        `POST ${route}`,
        'HTTP',
      ]);
      expect(receiver.raw).not.toContain('secret');
    });
  },
);

it('leaves probes and scrapes out', async () => {
  const { receiver, url } = await startReceiver();
  const service = await startService('sentiment', {
    env: { ...TEXT, OTEL_EXPORTER_OTLP_ENDPOINT: url },
  });
  for (const path of ['/health', '/ready', '/metrics', '/info']) await request(service, { path });
  await service.stop();
  expect(receiver.spans.map(({ name }) => name)).toEqual(['GET /info']);
});

it('says of a client that went that it got no status', async () => {
  const { receiver, url } = await startReceiver();
  const service = await startService('sentiment', {
    env: { ...TEXT, OTEL_EXPORTER_OTLP_ENDPOINT: url, MAX_QUEUE_DELAY_MS: '60000' },
  });
  const client = new AbortController();
  const gone = analyze(service, 'x', { signal: client.signal });
  gone.catch(() => undefined);
  await untilQueued(service, 1);
  client.abort();
  await service.waitForLog(({ status }) => status === 499);
  await service.stop();
  const [span] = receiver.spans;
  expect(span?.attributes).toMatchObject({ 'error.type': 'client_gone' });
  expect(span?.attributes).not.toHaveProperty('http.response.status_code');
});

it('keeps to the environment variables of the SDK', async () => {
  const { receiver, url } = await startReceiver();
  const service = await startService('sentiment', {
    env: {
      ...TEXT,
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc',
      OTEL_SERVICE_NAME: 'reviews',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.version=7',
      OTEL_TRACES_SAMPLER: 'parentbased_always_off',
      OTEL_BSP_SCHEDULE_DELAY: '10',
    },
  });
  const text = { text: 'good' };
  await post(service, '/analyze', text); // a new trace: not sampled
  await post(service, '/analyze', text, { headers: { traceparent: `00-${TRACE}-${CALLER}-00` } });
  await post(service, '/analyze', text, { headers: { traceparent: SAMPLED } });
  await until('four spans', () => receiver.spans.length >= 4);
  await service.stop();
  expect(receiver.spans).toHaveLength(4);
  expect(new Set(receiver.spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
  expect(receiver.spans[0]?.resource).toMatchObject({
    'service.name': 'reviews',
    'service.version': '7',
    'deployment.environment.name': 'test',
  });
  expect(receiver.requests[0]?.headers.authorization).toBe('Bearer abc');
});

describe('without a collector', () => {
  it('that listens, serves, and stops in time with 0', async () => {
    const closed = net.createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const { port } = closed.address() as net.AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    await expectNoHarm(`http://127.0.0.1:${port}`);
  });

  it('that answers, serves, and stops in time with 0', async () => {
    const { url } = await startReceiver(() => {}); // takes what comes, and says nothing
    await expectNoHarm(url);
  });

  async function expectNoHarm(url: string): Promise<void> {
    // The SDK would try for longer than this test may take.
    const patience = { OTEL_EXPORTER_OTLP_TIMEOUT: '600000', OTEL_BSP_SCHEDULE_DELAY: '10' };
    const service = await startService('sentiment', {
      env: { ...TEXT, OTEL_EXPORTER_OTLP_ENDPOINT: url, ...patience },
    });
    for (let i = 0; i < 5; i++) {
      expect((await analyze(service, 'good')).status).toBe(200);
    }
    expect(await service.stop()).toEqual(STOPPED);
    expect(service.logs.map(({ msg }) => msg)).toContain('exporting the last spans timed out');
    expect(service.logs.at(-1)?.msg).toBe('stopped');
  }

  it('that accepts spans, says why, once', async () => {
    const { receiver, url } = await startReceiver((response) => response.writeHead(400).end());
    const service = await startService('sentiment', {
      env: { ...TEXT, OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_BSP_SCHEDULE_DELAY: '1' },
    });
    const complaints = () => service.logs.filter(({ msg }) => /could not be exported/.test(msg));
    for (let i = 0; i < 5; i++) {
      await analyze(service, 'good');
      await until(`export ${i + 1}`, () => receiver.requests.length > i);
    }
    await service.waitForLog(() => complaints().length > 0);
    expect(await service.stop()).toEqual(STOPPED);
    expect(complaints()).toEqual([
      expect.objectContaining({
        level: 'warn',
        msg: expect.stringMatching(/^Spans could not be exported: .*Bad Request/),
      }),
    ]);
  });
});

describe('nothing of OpenTelemetry is loaded', () => {
  async function loadedModules(env: Readonly<Record<string, string>>): Promise<readonly string[]> {
    const service = await startService('sentiment', {
      env: { ...TEXT, ...env },
      nodeArgs: ['--require', PRELOAD],
    });
    const headers = { traceparent: SAMPLED, 'x-request-id': 'one' };
    await analyze(service, 'good', { headers });
    await scrape(service);
    const line = await service.lineOf('one');
    // Without a span of its own, the log has the caller's.
    expect([line.traceId, line.spanId === CALLER]).toEqual([TRACE, !env.OTEL_TRACES_EXPORTER]);
    service.kill('SIGUSR2');
    const { modules } = await service.waitForLog(({ msg }) => msg === 'modules');
    return modules as readonly string[];
  }

  it('when no variable asks for it', async () => {
    expect(await loadedModules({})).toEqual([]);
  });

  it('when it is disabled', async () => {
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
    expect(await loadedModules({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).toEqual([]);
  });

  it('unless it is asked for', async () => {
    const { url } = await startReceiver();
    const env = { OTEL_TRACES_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_ENDPOINT: url };
    expect((await loadedModules(env)).length).toBeGreaterThan(10);
  });
});

it.each([['nonsense'], [`00-${TRACE}-${'0'.repeat(16)}-01`]])(
  'the log has nothing of the traceparent %s',
  async (traceparent) => {
    const service = await startService('sentiment', { env: TEXT });
    const headers = { traceparent, 'x-request-id': 'one' };
    await analyze(service, 'good', { headers });
    const line = await service.lineOf('one');
    expect(Object.keys(line)).not.toEqual(expect.arrayContaining(['traceId']));
    expect(service.stdout).not.toContain(traceparent);
  },
);

it('spans name the path of a model that was found, and the scheme of TLS', async () => {
  const { receiver, url } = await startReceiver();
  const folder = new Folder();
  const { cert, key } = makeCertificate();
  const directory = new ModelsDirectory();
  directory.text('stats', 'bert-single-label');
  const service = await directory.start({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      TLS_CERT_FILE: folder.put('a.crt', cert, 0o644),
      TLS_KEY_FILE: folder.put('a.key', key, 0o600),
    },
  });
  const paths = [
    ['/predictions/stats', '/predictions/:model', '/predictions/stats'],
    ['/predictions/stats/1', '/predictions/:model/:version', '/predictions/stats/1'],
    ['/v1/models/stats:predict', '/v1/models/:model:predict', '/v1/models/stats:predict'],
    // What a client made up is in no span.
    ['/predictions/a%20secret', '/predictions/:model', undefined],
    ['/a%20secret', undefined, undefined],
  ] as const;
  for (const [target] of paths) {
    await post(service, target, { instances: ['good'], data: 'good' }, { ca: cert });
  }
  expect(await service.stop()).toEqual(STOPPED);
  const spans = receiver.spans.filter(({ kind }) => kind === 2).map(({ attributes }) => attributes);
  expect(spans.map((span) => [span['url.scheme'], span['http.route'], span['url.path']])).toEqual(
    paths.map(([, route, urlPath]) => ['https', route, urlPath]),
  );
  expect(
    JSON.stringify(receiver.spans, (_, value) =>
      typeof value === 'bigint' ? String(value) : value,
    ),
  ).not.toContain('secret');
  folder.remove();
  directory.folder.remove();
});
