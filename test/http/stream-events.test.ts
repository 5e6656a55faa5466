import path from 'node:path';
import { resample } from '../../src/recordings/resample';
import { type Answer, post, request } from '../helpers/http';
import { normal, seededRandom } from '../helpers/random';
import { killAll, ROOT, type Service, startService } from '../helpers/service';
import { expectError } from '../helpers/services';
import { Events } from '../helpers/stream-events';
import { StreamClient, type StreamMessage } from '../helpers/streams';

const NO_STREAM = 'The stream does not exist or has ended. Open a new stream.';

const SHIPPED = { cwd: path.join(ROOT, 'models', 'eeg') };
const OPENING = { sampling_rate_hz: 95, step: 50 };

afterAll(killAll);

function signal(length: number): number[] {
  const random = seededRandom(21);
  return Array.from({ length }, (_, i) => 30 * Math.sin(i / 7) + 12 * normal(random));
}

describe('POST /stream', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService('eeg', SHIPPED);
  });

  async function overWebSocket(samples: readonly number[]) {
    const client = await StreamClient.open(service, OPENING);
    client.say(samples);
    client.say({ end: true });
    await client.closed;
    return client.messages.slice(1);
  }

  it('answers a recording in its body as a WebSocket would', async () => {
    const samples = signal(700);
    const events = new Events(service, { ...OPENING, samples, end: true });
    await events.ended;
    expect([events.status, events.type]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect(events.messages.slice(1)).toEqual(await overWebSocket(samples));
    expect(events.closed).toEqual({ code: 1000, reason: '' });
  });

  it('answers samples that come with other requests', async () => {
    const samples = signal(2000);
    const events = new Events(service, OPENING);
    const { stream } = await events.first('stream');
    const at = `/stream/${stream}`;
    let answer: Answer | null = null;
    for (let next = 0; next < samples.length; next += 300) {
      answer = await post(service, at, samples.slice(next, next + 300));
      expect(answer.status).toBe(200);
    }
    expect(answer?.json).toMatchObject({ next_sample: samples.length });
    expect((await post(service, at, { end: true })).status).toBe(200);
    await events.ended;
    expect(events.messages.slice(1)).toEqual(await overWebSocket(samples));
    expectError(await post(service, at, [1]), 404, NO_STREAM);
  });

  it('takes float32', async () => {
    const samples = Float32Array.from(signal(1400));
    const events = new Events(service, { sampling_rate_hz: 250, step: 200, format: 'f32' });
    const { stream } = await events.first('stream');
    const headers = { 'content-type': 'application/octet-stream' };
    const body = Buffer.from(samples.buffer);
    await request(service, { method: 'POST', path: `/stream/${stream}`, headers, body });
    await post(service, `/stream/${stream}`, { end: true });
    await events.ended;
    const all = Array.from(resample(Float64Array.from(samples), 250, 95));
    const signals = events.windows.map((_, index) => {
      const start = Math.round((index * 200 * 95) / 250);
      return all.slice(start, start + 256);
    });
    const { json } = await post(service, '/predict/batch', { signals });
    const { results } = json as { readonly results: readonly StreamMessage[] };
    expect(events.windows.length).toBe(4);
    expect(events.windows.map(({ probabilities }) => probabilities)).toEqual(
      results.map(({ probabilities }) => probabilities),
    );
  });

  it('says what is wrong, to whoever sent it', async () => {
    expectError(await post(service, '/stream', {}), 422, 'sampling_rate_hz: is required');
    const small = { sampling_rate_hz: 256, step: 1 };
    expectError(await post(service, '/stream', small), 422, /^step: expected at least 3 samples/);
    const lost = new Events(service, { resume: { stream: 'none', next_window: 0 } });
    await lost.ended;
    expect(lost.closed).toMatchObject({ code: 4404 });
    expectError(await post(service, '/stream/none', [1]), 404, NO_STREAM);
    const events = new Events(service, OPENING);
    const { stream } = await events.first('stream');
    expectError(
      await post(service, `/stream/${stream}`, [1, 'x']),
      422,
      'samples[1]: expected a number or null',
    );
    await events.ended;
    expect(events.closed).toMatchObject({ code: 4400 });
  });

  it('is taken up after its connection broke, also by a WebSocket', async () => {
    const samples = signal(900);
    const events = new Events(service, OPENING);
    const { stream } = await events.first('stream');
    await post(service, `/stream/${stream}`, samples.slice(0, 500));
    await events.first('window');
    events.request.destroy();
    const got = events.windows.length;
    const client = await StreamClient.open(service, { resume: { stream, next_window: got } });
    const { next_sample: next } = await client.first('stream');
    client.say(samples.slice(next as number));
    client.say({ end: true });
    await client.closed;
    expect([...events.windows.slice(0, got), ...client.windows]).toEqual(
      (await overWebSocket(samples)).slice(0, -1),
    );
  });

  it('ends with the service, and says where', async () => {
    const other = await startService('eeg', SHIPPED);
    const events = new Events(other, { ...OPENING, samples: signal(300) });
    await events.first('window');
    expect((await other.stop()).code).toBe(0);
    await events.ended;
    const place = JSON.stringify({ next_window: 1, next_sample: 300 });
    expect(events.closed).toEqual({ code: 1001, reason: place });
  });
});

it('GET /asyncapi.json describes what is said, and OpenAPI where', async () => {
  const service = await startService('eeg', SHIPPED);
  const { json } = await request(service, { path: '/asyncapi.json' });
  const document = json as Record<string, Record<string, Record<string, unknown>>>;
  expect(document).toMatchObject({
    asyncapi: '3.0.0',
    channels: { stream: { address: '/stream' } },
  });
  expect(Object.keys(document.components?.messages ?? {})).toEqual([
    ...['opening', 'resumption', 'numbers', 'float32', 'samples', 'at', 'gap', 'received', 'end'],
    ...['opened', 'window', 'gapSeen', 'ended', 'error'],
  ]);
  const openapi = (await request(service, { path: '/openapi.json' })).json as {
    readonly paths: Record<string, object>;
  };
  expect(openapi.paths).toMatchObject({
    '/stream': { get: { responses: { 101: {} } }, post: { operationId: 'streamEvents' } },
    '/stream/{stream}': { post: { operationId: 'streamSamples' } },
  });
});
