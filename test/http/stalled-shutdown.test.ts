import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { post } from '../helpers/http';
import { untilQueued } from '../helpers/metrics';
import { analyzeHead, RawClient } from '../helpers/raw-clients';
import { frame, INFER, messageOf, RawSession, WATCH } from '../helpers/raw-grpc';
import { killAll, type Service, startService, textModel } from '../helpers/service';

const STOPPED = { code: 0, signal: null };
const REFUSED = /HTTP\/1\.1 503 [\s\S]*retry-after: 1[\s\S]*The service is shutting down\./i;
const BODY = JSON.stringify({ text: 'good' });
const LIST = JSON.stringify({ texts: Array(3900).fill('a') });

const sessions: RawSession[] = [];

afterEach(async () => {
  for (const session of sessions.splice(0)) session.leave();
  await killAll();
});

function start(env: Readonly<Record<string, string>> = {}): Promise<Service> {
  const common = { GRPC_PORT: '0', SHUTDOWN_TIMEOUT_MS: '20000' };
  return startService('sentiment', {
    env: { ...textModel('bert-single-label'), ...common, ...env },
  });
}

function connect(...given: ConstructorParameters<typeof RawSession>): RawSession {
  const session = new RawSession(...given);
  sessions.push(session);
  return session;
}

/** A request that stands still: the service has its head and, soon, these bytes of its body. */
async function stalled(service: Service, head: string, bytes = ''): Promise<RawClient> {
  const client = await new RawClient(service).connected();
  client.write(head);
  await client.receives(/100 Continue/);
  client.write(bytes);
  return client;
}

/** Sends the rest bit by bit, until it is told to stop. */
function keepMoving(write: () => unknown): () => void {
  const timer = setInterval(write, 20);
  return () => clearInterval(timer);
}

it('aborts stalled request bodies, and exits with 0', async () => {
  const service = await start({ GRPC_PORT: '0' });
  const compressed = gzipSync(BODY);
  const clients = [
    await stalled(service, analyzeHead(BODY.length)),
    await stalled(service, analyzeHead(BODY.length), BODY.slice(0, 5)),
    await stalled(service, analyzeHead('chunked'), `5\r\n${BODY.slice(0, 5)}\r\n`),
    await stalled(service, analyzeHead(compressed.length, 'Content-Encoding: gzip\r\n')),
  ];
  await service.beginStop();
  for (const client of clients) await client.receives(REFUSED);
  expect(await service.exit).toEqual(STOPPED);
  const refused = service.logs.filter(({ msg, status }) => msg === 'request' && status === 503);
  expect(refused.map(({ route }) => route)).toEqual(Array(4).fill('/analyze'));
});

it('gives up a body that stands still behind an answer, which is sent before', async () => {
  const service = await start({ MAX_QUEUE_DELAY_MS: '3000', MAX_BATCH_REQUESTS: '100' });
  const client = await new RawClient(service).connected();
  const head = `POST /analyze HTTP/1.1\r\nHost: x\r\nContent-Length: ${BODY.length}\r\n\r\n`;
  client.write(`${head}${BODY}${head}{`);
  await untilQueued(service, 1);
  await service.beginStop();
  await client.receives(REFUSED);
  expect(client.received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 503']);
  expect(await service.exit).toEqual(STOPPED);
});

it('gives up calls of gRPC that stand still, whatever else their connections do', async () => {
  const service = await start();
  const session = connect(service);
  const message = frame(messageOf('good'));
  const calls = [undefined, message.subarray(0, 10), message].map((bytes) =>
    session.call(INFER, bytes),
  );
  const watch = session.call(WATCH, frame(Buffer.alloc(0)));
  watch.stream.end();
  await watch.answered;
  const stop = keepMoving(() => session.session.destroyed || session.session.ping(() => {}));
  await service.beginStop();
  for (const { status } of calls) expect(await status).toBe('14 The service is shutting down.');
  expect(await service.exit).toEqual(STOPPED);
  stop();
});

it('waits for bodies that move', async () => {
  const service = await start({ SHUTDOWN_TIMEOUT_MS: '60000' });
  const bytes = Buffer.concat([Buffer.from(BODY), Buffer.alloc(100, ' ')]);
  const client = await stalled(service, analyzeHead(bytes.length));
  const message = frame(messageOf('good'));
  const session = connect(service);
  const call = session.call(INFER);
  await session.read();
  await service.beginStop();
  for (let sent = 0; sent < bytes.length; sent += 4) {
    client.write(bytes.toString('latin1', sent, sent + 4));
    if (sent < message.length) call.stream.write(message.subarray(sent, sent + 4));
    if (sent + 4 >= message.length) call.stream.end();
    await delay(80);
  }
  await client.receives(/HTTP\/1\.1 200 /);
  expect(await call.status).toBe('0 OK');
  expect(await service.exit).toEqual(STOPPED);
});

it('ends with 0 though clients never stop to send, or to not take their answers', async () => {
  const service = await start({
    SHUTDOWN_TIMEOUT_MS: '10000',
    MAX_QUEUE_REQUESTS: '100000',
    MAX_LIST_LENGTH: '3900',
  });
  const slow = await stalled(service, analyzeHead('chunked'));
  const session = connect(service);
  const call = session.call(INFER, frame(Buffer.alloc(100_000)).subarray(0, 5));
  // One who takes nothing: as many answers as the kernel holds, and the service has to hold more.
  const deaf = await new RawClient(service, { reads: false }).connected();
  const list = `POST /analyze/batch HTTP/1.1\r\nHost: x\r\nContent-Length: ${LIST.length}\r\n\r\n`;
  deaf.write((list + LIST).repeat(30));
  const untaken = connect(service, { initialWindowSize: 0 }).call(INFER, frame(messageOf('good')));
  untaken.stream.end();
  await untaken.answered;
  expect((await post(service, '/analyze', { text: 'good' })).status).toBe(200);
  await untilQueued(service, 0);
  const stop = keepMoving(() => {
    slow.write('1\r\n \r\n');
    if (!call.isOver) call.stream.write(Buffer.alloc(1));
  });
  await service.beginStop();
  await slow.receives(REFUSED);
  expect(await call.status).toBe('14 The service is shutting down.');
  expect(await service.exit).toEqual(STOPPED);
  stop();
});
