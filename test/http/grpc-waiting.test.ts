import { GrpcClient, textRequest } from '../helpers/grpc';
import { startHolding } from '../helpers/holding';
import { type Scrape, scrape } from '../helpers/metrics';
import { frame, INFER, messageOf, type RawCall, RawSession, WATCH } from '../helpers/raw-grpc';
import { killAll, type Service, startService, textModel } from '../helpers/service';

const MODEL = textModel('bert-single-label');
const NOTHING = frame(Buffer.alloc(0));
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

async function until(service: Service, isSo: (seen: Scrape) => boolean): Promise<Scrape> {
  for (;;) {
    const seen = await scrape(service);
    if (isSo(seen)) return seen;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function cut(seen: Scrape): Readonly<Record<string, number>> {
  return seen.byLabel('libtorch_serve_http_connections_cut_total', 'reason');
}

async function watch(session: RawSession): Promise<RawCall> {
  const call = session.call(WATCH, NOTHING);
  call.stream.end();
  await call.answered;
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
    await waiting[0]?.closed;
    expect(waiting.map(({ isClosed }) => isClosed)).toEqual([true, ...Array(7).fill(false)]);
    for (let i = 0; i < 10; i++) expect(await ask(service)).toBe('OK');
    const ends = cut(await scrape(service));
    expect(ends).toMatchObject({ refused: 0, body_stuck: 0, answer_stuck: 0 });
    expect(ends.made_room).toBeGreaterThanOrEqual(1);
  });

  it('one more is refused where an answer is due on all of them', async () => {
    const service = await startHolding(60_000, { GRPC_PORT: '0', MAX_CONNECTIONS: '4' });
    const waiting = Array.from({ length: 4 }, () => connect(service));
    for (const session of waiting) {
      await watch(session); // beside it
      session.call(INFER, frame(messageOf('good'))).stream.end();
    }
    await until(service, (seen) => seen.value('libtorch_serve_queue_inputs') === 4);
    expect(await ask(service)).toBe('UNAVAILABLE');
    expect(waiting.map(({ isClosed }) => isClosed)).toEqual(Array(4).fill(false));
    expect(cut(await scrape(service))).toMatchObject({ made_room: 0, refused: expect.any(Number) });
  });
});

describe('watches', () => {
  it('are 16 of a connection, and one more is refused', async () => {
    const service = await start();
    const session = connect(service);
    const calls: RawCall[] = [];
    for (let i = 0; i < 16; i++) calls.push(await watch(session));
    expect(await (await watch(session)).status).toBe(
      '14 Over 16 streams of this connection are open.',
    );
    expect(calls.some(({ isOver }) => isOver)).toBe(false);
    // There is room again when one has ended.
    calls[0]?.stream.close();
    for (;;) {
      const next = await watch(session);
      if (!(await Promise.race([next.status, false]))) break;
    }
    await watch(connect(service)); // and on any other connection
  });

  it('are as many as connections, and one more ends the one that has lasted for longest', async () => {
    const service = await start({ MAX_CONNECTIONS: '4' });
    const session = connect(service);
    const calls: RawCall[] = [];
    for (let i = 0; i < 6; i++) calls.push(await watch(session));
    for (const call of calls.slice(0, 2)) {
      expect(await call.status).toMatch(/^14 Others want to watch/);
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

it('cuts off who has not taken an answer for a minute', async () => {
  const service = await start({}, LONG_AGO);
  const session = connect(service, { initialWindowSize: 0 });
  const call = session.call(INFER, frame(messageOf('good')));
  call.stream.end();
  await call.answered;
  service.kill('SIGUSR2');
  await session.closed;
  expect(cut(await scrape(service))).toMatchObject({ answer_stuck: 1 });
});

it('bounds calls that wait for their clients, and cuts off who has most of them', async () => {
  // Four of 16 KB fit into the memory, beside one of each connection.
  const service = await start({ BODY_LIMIT: '64kb', BODY_MEMORY: '64kb' });
  const [few, many] = [connect(service), connect(service)];
  for (let i = 0; i < 3; i++) few.call(INFER);
  await few.read();
  for (let i = 0; i < 100; i++) many.call(INFER);
  await many.closed;
  expect(cut(await scrape(service))).toMatchObject({ body_stuck: 1 });
  await few.read();
  expect(await ask(service)).toBe('OK');
});

it('closes the streams of calls that it has refused, though their clients do not end them', async () => {
  const service = await start({ API_KEY: 'a-key-of-some-length' });
  const session = connect(service);
  const call = session.call(INFER);
  const closed = new Promise((resolve) => call.stream.once('close', resolve));
  expect(await call.status).toBe(
    '16 An API key is needed, in metadata: "authorization: Bearer KEY".',
  );
  await closed;
  expect(session.isClosed).toBe(false);
});
