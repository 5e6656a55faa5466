import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, post } from '../helpers/http';
import { normal, seededRandom } from '../helpers/random';
import { killAll, ROOT, type Service, startService } from '../helpers/service';
import { Events } from '../helpers/stream-events';
import { StreamClient, type StreamMessage } from '../helpers/streams';

const OPENING = { sampling_rate_hz: 256, step: 40, smoothing: { median: 5 } };
const LOOPS = 3;

afterAll(killAll);

function signal(length: number): number[] {
  const random = seededRandom(8);
  return Array.from({ length }, (_, i) => 30 * Math.sin(i / 7) + 12 * normal(random));
}

/** The event loop that took the connection of the last WebSocket. */
function lastLoop({ logs }: Service): number {
  return Number(logs.filter(({ status }) => status === 101).at(-1)?.eventLoop ?? 0);
}

describe('EVENT_LOOPS=3', () => {
  let service: Service;
  beforeAll(async () => {
    const env = { EVENT_LOOPS: String(LOOPS) };
    service = await startService('eeg', { cwd: path.join(ROOT, 'models', 'eeg'), env });
  });

  it('a stream goes on in whichever event loop its client comes back to', async () => {
    const samples = signal(8000);
    const whole = await StreamClient.open(service, OPENING);
    whole.say(samples);
    whole.say({ end: true });
    await whole.closed;

    let client = await StreamClient.open(service, OPENING);
    const { stream } = await client.first('stream');
    const got: StreamMessage[] = [];
    const loops = new Set<number>();
    const random = seededRandom(2);
    let next = 0;
    while (next < samples.length) {
      const block = 100 + Math.floor(random() * 500);
      client.say(samples.slice(next, next + block));
      await delay(random() * 20); // of what was answered some has come, and some has not
      client.socket.terminate();
      await client.closed;
      got.push(...client.windows);
      client = await StreamClient.open(service, { resume: { stream, next_window: got.length } });
      const opened = await client.first('stream');
      expect(opened).toMatchObject({ stream, resumed: true });
      while (!service.logs.some(({ status }) => status === 101)) await service.nextOutput();
      loops.add(lastLoop(service));
      next = opened.next_sample as number;
      // What came before the connection broke may not have been read.
      if (next === 0 && got.length > 0) throw new Error('it began anew');
    }
    client.say({ end: true });
    expect((await client.closed).code).toBe(1000);
    got.push(...client.windows);
    expect(got).toEqual(whole.windows);
    expect(loops.size).toBeGreaterThan(1);
  });

  it('samples by POST find their stream in whichever event loop it is', async () => {
    const samples = signal(3000);
    const whole = new Events(service, { ...OPENING, samples, end: true });
    await whole.ended;
    const events = new Events(service, OPENING);
    const { stream } = await events.first('stream');
    const answers: Answer[] = [];
    for (let next = 0; next < samples.length; next += 100) {
      answers.push(await post(service, `/stream/${stream}`, samples.slice(next, next + 100)));
    }
    answers.push(await post(service, `/stream/${stream}`, { end: true }));
    await events.ended;
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(events.messages.slice(1)).toEqual(whole.messages.slice(1));
    expect((await post(service, '/stream/none', [1])).status).toBe(404);
  });

  it('what cannot go on is said there, too', async () => {
    for (let i = 0; i < 2 * LOOPS; i++) {
      const client = await StreamClient.open(service, OPENING);
      const { stream } = await client.first('stream');
      client.socket.terminate();
      const other = await StreamClient.open(service, { resume: { stream, next_window: 9 } });
      expect(await other.closed).toMatchObject({ code: 4409 });
      const none = await StreamClient.open(service, { resume: { stream: 'none', next_window: 0 } });
      expect(await none.closed).toMatchObject({ code: 4404 });
    }
    expect((await service.stop()).code).toBe(0);
  });
});
