import { WebSocket } from 'ws';
import { post, request } from '../helpers/http';
import type { Service } from '../helpers/service';
import { Events } from '../helpers/stream-events';
import { StreamClient } from '../helpers/streams';
import { within } from '../helpers/until';
import { Draw } from './draw';

/** Sequences that go on at the same time. */
const AT_ONCE = 8;
const WINDOW = 256;
const LARGEST = 2 ** 50;
const SIGNAL = Array.from({ length: WINDOW }, (_, i) => 30 * Math.sin(i / 7));

/** Numbers of samples and windows, many of them about the limits of what is added up. */
function drawNumber(draw: Draw): number {
  return draw.weighted([
    [5, draw.size(2000)],
    [2, draw.pick([0, 255, 256, 2 ** 31, 2 ** 48, LARGEST]) + draw.between(0, 2)],
    [3, LARGEST - draw.pick([0, 1, 256, 2 ** 40])],
  ]);
}

type Clock = 'index' | 'seconds' | 'date';

function drawPlace(draw: Draw, clock: Clock): unknown {
  if (clock === 'index') return drawNumber(draw);
  if (clock === 'seconds') return { seconds: draw.pick([1, 1, -1]) * drawNumber(draw) };
  const year = draw.pick(['0000', '1969', '2026', '9998', '9999']);
  const day = draw.pick(['01-01', '06-30', '12-31']);
  const time = draw.pick(['00:00:00', '23:59:59.999', '23:59:59.999999999', '12:00']);
  return `${year}-${day}T${time}${draw.pick(['Z', 'Z', '+14:00', '-12:00'])}`;
}

function drawSamples(draw: Draw): readonly (number | null)[] {
  const length = draw.weighted([
    [4, draw.size(700)],
    [1, draw.between(2000, 6000)],
  ]);
  const kind = draw.below(4);
  return draw.list(length, (i) => {
    if (kind === 0 || (kind === 1 && draw.chance(0.01))) return null;
    return kind === 2 ? draw.pick([0, 1e308, -1e308, 1e-300]) : 30 * Math.sin(i / 7);
  });
}

function drawOpening(draw: Draw, clock: Clock): object {
  const rate = draw.weighted([
    [6, 95],
    [2, draw.pick([0.1856, 0.2, 1, 50, 250, 256, 999.99, 48_640])],
    [1, draw.pick([0, 1e9, 3, 77.7])],
  ]);
  return {
    sampling_rate_hz: rate,
    ...(draw.chance(0.7) && { step: draw.pick([1, 2, 16, 64, 512, 100_000_000]) }),
    ...(clock !== 'index' && { start: drawPlace(draw, clock) }),
    ...(draw.chance(0.3) && { deadline_ms: draw.pick([1, 5, 50, 600_000]) }),
    ...(draw.chance(0.3) && { first_window: drawNumber(draw) }),
    ...(draw.chance(0.3) && { patient_id: 'p'.repeat(draw.size(100_000)) }),
    ...(draw.chance(0.2) && { format: draw.pick(['json', 'f32', 'f64']) }),
    ...(draw.chance(0.3) && { smoothing: draw.pick([{ median: 3 }, { exponential: 0.5 }]) }),
  };
}

function drawMessage(draw: Draw, clock: Clock): string | Buffer {
  const said = draw.weighted<unknown>([
    [6, drawSamples(draw)],
    [0.5, { samples: drawSamples(draw), at: drawPlace(draw, clock) }],
    [0.5, { at: drawPlace(draw, clock) }],
    [6, { gap: drawNumber(draw) || 1 }],
    [2, { received: drawNumber(draw) }],
    [0.5, { end: true }],
    [0.5, drawWrong(draw)],
  ]);
  const text = JSON.stringify(said);
  return draw.chance(0.97) ? text : Buffer.from(Float32Array.from(SIGNAL).buffer);
}

/** Messages that are none. */
function drawWrong(draw: Draw): unknown {
  return draw.weighted<unknown>([
    [1, { resume: { stream: 'x', next_window: drawNumber(draw) } }],
    [1, drawOpening(draw, 'date')],
    [1, { gap: draw.pick([0, -1, 0.5, 2 ** 53, '1', null]) }],
    [1, { at: draw.pick([-1, 'now', '2026-02-30T00:00:00Z', { seconds: '1' }, {}, null]) }],
    [1, draw.pick<unknown>([null, 7, 'text', {}, [[]], { end: false }, { samples: [true] }])],
  ]);
}

function drawClock(draw: Draw): Clock {
  return draw.pick(['index', 'seconds', 'date'] as const);
}

/** Over a WebSocket, from which its client may break away, and come back. */
async function overWebSocket(service: Service, draw: Draw): Promise<void> {
  const clock = drawClock(draw);
  let client = await StreamClient.open(service, drawOpening(draw, clock));
  if (draw.chance(0.1)) client.socket.pause();
  for (let count = draw.size(30); count > 0; count--) {
    if (client.socket.readyState === WebSocket.OPEN) client.socket.send(drawMessage(draw, clock));
    if (draw.chance(0.1)) client.socket.ping('x'.repeat(draw.below(126)), undefined, () => {});
    if (draw.chance(0.2)) await new Promise((resolve) => setTimeout(resolve, draw.below(10)));
    const stream = client.messages.find((one) => 'stream' in one)?.stream;
    if (!draw.chance(0.08) || stream === undefined) continue;
    const next_window = draw.chance(0.8) ? client.windows.length : drawNumber(draw);
    if (draw.chance(0.7)) client.socket.terminate();
    const before = client;
    // One that reads nothing would not see that it is closed.
    setTimeout(() => before.socket.terminate(), 1000);
    client = await StreamClient.open(service, { resume: { stream, next_window } });
  }
  if (draw.chance(0.5)) client.socket.resume();
  if (draw.chance(0.5)) {
    await Promise.race([client.closed, new Promise((resolve) => setTimeout(resolve, 20))]);
  }
  client.socket.terminate();
}

/** The same over POST and server-sent events. */
async function overEvents(service: Service, draw: Draw): Promise<void> {
  const clock = drawClock(draw);
  const body = {
    ...drawOpening(draw, clock),
    ...(draw.chance(0.5) && { samples: drawSamples(draw) }),
  };
  const events = new Events(service, body);
  for (let waits = 0; waits < 30 && events.messages.length === 0; waits++) await after(10);
  const stream = events.messages[0]?.stream;
  for (let count = draw.size(10); count > 0 && stream !== undefined; count--) {
    const message = drawMessage(draw, clock);
    const type = draw.pick(['application/json', 'application/octet-stream']);
    const sent = request(service, {
      method: 'POST',
      path: `/stream/${stream}`,
      body: Buffer.from(message),
      headers: { 'content-type': type },
    });
    // One whose answers are not taken waits: others are sent meanwhile.
    const answer = await Promise.race([sent.catch(() => undefined), after(300)]);
    if (!answer) continue;
    expect([200, 400, 404, 413, 422, 503]).toContain(answer.status);
  }
  events.request.destroy();
}

function after(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), ms));
}

async function expectServed(service: Service): Promise<void> {
  const answer = await post(service, '/predict', { signal: SIGNAL });
  expect(answer.status).toBe(200);
  const client = await StreamClient.open(service, { sampling_rate_hz: 95 });
  client.say(SIGNAL);
  client.say({ end: true });
  expect((await client.closed).code).toBe(1000);
  expect(client.windows).toHaveLength(1);
}

/**
 * Plays sequences of messages, some of them at the same time.
 *
 * @param seed what is drawn follows from it and from the number of the sequence
 * @throws after the first ones that ended the process, or left other clients without an answer
 */
export async function playSequences(service: Service, seed: number, count: number): Promise<void> {
  for (let first = 0; first < count; first += AT_ONCE) {
    const where = `FUZZ_SEED=${seed}, sequences ${first} to ${first + AT_ONCE - 1}`;
    const sequences = Array.from({ length: AT_ONCE }, (_, index) => {
      const draw = new Draw(seed * 1_000_003 + first + index);
      return draw.chance(0.7) ? overWebSocket(service, draw) : overEvents(service, draw);
    });
    try {
      await within(() => 'a sequence', Promise.all([...sequences, expectServed(service)]));
      await within(() => 'another client', expectServed(service));
      expect(service.child.exitCode).toBeNull();
      expect(service.logs.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual(
        [],
      );
    } catch (error) {
      throw new Error(`${where}: ${(error as Error).message}`);
    }
  }
}
