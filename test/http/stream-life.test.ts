import path from 'node:path';
import { scrape } from '../helpers/metrics';
import { normal, seededRandom } from '../helpers/random';
import { killAll, ROOT, type Service, startService } from '../helpers/service';
import { refusedUpgrade, StreamClient, type StreamMessage } from '../helpers/streams';
import { until } from '../helpers/until';

const SHIPPED = { cwd: path.join(ROOT, 'models', 'eeg') };
const OPENING = { sampling_rate_hz: 95, step: 32 };
const KEYS = { API_KEY: 'the-key-of-the-streams-test' };

afterAll(killAll);

function signal(length: number): number[] {
  const random = seededRandom(11);
  return Array.from({ length }, (_, i) => 30 * Math.sin(i / 7) + 12 * normal(random));
}

async function whole(service: Service, samples: readonly number[]) {
  const client = await StreamClient.open(service, OPENING);
  client.say(samples);
  client.say({ end: true });
  await client.closed;
  return client.windows;
}

describe('a stream', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService('eeg', SHIPPED);
  });

  it('goes on after its connection broke, without a window lost or doubled', async () => {
    const samples = signal(3000);
    const expected = await whole(service, samples);
    const random = seededRandom(4);
    let client = await StreamClient.open(service, OPENING);
    const { stream } = await client.first('stream');
    const got: StreamMessage[] = [];
    let [next, breaks] = [0, 0];
    for (;;) {
      const block = 1 + Math.floor(random() * 300);
      client.say(samples.slice(next, next + block));
      next += block;
      if (next >= samples.length) break;
      if (random() < 0.6) continue;
      // Of what was answered some has come, and some has not.
      const seen = client.windows.length;
      if (random() < 0.5) await client.when(() => client.windows.length > seen).catch(() => {});
      client.socket.terminate();
      await client.closed;
      got.push(...client.windows);
      breaks++;
      const resume = { stream, next_window: got.length };
      client = await StreamClient.open(service, { resume });
      const opened = await client.first('stream');
      expect(opened).toMatchObject({ stream, resumed: true });
      next = opened.next_sample as number;
    }
    client.say({ end: true });
    expect((await client.closed).code).toBe(1000);
    got.push(...client.windows);
    expect(breaks).toBeGreaterThan(3);
    expect(got).toEqual(expected);
  });

  it('is taken from a connection that is not known to be broken', async () => {
    const client = await StreamClient.open(service, OPENING);
    const { stream } = await client.first('stream');
    client.say(signal(256));
    await client.first('window');
    const other = await StreamClient.open(service, { resume: { stream, next_window: 0 } });
    expect(await other.first('window')).toEqual(client.windows[0]);
    expect(await client.closed).toMatchObject({ code: 4409 });
    other.socket.terminate();
  });

  it('cannot be taken up where it is not, or is not known', async () => {
    const unknown = await StreamClient.open(service, { resume: { stream: 'x', next_window: 0 } });
    expect(await unknown.closed).toMatchObject({ code: 4404 });
    const client = await StreamClient.open(service, OPENING);
    const { stream } = await client.first('stream');
    client.say(signal(256));
    await client.first('window');
    const late = await StreamClient.open(service, { resume: { stream, next_window: 2 } });
    const { code, reason } = await late.closed;
    expect([code, reason]).toEqual([4409, 'resume.next_window: expected a window from 0 to 1']);
    client.say({ received: 0 });
    client.say(signal(32));
    await client.when(() => client.windows.length === 2);
    const lost = await StreamClient.open(service, { resume: { stream, next_window: 0 } });
    expect(await lost.closed).toMatchObject({ code: 4409 });
    client.socket.terminate();
  });

  it('slows a client that reads no answers, and answers all when it reads', async () => {
    const client = await StreamClient.open(service, { ...OPENING, step: 1 });
    await client.first('stream');
    client.socket.pause();
    const samples = signal(30_000);
    for (let at = 0; at < samples.length; at += 500) client.say(samples.slice(at, at + 500));
    const windows = 'libtorch_serve_stream_windows_total';
    const answered = async () =>
      (await scrape(service)).value(windows, { outcome: 'completed' }) ?? 0;
    let before = -1;
    // It stands still before all are answered.
    await until(
      'a stream that waits',
      async () => {
        const now = await answered();
        const stands = now === before && now > 0;
        before = now;
        return stands;
      },
      { everyMs: 500 },
    );
    client.socket.resume();
    client.say({ end: true });
    await client.closed;
    expect(client.windows.map(({ window }) => window)).toEqual(
      Array.from({ length: samples.length - 255 }, (_, index) => index),
    );
  });

  it('skips windows that cannot come in time, and says how many', async () => {
    const client = await StreamClient.open(service, { ...OPENING, step: 1, deadline_ms: 1 });
    const samples = signal(20_000);
    client.say(samples);
    client.say({ end: true });
    await client.closed;
    const { end } = (await client.first('end')) as { readonly end: Record<string, number> };
    const skipped = client.windows.reduce((sum, { skipped: n }) => sum + ((n as number) ?? 0), 0);
    expect(end.skipped).toBeGreaterThan(0);
    expect((end.windows as number) + (end.skipped as number)).toBe(samples.length - 255);
    expect(skipped).toBeLessThanOrEqual(end.skipped as number);
    let next = 0;
    for (const { window, skipped: before } of client.windows) {
      expect(window).toBe(next + ((before as number) ?? 0));
      next = (window as number) + 1;
    }
  });

  it('has no diagnosis of what is not finite', async () => {
    const client = await StreamClient.open(service, { ...OPENING, step: 256 });
    const samples: (number | null)[] = signal(512);
    samples[100] = null;
    client.say(samples);
    client.say({ end: true });
    await client.closed;
    expect(client.windows[0]).toMatchObject({
      diagnosis: null,
      confidence: null,
      probabilities: null,
      quality: { problems: ['not_finite'], peak_to_peak: null, mains_share: null },
    });
    expect(client.windows[1]).toMatchObject({ diagnosis: expect.any(String) });
  });

  it('is told where it is when the service stops', async () => {
    const other = await startService('eeg', SHIPPED);
    const client = await StreamClient.open(other, OPENING);
    client.say(signal(300));
    await client.when(() => client.windows.length === 2);
    const exit = other.stop();
    const { code, reason } = await client.closed;
    expect([code, JSON.parse(reason)]).toEqual([1001, { next_window: 2, next_sample: 300 }]);
    expect((await exit).code).toBe(0);
  });
});

describe('with keys', () => {
  let service: Service;
  const authorization = `Bearer ${KEYS.API_KEY}`;
  const key = `libtorch-serve.key.${Buffer.from(KEYS.API_KEY).toString('base64url')}`;
  beforeAll(async () => {
    service = await startService('eeg', { ...SHIPPED, env: KEYS });
  });

  it('nobody connects without one', async () => {
    expect(await refusedUpgrade(service)).toMatchObject({ status: 401 });
    expect(await refusedUpgrade(service, { path: '/none' })).toMatchObject({ status: 401 });
    const wrong = { headers: { authorization: 'Bearer x' } };
    expect(await refusedUpgrade(service, wrong)).toMatchObject({ status: 401 });
  });

  it('a page sends its key as a subprotocol', async () => {
    const protocols = ['libtorch-serve.stream', key];
    const client = await StreamClient.open(service, OPENING, { protocols });
    const { stream } = await client.first('stream');
    expect(client.socket.protocol).toBe('libtorch-serve.stream');
    client.socket.terminate();
    await client.closed;
    const again = await StreamClient.open(
      service,
      { resume: { stream, next_window: 0 } },
      { headers: { authorization } },
    );
    expect(await again.first('stream')).toMatchObject({ stream, resumed: true });
    again.socket.terminate();
  });
});
