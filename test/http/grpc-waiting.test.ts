import { GrpcClient, textRequest } from '../helpers/grpc';
import { startHolding } from '../helpers/holding';
import { type Scrape, scrape, untilQueued, untilScraped } from '../helpers/metrics';
import {
  frame,
  INFER,
  LIST_SERVICES,
  LIVE,
  messageOf,
  type RawCall,
  RawSession,
  REFLECTION,
  STREAM,
  WATCH,
} from '../helpers/raw-grpc';
import { killAll, type Service, startService, textModel } from '../helpers/service';
import { until, within } from '../helpers/until';

const MODEL = textModel('bert-single-label');
const NOTHING = frame(Buffer.alloc(0));
const IN_FLIGHT = 'libtorch_serve_http_requests_in_flight';
const LONG_AGO = { nodeArgs: ['--require', `${__dirname}/scripts/preload-later.cjs`] };

const clients: GrpcClient[] = [];
const sessions: RawSession[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  for (const session of sessions.splice(0)) session.leave();
  await killAll();
});

function start(env: Readonly<Record<string, string>> = {}, more = {}): Promise<Service> {
  return startService('sentiment', { env: { ...MODEL, GRPC_PORT: '0', ...env }, ...more });
}

function connect(...given: ConstructorParameters<typeof RawSession>): RawSession {
  const session = new RawSession(...given);
  sessions.push(session);
  return session;
}

/** The status of a call on a connection of its own. */
async function ask(service: Service): Promise<string> {
  const client = new GrpcClient(service);
  clients.push(client);
  return (await client.call('ModelInfer', textRequest('good')).answer).status;
}

function cut(seen: Scrape): Readonly<Record<string, number>> {
  return seen.byLabel('libtorch_serve_http_connections_closed_total', 'reason');
}

async function watch(session: RawSession): Promise<RawCall> {
  const call = session.call(WATCH, NOTHING);
  call.stream.end();
  await call.answered;
  return call;
}

/** A stream of requests, of which one has been answered. */
async function idle(session: RawSession): Promise<RawCall> {
  const call = session.call(STREAM, frame(messageOf('good')));
  await new Promise((resolve) => call.stream.once('data', resolve));
  return call;
}

/** What a client may do on its connection so that the next move is its own. */
const WAITING: readonly [string, (service: Service) => Promise<RawSession>][] = [
  [
    'that watch the health',
    async (service) => {
      const session = connect(service);
      await watch(session);
      return session;
    },
  ],
  [
    'whose calls send nothing',
    async (service) => {
      const session = connect(service);
      session.call(INFER);
      await session.read();
      return session;
    },
  ],
  [
    'whose calls do not end',
    async (service) => {
      const session = connect(service);
      session.call(INFER, frame(messageOf('good')));
      await session.read();
      return session;
    },
  ],
  [
    'whose streams idle',
    async (service) => {
      const session = connect(service);
      await idle(session);
      return session;
    },
  ],
  [
    'that do not take their answers',
    async (service) => {
      const session = connect(service, { initialWindowSize: 0 });
      const call = session.call(INFER, frame(messageOf('good')));
      call.stream.end();
      await call.answered;
      return session;
    },
  ],
];

describe('at MAX_CONNECTIONS', () => {
  it.each(WAITING)('clients %s make room, the first of them first', async (_name, wait) => {
    const service = await start({ MAX_CONNECTIONS: '8' });
    const waiting: RawSession[] = [];
    for (let i = 0; i < 8; i++) waiting.push(await wait(service));
    expect(await ask(service)).toBe('OK');
    await until('the first to make room', () => waiting[0]?.isClosed);
    expect(waiting.map(({ isClosed }) => isClosed)).toEqual([true, ...Array(7).fill(false)]);
    for (let i = 0; i < 10; i++) expect(await ask(service)).toBe('OK');
    const ends = cut(await scrape(service));
    expect(ends).toMatchObject({ rejected: 0, body_stalled: 0, response_stalled: 0 });
    expect(ends.evicted).toBeGreaterThanOrEqual(1);
  });

  it('one more is refused where an answer is due on all of them', async () => {
    const service = await startHolding(60_000, { GRPC_PORT: '0', MAX_CONNECTIONS: '4' });
    const waiting = Array.from({ length: 4 }, () => connect(service));
    for (const session of waiting) {
      await watch(session); // beside it
      session.call(INFER, frame(messageOf('good'))).stream.end();
    }
    await untilQueued(service, 4);
    expect(await ask(service)).toBe('UNAVAILABLE');
    expect(waiting.map(({ isClosed }) => isClosed)).toEqual(Array(4).fill(false));
    expect(cut(await scrape(service))).toMatchObject({ evicted: 0, rejected: expect.any(Number) });
  });
});

describe('watches', () => {
  it('are 16 of a connection, and one more is refused', async () => {
    const service = await start();
    const session = connect(service);
    const calls: RawCall[] = [];
    for (let i = 0; i < 16; i++) calls.push(await watch(session));
    expect(await (await watch(session)).status).toBe(
      '14 This connection has more than 16 open streams.',
    );
    expect(calls.some(({ isOver }) => isOver)).toBe(false);
    // There is room again when one has ended.
    calls[0]?.stream.close();
    await until('room for one more watch', async () => {
      const next = await watch(session);
      return (await Promise.race([next.status, null])) === null;
    });
    await watch(connect(service)); // and on any other connection
  });

  it('are as many as connections, and one more ends the one that has lasted for longest', async () => {
    const service = await start({ MAX_CONNECTIONS: '4' });
    const session = connect(service);
    const calls: RawCall[] = [];
    for (let i = 0; i < 6; i++) calls.push(await watch(session));
    for (const call of calls.slice(0, 2)) {
      expect(await call.status).toMatch(/^14 Too many health watches/);
    }
    await session.read();
    expect(calls.map(({ isOver }) => isOver)).toEqual([true, true, ...Array(4).fill(false)]);
  });
});

it('ends calls that send nothing, or not all, after a minute, as it does slow bodies', async () => {
  const service = await start({}, LONG_AGO);
  const session = connect(service);
  const message = frame(messageOf('good'));
  const calls = [undefined, message.subarray(0, 3), message.subarray(0, 10), message].map((bytes) =>
    session.call(INFER, bytes),
  );
  const silent = session.call(WATCH);
  await session.read();
  service.kill('SIGUSR2');
  for (const { status } of [...calls, silent]) {
    expect(await status).toBe('4 The message was not received in time.');
  }
  expect(session.isClosed).toBe(false);
});

it('ends streams whose message has begun a minute ago, and not those that idle', async () => {
  const service = await start({}, LONG_AGO);
  const session = connect(service);
  const idling = await idle(session);
  const late = session.call(STREAM, frame(messageOf('good')).subarray(0, 10));
  // With the one that asks.
  await untilScraped('a message', service, (seen) => seen.value(IN_FLIGHT) === 2);
  service.kill('SIGUSR2');
  expect(await late.status).toBe('4 The message was not received in time.');
  expect([idling.isOver, session.isClosed]).toEqual([false, false]);
});

it('cuts off who has not taken an answer for a minute', async () => {
  const service = await start({}, LONG_AGO);
  const session = connect(service, { initialWindowSize: 0 });
  const call = session.call(INFER, frame(messageOf('good')));
  call.stream.end();
  await call.answered;
  service.kill('SIGUSR2');
  await within(() => 'the end of who takes no answer', session.closed);
  expect(cut(await scrape(service))).toMatchObject({ response_stalled: 1 });
});

it('ends streams of messages after a minute, also those that wait for answers to be taken', async () => {
  const service = await start({}, LONG_AGO);
  const session = connect(service, { initialWindowSize: 0 });
  const call = session.call(REFLECTION, LIST_SERVICES);
  call.stream.end();
  await call.answered;
  service.kill('SIGUSR2');
  expect(await within(() => 'the end of the stream', call.status)).toBe('cut');
  expect(session.isClosed).toBe(false);
});

it('bounds calls whose answers are not taken, however small these are', async () => {
  // Four of 16 KB fit into the memory.
  const service = await start({ BODY_LIMIT: '64kb', BODY_MEMORY: '64kb' });
  const slow = connect(service, { initialWindowSize: 0 });
  for (let i = 0; i < 5; i++) {
    const call = slow.call(LIVE, NOTHING);
    call.stream.end();
    await call.answered;
  }
  const what = 'the end of who takes no answers, long before their minute is over';
  await until(what, async () => (await ask(service)) === 'OK' && slow.isClosed, {
    limitMs: 40_000,
  });
  expect(cut(await scrape(service))).toMatchObject({ response_stalled: 1 });
});

it('bounds calls that wait for their clients, and cuts off who has most of them', async () => {
  // Four of 16 KB fit into the memory, beside one of each connection.
  const service = await start({ BODY_LIMIT: '64kb', BODY_MEMORY: '64kb' });
  const [few, many] = [connect(service), connect(service)];
  for (let i = 0; i < 3; i++) few.call(INFER);
  await few.read();
  for (let i = 0; i < 100; i++) many.call(INFER);
  await within(() => 'the end of who has most calls', many.closed);
  expect(cut(await scrape(service))).toMatchObject({ body_stalled: 1 });
  await few.read();
  expect(await ask(service)).toBe('OK');
});

it('closes the streams of calls that it has refused, though their clients do not end them', async () => {
  const service = await start({ API_KEY: 'a-key-of-some-length' });
  const session = connect(service);
  const call = session.call(INFER);
  const closed = new Promise((resolve) => call.stream.once('close', resolve));
  expect(await call.status).toBe(
    '16 An API key is required in the metadata: "authorization: Bearer KEY".',
  );
  await within(() => 'the end of the refused stream', closed);
  expect(session.isClosed).toBe(false);
});
