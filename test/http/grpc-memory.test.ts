import { gzipSync } from 'node:zlib';
import { GrpcClient, textRequest } from '../helpers/grpc';
import { scrape } from '../helpers/metrics';
import {
  frame,
  INFER,
  LIST_SERVICES,
  LIVE,
  messageOf,
  RawSession,
  REFLECTION,
  WATCH,
} from '../helpers/raw-grpc';
import { killAll, type Service, startService, textModel } from '../helpers/service';
import { until, within } from '../helpers/until';

const MEBIBYTE = 1024 ** 2;
const FULL = '14 Too many messages are in flight.';
const GZIP = { 'grpc-encoding': 'gzip' };
/** More than half of a message that fills BODY_MEMORY. */
const PART = frame(Buffer.alloc(MEBIBYTE)).subarray(0, 0.6 * MEBIBYTE);
/** A kilobyte that becomes nearly a megabyte: a field that the message does not have. */
const SMALL_COMPRESSED = frame(
  gzipSync(Buffer.concat([Buffer.from([0x7a, 0x80, 0x80, 0x38]), Buffer.alloc(56 * 0x4000)])),
  1,
);

const sessions: RawSession[] = [];
const clients: GrpcClient[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  for (const session of sessions.splice(0)) session.leave();
  await killAll();
});

function start(env: Readonly<Record<string, string>>): Promise<Service> {
  const common = { ...textModel('bert-single-label'), GRPC_PORT: '0', BODY_LIMIT: '1mb' };
  return startService('sentiment', { env: { ...common, ...env } });
}

function connect(...given: ConstructorParameters<typeof RawSession>): RawSession {
  const session = new RawSession(...given);
  sessions.push(session);
  return session;
}

async function cut(service: Service): Promise<Readonly<Record<string, number>>> {
  const seen = await scrape(service);
  return seen.byLabel('libtorch_serve_http_connections_closed_total', 'reason');
}

/** A call that is whole: its status. */
function whole(session: RawSession, path: string, message: Buffer, more = {}): Promise<string> {
  const call = session.call(path, message, more);
  call.stream.end();
  return call.status;
}

it('counts what is on the way beside small compressed messages that become large', async () => {
  const service = await start({ BODY_MEMORY: '1mb' });
  const session = connect(service);
  const stalled = session.call(INFER, PART);
  await session.read();
  for (let i = 0; i < 20; i++) {
    expect(await whole(session, LIVE, SMALL_COMPRESSED, GZIP)).toBe('0 OK');
  }
  expect(stalled.isOver).toBe(false);
  // On the same connection, which may be cut off for the first one by now.
  const others = Array.from({ length: 20 }, () => session.call(INFER, PART));
  for (const { status } of others) expect([FULL, 'cut']).toContain(await status);
});

it('refuses messages without room, until one that is stuck makes it', async () => {
  const service = await start({ BODY_MEMORY: '1mb' });
  const slow = connect(service);
  slow.call(INFER, PART);
  await slow.read();
  const session = connect(service);
  // Small ones have room beside it.
  expect(await whole(session, INFER, frame(messageOf('good')))).toBe('0 OK');
  const large = frame(
    Buffer.concat([Buffer.from([0x7a, 0x80, 0x80, 0x20]), Buffer.alloc(0x80000)]),
  );
  let refusals = 0;
  await until('room for a large message', async () => {
    const status = await whole(session, LIVE, large);
    if (status === '0 OK') return true;
    expect(status).toBe(FULL);
    refusals++;
    return false;
  });
  await within(() => 'the end of the connection that made room', slow.closed);
  expect(await cut(service)).toMatchObject({ body_stalled: 1 });
  const refused = (await scrape(service)).value('libtorch_serve_http_requests_rejected_total', {
    reason: 'body_memory_full',
  });
  expect(refused).toBe(refusals);
});

it('closes a connection that opens watches without end', async () => {
  const service = await start({});
  const other = connect(service);
  const session = connect(service);
  const watch = (): void => {
    const { stream } = session.call(WATCH, frame(Buffer.alloc(0)));
    stream.end();
  };
  for (let i = 0; i < 20_000 && !session.isClosed; i++) {
    watch();
    if (i % 100 === 0) await Promise.race([session.read().catch(() => {}), session.closed]);
  }
  expect(session.isClosed).toBe(true);
  expect(await cut(service)).toMatchObject({ stream_flood: 1, body_stalled: 0 });
  expect(await whole(other, INFER, frame(messageOf('good')))).toBe('0 OK');
});

it('leaves those alone that open a few watches too many', async () => {
  const service = await start({});
  const session = connect(service);
  const watches = Array.from({ length: 40 }, () => {
    const call = session.call(WATCH, frame(Buffer.alloc(0)));
    call.stream.end();
    return call;
  });
  const refused = watches.slice(16).map(({ status }) => status);
  for (const status of await Promise.all(refused))
    expect(status).toMatch(/^14 This connection has more than 16 open streams/);
  expect(watches.slice(0, 16).some(({ isOver }) => isOver)).toBe(false);
  expect(await whole(session, INFER, frame(messageOf('good')))).toBe('0 OK');
  expect(await cut(service)).toMatchObject({ stream_flood: 0 });
});

it('does not take whole messages for held ones', async () => {
  const service = await start({ BODY_MEMORY: '1mb' });
  const client = new GrpcClient(service);
  clients.push(client);
  for (let i = 0; i < 8; i++) {
    const sent = textRequest('a'.repeat(0.6 * MEBIBYTE));
    expect((await client.call('ModelInfer', sent).answer).status).toBe('OK');
  }
});

it('counts compressed messages as large as they may become, until their calls have come whole', async () => {
  const service = await start({ BODY_MEMORY: '2mb' });
  const session = connect(service);
  const calls = Array.from({ length: 2 }, () => session.call(LIVE, SMALL_COMPRESSED, GZIP));
  await session.read();
  const next = session.call(LIVE, SMALL_COMPRESSED, GZIP);
  expect(await next.status).toBe(FULL);
  for (const call of calls) call.stream.end();
  for (const { status } of calls) expect(await status).toBe('0 OK');
  expect(await whole(session, LIVE, SMALL_COMPRESSED, GZIP)).toBe('0 OK');
});

it('takes one message of a call, and decompresses no other', async () => {
  const service = await start({ BODY_MEMORY: '1mb' });
  const session = connect(service);
  const messages = Buffer.concat(Array.from({ length: 12 }, () => SMALL_COMPRESSED));
  const { status } = session.call(LIVE, messages, GZIP);
  expect(await status).toBe('3 message: another one follows');
  // However their bytes are cut.
  const call = session.call(LIVE);
  for (const byte of frame(Buffer.from([0x78, 1]))) {
    call.stream.write(Buffer.from([byte]));
    await session.read();
  }
  call.stream.end();
  expect(await call.status).toBe('0 OK');
});

it('cuts off who does not take answers, when there are too many', async () => {
  const service = await start({ BODY_LIMIT: '64kb', BODY_MEMORY: '64kb', MAX_LIST_LENGTH: '1024' });
  const message = frame(messageOf(...Array(1024).fill('a')));
  const slow = connect(service, { initialWindowSize: 0 });
  for (let i = 0; i < 3; i++) {
    const call = slow.call(INFER, message);
    call.stream.end();
    await call.answered;
  }
  const session = connect(service);
  await until('the end of the connection that takes no answers', async () => {
    expect(await whole(session, INFER, message)).toBe('0 OK');
    return slow.isClosed;
  });
  expect(await cut(service)).toMatchObject({ response_stalled: 1 });
});

it('counts what is kept of each piece of a message, beside its bytes', async () => {
  const service = await start({ BODY_LIMIT: '64kb', BODY_MEMORY: '64kb' });
  const call = connect(service).call(LIVE, frame(Buffer.alloc(8000)).subarray(0, 5));
  for (let i = 0; i < 4000 && !call.isOver; i++) {
    await new Promise((resolve) => call.stream.write(Buffer.alloc(1), resolve));
  }
  expect(await call.status).toBe(FULL);
});

it('reads no further messages of a stream while its client takes no responses', async () => {
  const service = await start({ BODY_LIMIT: '64kb', BODY_MEMORY: '64kb' });
  const session = connect(service, { initialWindowSize: 0 });
  const count = 10_000;
  const call = session.call(REFLECTION, Buffer.concat(Array(count).fill(LIST_SERVICES)));
  call.stream.end();
  let bytes = 0;
  call.stream.on('data', (data: Buffer) => {
    bytes += data.length;
  });
  await call.answered;
  expect(await whole(connect(service), INFER, frame(messageOf('good')))).toBe('0 OK');
  expect(call.isOver).toBe(false);
  // All of them have a response once the client takes the responses.
  session.session.settings({ initialWindowSize: 1024 ** 2 });
  expect(await within(() => `the end of a stream of ${count} messages`, call.status)).toBe('0 OK');
  expect(bytes).toBeGreaterThan(count * 50);
});
