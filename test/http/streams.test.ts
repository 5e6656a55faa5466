import path from 'node:path';
import { resample } from '../../src/recordings/resample';
import { request } from '../helpers/http';
import { normal, seededRandom } from '../helpers/random';
import { killAll, ROOT, type Service, startService, textModel } from '../helpers/service';
import { predictions, refusedUpgrade, StreamClient, said } from '../helpers/streams';

const SHIPPED = { cwd: path.join(ROOT, 'models', 'eeg') };
const WINDOW = 256;

afterAll(killAll);

function signal(length: number, seed = 3): number[] {
  const random = seededRandom(seed);
  return Array.from({ length }, (_, i) => 30 * Math.sin(i / 7) + 12 * normal(random));
}

function windowsOf(samples: readonly number[], starts: readonly number[]) {
  return starts.map((start) => samples.slice(start, start + WINDOW));
}

describe('GET /stream', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService('eeg', SHIPPED);
  });

  it('says of windows what POST /predict says of them, whatever the blocks are', async () => {
    const samples = signal(1000);
    const client = await StreamClient.open(service, {
      sampling_rate_hz: 95,
      step: 64,
      patient_id: 'p-7',
      start: 100,
    });
    const random = seededRandom(1);
    for (let at = 0; at < samples.length; ) {
      const block = samples.slice(at, at + 1 + Math.floor(random() * 200));
      client.say(block);
      at += block.length;
    }
    client.say({ end: true });
    expect((await client.closed).code).toBe(1000);
    const starts = Array.from({ length: 12 }, (_, index) => index * 64);
    const [opened, ...others] = client.messages;
    expect(opened).toEqual({
      stream: expect.stringMatching(/^[\w-]{24}$/),
      patient_id: 'p-7',
      model: 'ds004504-t3-cnn',
      window_length: WINDOW,
      step: 64,
      classes: ['Control', "Alzheimer's Disease (AD)", 'Frontotemporal Dementia (FTD)'],
      sampling_rate_hz: 95,
      resampled_to_hz: null,
      delay_ms: 0,
      next_window: 0,
      next_sample: 100,
      resumed: false,
    });
    expect(others.at(-1)).toEqual({
      end: { windows: 12, skipped: 0, next_window: 12, next_sample: 1100 },
    });
    expect(client.windows.map(said)).toEqual(
      await predictions(service, windowsOf(samples, starts)),
    );
    expect(
      client.windows.map(({ window, first_sample, time }) => [window, first_sample, time]),
    ).toEqual(
      starts.map((start, index) => [
        index,
        100 + start,
        Math.round(((100 + start) / 95) * 1e6) / 1e6,
      ]),
    );
  });

  it('takes float32, and resamples as recordings are', async () => {
    const samples = Float32Array.from(signal(3000));
    const client = await StreamClient.open(service, {
      sampling_rate_hz: 256,
      step: 100,
      format: 'f32',
      start: '2026-01-31T12:00:00Z',
    });
    for (let at = 0; at < samples.length; at += 170) client.float32(samples.subarray(at, at + 170));
    client.say({ end: true });
    await client.closed;
    const all = Array.from(resample(Float64Array.from(samples), 256, 95));
    const starts = client.windows.map((_, index) => Math.round((index * 100 * 95) / 256));
    expect(starts).toHaveLength(24);
    expect(client.windows.map(said)).toEqual(await predictions(service, windowsOf(all, starts)));
    expect(client.windows[1]).toMatchObject({
      window: 1,
      first_sample: 99,
      time: '2026-01-31T12:00:00.389Z',
    });
    expect(client.messages[0]).toMatchObject({ resampled_to_hz: 95, delay_ms: 367.188 });
  });

  it('lets no window span a gap', async () => {
    const samples = signal(900);
    const client = await StreamClient.open(service, { sampling_rate_hz: 95, step: 50 });
    client.say(samples.slice(0, 400));
    client.say({ gap: 30 });
    client.say(samples.slice(400, 700));
    client.say({ samples: samples.slice(700), at: 800 });
    client.say({ end: true });
    await client.closed;
    expect(client.messages.filter(({ gap }) => gap)).toEqual([
      { gap: { first_sample: 400, samples: 30, time: 4.210526 } },
      { gap: { first_sample: 730, samples: 70, time: 7.684211 } },
    ]);
    expect(client.windows.map(({ first_sample }) => first_sample)).toEqual([0, 50, 100, 430]);
    const starts = [0, 50, 100, 400];
    expect(client.windows.map(said)).toEqual(
      await predictions(service, windowsOf(samples, starts)),
    );
  });

  it.each<[string, object | string, readonly unknown[], RegExp]>([
    ['no rate', {}, [], /^sampling_rate_hz: is required$/],
    ['a rate of 0', { sampling_rate_hz: 0 }, [], /^sampling_rate_hz: expected a rate in Hz from/],
    ['a step of 0', { sampling_rate_hz: 95, step: 0 }, [], /^step: expected a number of samples/],
    [
      'too small a step',
      { sampling_rate_hz: 256, step: 2 },
      [],
      /^step: expected at least 3 samples/,
    ],
    ['a format', { sampling_rate_hz: 95, format: 'f64' }, [], /^format: expected "json" or "f32"$/],
    [
      'a start',
      { sampling_rate_hz: 95, start: 'now' },
      [],
      /^start: expected the number of a sample/,
    ],
    ['an array first', [1, 2], [], /^message: expected an object$/],
    [
      'a text among samples',
      { sampling_rate_hz: 95 },
      [[1, 2, 'x']],
      /^samples\[2\]: expected a number or null$/,
    ],
    [
      'no such message',
      { sampling_rate_hz: 95 },
      [{ stop: 1 }],
      /^message: expected an array of samples, or/,
    ],
    [
      'a gap of 0',
      { sampling_rate_hz: 95 },
      [{ gap: 0 }],
      /^gap: expected a number of samples from 1/,
    ],
    ['going back', { sampling_rate_hz: 95 }, [[1, 2, 3], { at: 1 }], /^at: goes back by 2 samples/],
    [
      'JSON where there is float32',
      { sampling_rate_hz: 95, format: 'f32' },
      [[1]],
      /"format" is "f32"$/,
    ],
    ['samples after the end', { sampling_rate_hz: 95 }, [signal(WINDOW), { end: true }, [1]], /./],
  ])('says what is wrong with %s', async (_name, first, others, detail) => {
    const client = await StreamClient.open(service, first as object);
    for (const message of others) client.say(message);
    const { code, reason } = await client.closed;
    if (code === 1000) return; // the end was quicker than what came after it
    expect([1003, 4400]).toContain(code);
    expect(client.messages.at(-1)).toEqual({
      error: { code, detail: expect.stringMatching(detail) },
    });
    expect(reason).toMatch(detail);
  });

  it('is a WebSocket, and answers what asks for none', async () => {
    const answer = await request(service, { path: '/stream' });
    expect([answer.status, answer.headers.upgrade]).toEqual([426, 'websocket']);
    const other = await refusedUpgrade(service, { path: '/streams' });
    expect(other).toMatchObject({ status: 404, body: { detail: 'Path not found.' } });
  });

  it('lets no page of another origin connect', async () => {
    const origin = 'https://elsewhere.example';
    const refused = await refusedUpgrade(service, { origin });
    expect(refused).toMatchObject({
      status: 403,
      body: { detail: expect.stringMatching(/CORS_ORIGINS/) },
    });
    const own = await StreamClient.open(
      service,
      { sampling_rate_hz: 95 },
      { origin: service.origin },
    );
    await own.first('stream');
    own.socket.terminate();
  });
});

it('of a model of texts is 404, and says why', async () => {
  const service = await startService('sentiment', { env: textModel('bert-single-label') });
  const answer = await request(service, { path: '/stream' });
  expect(answer.status).toBe(404);
  expect(answer.json).toEqual({
    detail: expect.stringMatching(/^\S+: streams need a signal model/),
  });
  expect(await refusedUpgrade(service)).toMatchObject({ status: 404 });
});
