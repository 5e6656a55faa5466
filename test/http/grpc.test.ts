import http2 from 'node:http2';
import net from 'node:net';
import { makeCertificate } from '../helpers/certificates';
import { Folder } from '../helpers/files';
import { GrpcClient, textRequest } from '../helpers/grpc';
import { startHolding } from '../helpers/holding';
import { request } from '../helpers/http';
import { type Scrape, scrape, untilQueued, untilScraped } from '../helpers/metrics';
import { frame, INFER, messageOf, raw } from '../helpers/raw-grpc';
import { killAll, NodeProcess, type Service, startService, textModel } from '../helpers/service';
import { until, within } from '../helpers/until';

const MODEL = textModel('bert-single-label');
const MEBIBYTE = 1024 ** 2;

const folder = new Folder();
const clients: GrpcClient[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await killAll();
});

afterAll(() => folder.remove());

function start(env: Readonly<Record<string, string>> = {}): Promise<Service> {
  return startService('sentiment', { env: { ...MODEL, GRPC_PORT: '0', ...env } });
}

function connect(service: Service, ca?: string): GrpcClient {
  const client = new GrpcClient(service, ca);
  clients.push(client);
  return client;
}

async function counted(service: Service, name: string, labels = {}): Promise<number> {
  return (await scrape(service)).value(name, labels) ?? 0;
}

it('does not listen, and loads none of its packages, without GRPC_PORT', async () => {
  const service = await startService('sentiment', {
    env: MODEL,
    nodeArgs: ['--require', `${__dirname}/../lifecycle/scripts/preload-modules.cjs`],
  });
  expect(service.grpcPort).toBe(0);
  await service.stop();
  expect(service.stdout + service.stderr).not.toMatch(/node_modules\/(@grpc|grpc-|protobufjs)/);
});

it('says which setting names a port that is taken', async () => {
  const taken = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address() as net.AddressInfo;
  const env = { ...MODEL, HOST: '127.0.0.1', PORT: '0', GRPC_PORT: String(port) };
  const service = new NodeProcess({ env, args: ['sentiment'] });
  expect(await service.exit).toEqual({ code: 1, signal: null });
  expect(service.stderr).toBe(`libtorch-serve: GRPC_PORT: ${port} is in use on 127.0.0.1\n`);
  taken.close();
});

it('counts calls and writes a line of the log for each, without the text', async () => {
  const service = await start();
  const client = connect(service);
  const metadata = {
    'x-request-id': 'mine',
    traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
  };
  const { answer } = client.call('ModelInfer', textRequest('secret'), { metadata });
  expect(await answer).toMatchObject({ status: 'OK', trailers: { 'x-request-id': 'mine' } });
  const refused = await client.call('ModelInfer', textRequest('secret', ' ')).answer;
  expect(refused).toMatchObject({
    status: 'INVALID_ARGUMENT',
    details: 'TEXT[1]: Text payload cannot be empty.',
  });
  await client.call('check').answer;
  await client.call('ServerReady').answer;
  await client.call('SystemSharedMemoryStatus').answer;
  const line = await service.waitForLog(({ requestId }) => requestId === 'mine');
  expect(line).toMatchObject({
    level: 'info',
    traceId: 'a'.repeat(32),
    method: 'POST',
    route: INFER,
    status: 200,
    batchSize: 1,
    tokens: expect.any(Number),
  });
  expect((await scrape(service)).requests).toEqual({
    [`${INFER} 200`]: 1,
    [`${INFER} 400`]: 1,
    '/grpc.health.v1.Health/Check 200': 1,
    '/inference.GRPCInferenceService/ServerReady 200': 1,
    '/inference.GRPCInferenceService/SystemSharedMemoryStatus 404': 1,
  });
  await service.stop();
  expect(service.stdout).not.toContain('secret');
  const routes = service.logs.filter(({ msg }) => msg === 'request').map(({ route }) => route);
  expect(routes).toEqual([
    INFER,
    INFER,
    '/inference.GRPCInferenceService/SystemSharedMemoryStatus',
  ]);
});

it('wants the keys that HTTP wants, but for probes', async () => {
  const service = await start({ API_KEY: 'a-key-of-some-length' });
  const client = connect(service);
  const ask = async (method: string, authorization?: string) => {
    const metadata = authorization === undefined ? {} : { authorization };
    const message = method === 'ModelInfer' ? textRequest('good') : {};
    return (await client.call(method, message, { metadata }).answer).status;
  };
  for (const probe of ['check', 'ServerLive', 'ServerReady']) expect(await ask(probe)).toBe('OK');
  for (const method of ['ServerMetadata', 'ModelInfer', 'TraceSetting']) {
    expect(await ask(method)).toBe('UNAUTHENTICATED');
    expect(await ask(method, 'Bearer another-key')).toBe('UNAUTHENTICATED');
  }
  expect(await ask('ModelInfer', 'Bearer a-key-of-some-length')).toBe('OK');
  const { requests } = await scrape(service, undefined, {
    authorization: 'Bearer a-key-of-some-length',
  });
  expect(requests[`${INFER} 401`]).toBe(2);
});

it('speaks TLS with the certificate of HTTP, and takes a new one on SIGHUP', async () => {
  const [first, second] = [makeCertificate(), makeCertificate()];
  const env = {
    TLS_CERT_FILE: folder.put('grpc.crt', first.cert, 0o644),
    TLS_KEY_FILE: folder.put('grpc.key', first.key),
  };
  const service = await start(env);
  const before = connect(service, first.cert);
  const infer = (client: GrpcClient) => client.call('ModelInfer', textRequest('good')).answer;
  expect((await infer(before)).status).toBe('OK');
  expect((await infer(connect(service))).status).toBe('UNAVAILABLE');
  expect((await infer(connect(service, second.cert))).status).toBe('UNAVAILABLE');
  folder.put('grpc.crt', second.cert, 0o644);
  folder.put('grpc.key', second.key);
  service.kill('SIGHUP');
  await service.waitForLog(({ msg }) => msg.includes('reloaded'));
  expect((await infer(connect(service, second.cert))).status).toBe('OK');
  expect((await infer(before)).status).toBe('OK'); // on its connection
  expect(await service.stop()).toEqual({ code: 0, signal: null });
});

it('refuses messages over BODY_LIMIT, compressed ones too', async () => {
  const service = await start();
  const client = connect(service);
  const fits = textRequest('a'.repeat(MEBIBYTE - 100));
  expect((await client.call('ModelInfer', fits).answer).status).toBe('OK');
  const large = await client.call('ModelInfer', textRequest('a'.repeat(MEBIBYTE))).answer;
  expect(large.status).toBe('RESOURCE_EXHAUSTED');
  const session = http2.connect(`http://127.0.0.1:${service.grpcPort}`);
  const { gzipSync } = await import('node:zlib');
  const bomb = gzipSync(Buffer.alloc(64 * MEBIBYTE));
  expect(await raw(session, Buffer.concat([frame(bomb, 1)]), { 'grpc-encoding': 'gzip' })).toMatch(
    /^8 /,
  );
  expect(await raw(session, frame(Buffer.from('nonsense')))).toMatch(/^3 /);
  expect(await raw(session, Buffer.alloc(0))).toMatch(/^12 /);
  session.close();
  expect((await scrape(service)).requests[`${INFER} 413`]).toBe(2);
});

it('says what is wrong with a message, and reads none of too many fields', async () => {
  const service = await start();
  const session = http2.connect(`http://127.0.0.1:${service.grpcPort}`);
  const empty = Buffer.alloc(MEBIBYTE - 100).fill(Buffer.from([58, 0])); // raw_input_contents
  expect(await raw(session, frame(empty))).toBe('3 message: has over 3048 fields');
  expect(await raw(session, frame(Buffer.from([0xff])))).toBe('3 message: is not valid protobuf');
  session.close();
  // As many as a list may have are not too many.
  const texts = Array.from({ length: 1024 }, () => 'a');
  const answer = await connect(service).call('ModelInfer', textRequest(...texts)).answer;
  expect(answer).toMatchObject({ status: 'OK' });
});

it('takes the nearest of all deadlines, and does not run what is past it', async () => {
  const service = await startHolding(60_000, { GRPC_PORT: '0', REQUEST_TIMEOUT_MS: '600000' });
  const client = connect(service);
  const ask = (parameters: object, options = {}) =>
    client.call('ModelInfer', { ...textRequest('good'), parameters }, options).answer;
  const own = await ask({ timeout: { int64_param: 50_000 } });
  expect(own).toMatchObject({
    status: 'DEADLINE_EXCEEDED',
    details: expect.stringMatching(/The deadline of 50 ms passed before the model ran\.$/),
  });
  const theirs = await ask({}, { deadline: Date.now() + 300 });
  expect(theirs.status).toBe('DEADLINE_EXCEEDED');
  await untilQueued(service, 0);
});

it('leaves the queue with a client that cancels, or goes', async () => {
  const service = await startHolding(60_000, { GRPC_PORT: '0' });
  const cancelled = (seen: Scrape) =>
    seen.byLabel('libtorch_serve_inputs_total', 'outcome').cancelled;
  const client = connect(service);
  const { answer, cancel } = client.call('ModelInfer', textRequest('a', 'b'));
  await untilQueued(service, 2);
  cancel();
  expect((await answer).status).toBe('CANCELLED');
  await untilQueued(service, 0);
  await untilScraped('2 cancelled inputs', service, (seen) => cancelled(seen) === 2);
  const session = http2.connect(`http://127.0.0.1:${service.grpcPort}`);
  session.on('error', () => {});
  void raw(session, frame(messageOf('c')));
  await untilQueued(service, 1);
  session.destroy();
  await untilQueued(service, 0);
  expect((await scrape(service)).requests[`${INFER} 499`]).toBe(2);
});

it('refuses what the queue cannot take, before it is read, and says when to come again', async () => {
  const service = await startHolding(60_000, { GRPC_PORT: '0', MAX_QUEUE_REQUESTS: '2' });
  const client = connect(service);
  const held = client.call('ModelInfer', textRequest('a', 'b'));
  await untilQueued(service, 2);
  expect(await client.call('ModelInfer', textRequest('c')).answer).toMatchObject({
    status: 'UNAVAILABLE',
    details: 'The queue is full.',
    trailers: { 'grpc-retry-pushback-ms': expect.stringMatching(/^[1-9]\d*000$/) },
  });
  expect((await client.call('ModelMetadata', { name: 'sentiment' }).answer).status).toBe('OK');
  const refused = await counted(service, 'libtorch_serve_http_requests_rejected_total', {
    reason: 'queue_full',
  });
  expect(refused).toBe(1);
  held.cancel();
});

it('tells what cannot be asked of a model that is not loaded', async () => {
  const service = await start({ SENTIMENT_MODEL_DIR: '/nonexistent/model' });
  const client = connect(service);
  const answers = [
    client.call('ModelInfer', textRequest('a')),
    client.call('ModelMetadata', { name: 'sentiment' }),
    client.call('ModelConfig', { name: 'sentiment' }),
  ];
  for (const { answer } of answers) {
    expect(await answer).toMatchObject({
      status: 'UNAVAILABLE',
      details: expect.stringMatching(/^Model is not loaded: /),
    });
  }
  expect((await client.call('ServerLive').answer).message).toEqual({ live: true });
  expect((await client.call('ServerReady').answer).message).toEqual({ ready: false });
  expect((await client.call('check').answer).message).toEqual({ status: 'NOT_SERVING' });
});

it('is not serving from the signal on, still answers, and then refuses and ends', async () => {
  const service = await startHolding(60_000, {
    GRPC_PORT: '0',
    MAX_BATCH_REQUESTS: '2',
    SHUTDOWN_DELAY_MS: '2000',
  });
  const client = connect(service);
  const watch = client.watch('inference.GRPCInferenceService');
  const statuses = watch[Symbol.asyncIterator]();
  expect((await statuses.next()).value).toEqual({ status: 'SERVING' });
  const first = client.call('ModelInfer', textRequest('a'));
  await untilQueued(service, 1);
  service.kill('SIGTERM');
  expect((await statuses.next()).value).toEqual({ status: 'NOT_SERVING' });
  expect((await client.call('ServerReady').answer).message).toEqual({ ready: false });
  // It completes the batch of two.
  expect((await client.call('ModelInfer', textRequest('b')).answer).status).toBe('OK');
  expect((await first.answer).status).toBe('OK');
  const last: string[] = [];
  await until('a call that is refused', async () => {
    last.push((await client.call('ModelMetadata', { name: 'sentiment' }).answer).status);
    return last.at(-1) === 'UNAVAILABLE';
  });
  expect(new Set(last)).toEqual(new Set(['OK', 'UNAVAILABLE']));
  await expect(statuses.next()).rejects.toThrow();
  expect(await service.exit).toEqual({ code: 0, signal: null });
});

it('answers what it has accepted before it ends', async () => {
  const service = await startHolding(3000, { GRPC_PORT: '0' });
  const client = connect(service);
  const held = [textRequest('a'), textRequest('b')].map((one) => client.call('ModelInfer', one));
  await untilQueued(service, 2);
  await service.beginStop();
  for (const { answer } of held) expect((await answer).status).toBe('OK');
  expect(await service.exit).toEqual({ code: 0, signal: null });
});

it('makes room for a connection by closing the one that has waited for longest', async () => {
  const service = await start({ MAX_CONNECTIONS: '16' });
  const silent = Array.from({ length: 16 }, () => net.connect(service.grpcPort, '127.0.0.1'));
  const closed: number[] = [];
  for (const [index, socket] of silent.entries()) {
    socket.on('error', () => {});
    socket.resume();
    socket.on('close', () => closed.push(index));
    await new Promise((resolve) => socket.once('connect', resolve));
  }
  const client = connect(service);
  expect((await client.call('ModelInfer', textRequest('good')).answer).status).toBe('OK');
  await until('a silent connection to be closed', () => closed.length > 0);
  const ends = await counted(service, 'libtorch_serve_http_connections_closed_total', {
    reason: 'evicted',
  });
  expect(ends).toBe(closed.length);
  for (const socket of silent) socket.destroy();
});

it('does not mind what is no gRPC', async () => {
  const service = await start();
  const socket = net.connect(service.grpcPort, '127.0.0.1', () => {
    socket.write('POST /analyze HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}');
  });
  socket.on('error', () => {});
  socket.resume();
  const gone = new Promise((resolve) => socket.once('close', resolve));
  await within(() => 'the end of the connection', gone);
  const session = http2.connect(`http://127.0.0.1:${service.grpcPort}`);
  const stream = session.request({ ':method': 'POST', ':path': INFER });
  const status = await new Promise((resolve) => {
    stream.on('response', (headers) => resolve(headers[':status']));
    stream.end('{}');
  });
  expect(status).toBe(415);
  session.close();
  expect((await connect(service).call('ModelInfer', textRequest('good')).answer).status).toBe('OK');
  expect((await request(service, { path: '/health' })).status).toBe(200);
});
