import path from 'node:path';
import { post } from '../helpers/http';
import { normal, seededRandom } from '../helpers/random';
import { killAll, ROOT, type Service, startService } from '../helpers/service';
import { Events } from '../helpers/stream-events';
import { StreamClient } from '../helpers/streams';
import { until, within } from '../helpers/until';

const SHIPPED = { cwd: path.join(ROOT, 'models', 'eeg') };
const PRELOAD = path.join(__dirname, 'scripts', 'preload-faulty-dates.cjs');
const RATE = { sampling_rate_hz: 95 };
const WINDOW = 256;
const LAST = 2 ** 50;
const LATE = '9999-12-31T23:59:59Z';

afterAll(killAll);

function signal(length: number): number[] {
  const random = seededRandom(3);
  return Array.from({ length }, (_, i) => 30 * Math.sin(i / 7) + 12 * normal(random));
}

/** Other clients: each of many at once gets its own answer, and a stream is answered to its end. */
async function expectServed(service: Service): Promise<void> {
  const bodies = Array.from({ length: 8 }, () => ({ signal: signal(WINDOW) }));
  const answers = await within(
    () => 'answers to other clients',
    Promise.all(bodies.map((body) => post(service, '/predict', body))),
  );
  expect(answers.map(({ status }) => status)).toEqual(bodies.map(() => 200));
  const client = await StreamClient.open(service, RATE);
  client.say(signal(WINDOW));
  client.say({ end: true });
  expect((await client.closed).code).toBe(1000);
  expect(client.windows).toHaveLength(1);
}

describe('sums of numbers and times of samples', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService('eeg', SHIPPED);
  });

  it.each<[string, object, readonly unknown[], RegExp]>([
    [
      'gaps of a stream of dates',
      { start: '2026-01-01T00:00:00Z' },
      [{ gap: LAST }],
      /^gap: exceeds the time range.* Open a new stream$/,
    ],
    [
      'gaps of numbers',
      {},
      [{ gap: LAST - 5 }, { gap: 6 }],
      /^gap: exceeds the maximum sample number.* Open/,
    ],
    [
      'gaps of seconds',
      { start: { seconds: LAST - 1 } },
      [{ gap: 200 }],
      /^gap: exceeds the time range.* Open a new stream$/,
    ],
    [
      'a late start',
      { start: LATE },
      [{ gap: LAST }, { gap: 1 }],
      /^gap: exceeds the time range.* Open a new stream$/,
    ],
    [
      'a late place',
      { start: '2026-01-01T00:00:00Z' },
      [{ at: LATE }, { gap: 96 }],
      /^gap: exceeds the time range.* Open a new stream$/,
    ],
    [
      'a far place',
      { start: { seconds: -LAST } },
      [{ at: { seconds: LAST } }],
      /^at: exceeds the maximum sample number.* Open/,
    ],
    [
      'samples behind the last number',
      { start: LAST - 3 },
      [[1, 2, 3, 4]],
      /^samples: exceeds the maximum sample number.* Open/,
    ],
    [
      'samples behind the last time',
      { start: LATE },
      [signal(200)],
      /^samples: exceeds the time range.* Open/,
    ],
    [
      'a gap after all numbers',
      { start: LAST },
      [{ gap: 1 }],
      /^gap: exceeds the maximum sample number.* Open/,
    ],
    [
      'many gaps',
      {},
      Array.from({ length: 40 }, () => ({ gap: 2 ** 46 })),
      /^gap: exceeds the maximum sample number.* Open/,
    ],
  ])('end one stream by name: %s', async (_, opening, messages, detail) => {
    const client = await StreamClient.open(service, { ...RATE, ...opening });
    for (const message of messages) client.say(message);
    // Were they taken, a window would have to be answered.
    client.say(signal(WINDOW));
    expect(await client.closed).toMatchObject({ code: 4400 });
    expect(client.messages.at(-1)).toEqual({
      error: { code: 4400, detail: expect.stringMatching(detail) },
    });
  });

  it('are exact up to the last number and the last time', async () => {
    const client = await StreamClient.open(service, { ...RATE, start: LAST - 2 - WINDOW });
    client.say({ gap: 2 });
    client.say(signal(WINDOW));
    expect(await client.first('window')).toMatchObject({ first_sample: LAST - WINDOW });
    client.say([1]);
    expect((await client.closed).code).toBe(4400);
  });

  it('say over POST which message is wrong', async () => {
    const events = new Events(service, { ...RATE, start: '2026-01-01T00:00:00Z' });
    const { stream } = await events.first('stream');
    expect(await post(service, `/stream/${stream}`, { gap: LAST })).toMatchObject({
      status: 422,
      json: { detail: expect.stringMatching(/^gap: exceeds the time range/) },
    });
    await events.ended;
    expect(events.closed).toMatchObject({ code: 4400 });
  });

  afterAll(() => expectServed(service));
});

describe('an unexpected error', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService('eeg', { ...SHIPPED, nodeArgs: ['--require', PRELOAD] });
  });

  const FAILED =
    /^An unexpected error occurred\. Search the server log for the request id [\w-]{36}\.$/;
  const FAULTY = { ...RATE, start: '2001-06-01T00:00:00Z', step: 32 };

  async function expectLogged(count: number): Promise<void> {
    const failed = () => service.logs.filter(({ msg }) => msg === 'stream failed');
    await until('a log line', () => failed().length >= count);
    expect(failed().at(-1)).toMatchObject({ level: 'error', requestId: expect.any(String) });
  }

  it.each([
    ['in a message', { gap: 5 }],
    ['in an answer of the model', signal(WINDOW)],
  ])('%s ends one WebSocket, and is not told', async (_, message) => {
    const before = service.logs.filter(({ msg }) => msg === 'stream failed').length;
    const client = await StreamClient.open(service, FAULTY);
    const { stream } = await client.first('stream');
    client.say(message);
    expect(await client.closed).toEqual({ code: 1011, reason: expect.stringMatching(FAILED) });
    expect(client.messages.at(-1)).toEqual({
      error: { code: 1011, detail: expect.stringMatching(FAILED) },
    });
    await expectLogged(before + 1);
    const again = await StreamClient.open(service, { resume: { stream, next_window: 0 } });
    expect((await again.closed).code).toBe(4404);
    await expectServed(service);
  });

  it.each([
    ['in a message', { gap: 5 }],
    ['in an answer of the model', signal(WINDOW)],
  ])('%s ends one stream of events, and is not told', async (_, message) => {
    const events = new Events(service, FAULTY);
    const { stream } = await events.first('stream');
    const { text } = await post(service, `/stream/${stream}`, message);
    expect(text).not.toMatch(/INTERNAL TEXT|RangeError/);
    await within(() => 'the end of the events', events.ended);
    expect(events.closed).toEqual({ code: 1011, reason: expect.stringMatching(FAILED) });
    await expectServed(service);
  });

  it('of a stream in a batch keeps nobody else from an answer', async () => {
    for (let round = 0; round < 5; round++) {
      const faulty = await StreamClient.open(service, FAULTY);
      const good = await StreamClient.open(service, { ...RATE, step: 32 });
      await Promise.all([faulty.first('stream'), good.first('stream')]);
      faulty.say(signal(600));
      good.say(signal(600));
      await expectServed(service);
      good.say({ end: true });
      expect((await good.closed).code).toBe(1000);
      expect(good.windows).toHaveLength(11);
      expect((await faulty.closed).code).toBe(1011);
    }
  });

  it('of a stream whose client has gone ends it, and nothing else', async () => {
    const client = await StreamClient.open(service, FAULTY);
    const { stream } = await client.first('stream');
    client.say(signal(WINDOW));
    client.socket.terminate();
    await client.closed;
    await expectServed(service);
    const again = await StreamClient.open(service, { resume: { stream, next_window: 0 } });
    expect([1011, 4404]).toContain((await again.closed).code);
    await expectServed(service);
  });
});
