/** The port of a service of one model opens after LISTEN_AFTER_MS of loading, whatever becomes of it. */
import { Folder } from '../helpers/files';
import { GrpcClient, textRequest } from '../helpers/grpc';
import { analyze, post, predict, request, untilStatus } from '../helpers/http';
import { writeLargeModel } from '../helpers/large-model';
import { scrape } from '../helpers/metrics';
import { killAll, NodeProcess, type Service, startService, textModel } from '../helpers/service';
import { expectError } from '../helpers/services';
import { CALM, ENDLESS, eegModel } from '../helpers/stuck';
import { until } from '../helpers/until';

/** Its trial at load ends when INFERENCE_TIMEOUT_MS is over, and not before. */
const NEVER_LOADED = eegModel('slow-always');
const HOUR = String(3_600_000);
const LOADING = 'Model is not loaded: it is loading';

const folder = new Folder();
const clients: GrpcClient[] = [];

beforeAll(() => writeLargeModel(folder.path));

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await killAll();
});

afterAll(() => folder.remove());

/** The port is opened at once. */
function startEarly(
  name: 'sentiment' | 'eeg',
  env: Readonly<Record<string, string>>,
): Promise<Service> {
  return startService(name, { env: { LISTEN_AFTER_MS: '0', GRPC_PORT: '0', ...env } });
}

function connect(service: Service): GrpcClient {
  const client = new GrpcClient(service);
  clients.push(client);
  return client;
}

describe('while its model loads', () => {
  let service: Service;

  beforeEach(async () => {
    service = await startEarly('eeg', { ...NEVER_LOADED, INFERENCE_TIMEOUT_MS: HOUR });
  });

  it('a service answers as one whose model is not loaded, and says that it loads', async () => {
    expect(await service.waitForLog(({ msg }) => msg === 'listening')).toMatchObject({
      modelLoaded: false,
    });
    expect((await request(service, { path: '/health' })).json).toEqual({
      status: 'healthy',
      model_loaded: false,
    });
    expectError(await request(service, { path: '/ready' }), 503, LOADING);
    expectError(await predict(service, CALM), 500, 'Model is not loaded.');
    expectError(await post(service, '/predict', { signal: [1, 'x'] }), 422, /^signal\[1\]/);
    const { model } = (await request(service, { path: '/info' })).json as { model: object };
    expect(model).toMatchObject({ loaded: false, reason: 'it is loading' });
    expect((await scrape(service)).value('libtorch_serve_model_loaded', {})).toBe(0);
    expect((await request(service, { path: '/v2/health/live' })).status).toBe(200);
    expect((await request(service, { path: '/v2/models/eeg/ready' })).json).toEqual({
      error: LOADING,
    });
    expect((await request(service, { path: '/' })).status).toBe(200);
  });

  it('so does its gRPC port', async () => {
    const client = connect(service);
    const { answer } = client.call('ModelReady', { name: 'eeg' });
    expect((await answer).message).toEqual({ ready: false });
    expect((await client.call('ServerLive').answer).message).toEqual({ live: true });
    expect((await client.call('ServerReady').answer).message).toEqual({ ready: false });
    expect((await client.call('check').answer).message).toEqual({ status: 'NOT_SERVING' });
    const asked = await client.call('ModelMetadata', { name: 'eeg' }).answer;
    expect([asked.status, asked.details]).toEqual(['UNAVAILABLE', LOADING]);
  });

  it('SIGTERM ends it with 0', async () => {
    expect(await service.stop()).toEqual({ code: 0, signal: null });
    expect(service.logs.map(({ msg }) => msg)).toEqual(['listening', 'stopping', 'stopped']);
    expect(service.stderr).toBe('');
  });
});

it('a model that loads later is served from then on, on every port', async () => {
  const service = await startEarly('sentiment', { SENTIMENT_MODEL_DIR: folder.path });
  const client = connect(service);
  const watch = client.watch();
  const told: string[] = [];
  const watching = (async () => {
    for await (const { status } of watch) told.push(status);
  })().catch(() => undefined); // it is cancelled
  const statuses: number[] = [];
  await until('an answer of the model', async () => {
    const { status, text } = await analyze(service, 'good');
    statuses.push(status);
    if (status === 500) expect(text).toBe('{"detail":"Model is not loaded."}');
    return status !== 500;
  });
  expect(statuses).toEqual([...Array(statuses.length - 1).fill(500), 200]);
  await untilStatus(200, () => request(service, { path: '/ready' }));
  expect(service.logs.slice(0, 2).map(({ msg }) => msg)).toEqual(['listening', 'request']);
  const healthy = { status: 'healthy', model_loaded: true };
  expect((await request(service, { path: '/health' })).json).toEqual(healthy);
  const seen = await scrape(service);
  expect(seen.value('libtorch_serve_model_loaded', {})).toBe(1);
  expect((await client.call('ModelReady', { name: 'sentiment' }).answer).message).toEqual({
    ready: true,
  });
  expect((await client.call('ModelInfer', textRequest('good')).answer).status).toBe('OK');
  await until('who watches the health to be told', () => told.includes('SERVING'));
  watch.cancel();
  await watching;
  expect(await service.stop()).toEqual({ code: 0, signal: null });
  expect(service.stderr).toBe('');
});

it('a load that fails later is logged, and the service goes on to say so', async () => {
  const service = await startEarly('eeg', { ...NEVER_LOADED, INFERENCE_TIMEOUT_MS: '3000' });
  const { msg } = await service.waitForLog(({ level }) => level === 'error');
  expect(msg).toMatch(/^Model is not loaded: slow-always\.pt: .*did not end within 3000 ms/);
  expectError(await request(service, { path: '/ready' }), 503, msg);
  const { model } = (await request(service, { path: '/info' })).json as { model: object };
  expect(model).toMatchObject({ loaded: false, reason: msg.slice('Model is not loaded: '.length) });
  expectError(await predict(service, CALM), 500, 'Model is not loaded.');
  expect(await service.stop()).toEqual({ code: 0, signal: null });
});

it('one that does not come back later ends the service as one that was there from the start', async () => {
  const service = await startEarly('eeg', {
    ...eegModel('slow-on-large-input'),
    INFERENCE_TIMEOUT_MS: '1000',
    INFERENCE_GRACE_MS: '1000',
  });
  await untilStatus(200, () => predict(service, CALM));
  expectError(await predict(service, ENDLESS), 504, /ran longer than 1000 ms/);
  expect(await service.exit).toEqual({ code: 3, signal: null });
});

it('a model that is there in time is served from the first connection on', async () => {
  const env = { ...textModel('bert-single-label'), HOST: '127.0.0.1', PORT: '0' };
  const service = new NodeProcess({ env: { ...env, LISTEN_AFTER_MS: HOUR }, args: ['sentiment'] });
  const listening = await service.waitForLog(({ msg }) => msg === 'listening');
  expect(listening).toMatchObject({ modelLoaded: true });
  expect(service.logs.map(({ msg }) => msg)).toEqual(['model loaded', 'listening']);
  expect(await service.stop()).toEqual({ code: 0, signal: null });
});
