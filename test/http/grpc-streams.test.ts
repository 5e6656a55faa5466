import { writeFileSync } from 'node:fs';
import { makeCertificate } from '../helpers/certificates';
import { Folder } from '../helpers/files';
import { GrpcClient, type GrpcStream, textRequest } from '../helpers/grpc';
import { startHolding } from '../helpers/holding';
import { type Scrape, scrape, untilQueued, untilScraped } from '../helpers/metrics';
import { frame, messageOf, RawSession, STREAM } from '../helpers/raw-grpc';
import { killAll, type Service, startService, textModel } from '../helpers/service';
import { until, within } from '../helpers/until';

const MODEL = textModel('bert-single-label');
const DRAINING = 'UNAVAILABLE The service is shutting down.';
/** That one stream has under way at most. */
const MOST_AT_ONCE = 64;

const folder = new Folder();
const clients: GrpcClient[] = [];
const sessions: RawSession[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  for (const session of sessions.splice(0)) session.leave();
  await killAll();
});

afterAll(() => folder.remove());

function start(env: Readonly<Record<string, string>> = {}, more = {}): Promise<Service> {
  return startService('sentiment', { env: { ...MODEL, GRPC_PORT: '0', ...env }, ...more });
}

function connect(service: Service, ca?: string): GrpcClient {
  const client = new GrpcClient(service, ca);
  clients.push(client);
  return client;
}

function connectRaw(...given: ConstructorParameters<typeof RawSession>): RawSession {
  const session = new RawSession(...given);
  sessions.push(session);
  return session;
}

function ask(stream: GrpcStream, id: string, ...texts: readonly string[]): void {
  stream.send({ ...textRequest(...texts), id });
}

function cancelled(seen: Scrape): number | undefined {
  return seen.byLabel('libtorch_serve_inputs_total', 'outcome').cancelled;
}

function cut(seen: Scrape): Readonly<Record<string, number>> {
  return seen.byLabel('libtorch_serve_http_connections_closed_total', 'reason');
}

it('answers each message in its order, errors too, and ends when its client does', async () => {
  const service = await start();
  const stream = connect(service).stream();
  ask(stream, 'a', ...Array(300).fill('good'));
  ask(stream, 'b', 'good', ' ');
  ask(stream, 'c', 'good');
  stream.send({ model_name: 'other', id: 'd' });
  ask(stream, 'e', 'good');
  stream.end();
  expect(await stream.ended).toBe('OK');
  const said = stream.answers.map(({ error_message, infer_response }) => [
    infer_response.id,
    error_message,
  ]);
  expect(said).toEqual([
    ['a', ''],
    ['b', 'TEXT[1]: Text payload cannot be empty.'],
    ['c', ''],
    ['d', 'model: no model "other". Models: "sentiment"'],
    ['e', ''],
  ]);
  expect(stream.answers[0]?.infer_response).toMatchObject({
    model_name: 'sentiment',
    parameters: { triton_final_response: { bool_param: true } },
    outputs: [{ name: 'LABEL', shape: [300] }, {}, {}],
  });
  const unary = await connect(service).call('ModelInfer', textRequest('good')).answer;
  expect(stream.answers[2]?.infer_response.outputs).toEqual(unary.message?.outputs);
});

it('counts, logs and traces each message as a request of its own, without the text', async () => {
  const service = await start();
  const metadata = {
    'x-request-id': 'mine',
    traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
  };
  const stream = connect(service).stream({ metadata });
  ask(stream, 'an-id', 'secret');
  await stream.until(1); // alone, so that no other shares its batch
  ask(stream, 'an-id', 'secret', '');
  ask(stream, 'an-id', 'secret', 'secret');
  await stream.until(3);
  const open = (seen: Scrape) => seen.value('libtorch_serve_grpc_streams');
  expect(open(await scrape(service))).toBe(1);
  stream.end();
  await stream.ended;
  await service.waitForLog(({ msg }) => msg === 'stream');
  const { requests } = await scrape(service);
  expect(requests).toEqual({ [`${STREAM} 200`]: 2, [`${STREAM} 400`]: 1 });
  await untilScraped('no open stream', service, (seen) => open(seen) === 0);
  await service.stop();
  const lines = service.logs.filter(({ msg }) => msg === 'request' || msg === 'stream');
  const common = { route: STREAM, method: 'POST' };
  expect(lines).toMatchObject([
    { requestId: 'mine.1', status: 200, batchSize: 1, traceId: 'a'.repeat(32), ...common },
    { requestId: 'mine.2', status: 400, ...common },
    { requestId: 'mine.3', status: 200, tokens: expect.any(Number), ...common },
    { requestId: 'mine', status: 200, messages: 3, ...common },
  ]);
  expect(service.stdout).not.toMatch(/secret|an-id/);
});

it('wants a key, and one that is for the model, of each message', async () => {
  const keys = { all: 'a-key-of-some-length', others: 'a-key-for-other-models' };
  const file = folder.put('keys', `${keys.all}\n${keys.others} models=other\n`);
  const service = await start({ API_KEYS_FILE: file });
  const client = connect(service);
  const open = (key?: string) =>
    client.stream(key ? { metadata: { authorization: `Bearer ${key}` } } : {});
  expect(await open().ended).toMatch(/^UNAUTHENTICATED An API key is required/);
  expect(await open('another-key').ended).toBe('UNAUTHENTICATED The API key is not known.');
  const limited = open(keys.others);
  ask(limited, '1', 'good');
  expect((await limited.until(1))[0]?.error_message).toBe(
    'The scope of the API key does not include this model.',
  );
  const stream = open(keys.all);
  ask(stream, '1', 'good');
  expect((await stream.until(1))[0]?.error_message).toBe('');
  // A key that is taken away ends the streams that it opened, with their next message.
  writeFileSync(file, 'another-key-of-some-length\n');
  service.kill('SIGHUP');
  await service.waitForLog(({ msg }) => msg.includes('reloaded'));
  ask(stream, '2', 'good');
  expect(await stream.ended).toBe('UNAUTHENTICATED The API key is not known.');
  expect(stream.answers).toHaveLength(1);
});

it('speaks TLS as calls do', async () => {
  const { cert, key } = makeCertificate();
  const service = await start({
    TLS_CERT_FILE: folder.put('streams.crt', cert, 0o644),
    TLS_KEY_FILE: folder.put('streams.key', key),
  });
  const stream = connect(service, cert).stream();
  ask(stream, '1', 'good');
  stream.end();
  expect(await stream.ended).toBe('OK');
  expect(stream.answers).toHaveLength(1);
});

describe('what is under way', () => {
  it('is bounded: no more is read of a stream before something is answered', async () => {
    const service = await startHolding(60_000, { GRPC_PORT: '0', MAX_BATCH_REQUESTS: '1000' });
    const stream = connect(service).stream();
    for (let i = 0; i < 500; i++) ask(stream, String(i), 'good');
    await untilQueued(service, MOST_AT_ONCE);
    // Another stream, and a call, are read meanwhile: what came before them waits with its client.
    const other = connect(service).stream();
    ask(other, 'other', 'good');
    await untilQueued(service, MOST_AT_ONCE + 1);
    const seen = await scrape(service);
    expect(seen.value('libtorch_serve_queue_inputs')).toBe(MOST_AT_ONCE + 1);
    stream.cancel();
    expect(await stream.ended).toMatch(/^CANCELLED/);
    await untilQueued(service, 1);
    await untilScraped('cancelled', service, (now) => cancelled(now) === MOST_AT_ONCE);
    expect((await scrape(service)).requests[`${STREAM} 499`]).toBe(MOST_AT_ONCE);
  });

  it('leaves the queue with a client that goes', async () => {
    const service = await startHolding(60_000, { GRPC_PORT: '0' });
    const session = connectRaw(service);
    session.call(STREAM, Buffer.concat(Array(5).fill(frame(messageOf('good')))));
    await untilQueued(service, 5);
    session.leave();
    await untilQueued(service, 0);
    await untilScraped('the end', service, (seen) => cancelled(seen) === 5);
  });

  it('has the deadlines of its messages and that of its stream', async () => {
    const service = await startHolding(60_000, { GRPC_PORT: '0', REQUEST_TIMEOUT_MS: '600000' });
    const stream = connect(service).stream({ deadline: Date.now() + 1500 });
    stream.send({ ...textRequest('good'), parameters: { timeout: { int64_param: 50_000 } } });
    const [answer] = await stream.until(1);
    expect(answer?.error_message).toMatch(/The deadline of 50 ms passed before the model ran\.$/);
    ask(stream, '2', 'good');
    expect(await stream.ended).toMatch(/^DEADLINE_EXCEEDED/);
    await untilQueued(service, 0);
  });

  it('waits where the stream itself has filled the queue', async () => {
    const service = await start({ MAX_QUEUE_REQUESTS: '10', MAX_BATCH_REQUESTS: '4' });
    const stream = connect(service).stream();
    for (let i = 0; i < 300; i++) ask(stream, String(i), ...Array((i % 10) + 1).fill('good'));
    stream.end();
    expect(await stream.ended).toBe('OK');
    expect(stream.answers.filter(({ error_message }) => error_message !== '')).toEqual([]);
    expect(stream.answers.map(({ infer_response }) => infer_response.id)).toEqual(
      Array.from({ length: 300 }, (_, i) => String(i)),
    );
  });

  it('is refused one by one where others have filled the queue', async () => {
    const service = await startHolding(60_000, { GRPC_PORT: '0', MAX_QUEUE_REQUESTS: '2' });
    const held = connect(service).call('ModelInfer', textRequest('a', 'b'));
    await untilQueued(service, 2);
    const stream = connect(service).stream();
    for (let i = 0; i < 3; i++) ask(stream, String(i), 'good');
    const answers = await stream.until(3);
    expect(answers.map(({ error_message }) => error_message)).toEqual(
      Array(3).fill('The queue is full.'),
    );
    held.cancel();
    stream.end();
    expect(await stream.ended).toBe('OK');
  });
});

describe('hostile streams', () => {
  const EMPTY = frame(Buffer.alloc(0));

  it('of thousands of messages in a few pieces are read a few at a time', async () => {
    const service = await start();
    const session = connectRaw(service);
    const call = session.call(STREAM, Buffer.concat(Array(5_000).fill(EMPTY)));
    // Each is answered, with an error, and calls of others are answered meanwhile.
    for (let i = 0; i < 20; i++) {
      const answer = await connect(service).call('ModelInfer', textRequest('good')).answer;
      expect(answer.status).toBe('OK');
    }
    call.stream.end();
    expect(await call.status).toMatch(/^0 /);
    const counted = (await scrape(service)).requests[`${STREAM} 404`];
    expect(counted).toBe(5_000);
  });

  it('with messages that are no protobuf, or have too many fields, live on', async () => {
    const service = await start();
    const session = connectRaw(service);
    const answers: Buffer[] = [];
    const bytes = Buffer.concat([
      frame(Buffer.from([0xff])),
      frame(Buffer.alloc(10_000, Buffer.from([58, 0]))), // raw_input_contents
      frame(messageOf('good')),
    ]);
    const call = session.call(STREAM, bytes);
    call.stream.on('data', (data: Buffer) => answers.push(data));
    call.stream.end();
    expect(await call.status).toMatch(/^0 /);
    const said = Buffer.concat(answers).toString('latin1');
    expect(said).toContain('message: is not valid protobuf');
    expect(said).toContain('message: has over 3048 fields');
    expect(said).toContain('PROBABILITIES');
  });

  it.each([
    ['that are too large', frame(Buffer.alloc(2 * 1024 ** 2)), /^8 The message exceeds the limit/],
    ['in no known compression', frame(messageOf('good'), 1), /^(3|12) /],
  ])('with messages %s end, with what came before answered', async (_name, bytes, status) => {
    const service = await start();
    const session = connectRaw(service);
    const data: Buffer[] = [];
    const call = session.call(STREAM, Buffer.concat([frame(messageOf('good')), bytes]), {
      'grpc-encoding': 'gzip',
    });
    call.stream.on('data', (piece: Buffer) => data.push(piece));
    expect(await call.status).toMatch(status);
    if (_name === 'that are too large') expect(Buffer.concat(data).length).toBeGreaterThan(50);
    expect(session.isClosed).toBe(false);
  });

  it('cut byte by byte are read as any other', async () => {
    const service = await start();
    const session = connectRaw(service);
    const call = session.call(STREAM);
    for (const byte of Buffer.concat(Array(3).fill(frame(messageOf('good'))))) {
      call.stream.write(Buffer.from([byte]));
      await session.read();
    }
    call.stream.end();
    expect(await call.status).toMatch(/^0 /);
    expect((await scrape(service)).requests[`${STREAM} 200`]).toBe(3);
  });

  it('that take no answers hold no more than the memory for answers', async () => {
    // Four of 16 KB fit into the memory.
    const service = await start({ BODY_LIMIT: '64kb', BODY_MEMORY: '64kb' });
    const slow = connectRaw(service, { initialWindowSize: 0 });
    const call = slow.call(STREAM, Buffer.concat(Array(1000).fill(frame(messageOf('good')))));
    await call.answered;
    await until('the end of who takes no answers', async () => {
      const answer = await connect(service).call('ModelInfer', textRequest('good')).answer;
      return answer.status === 'OK' && slow.isClosed;
    });
    expect(cut(await scrape(service))).toMatchObject({ response_stalled: 1 });
    const { requests } = await scrape(service);
    expect(requests[`${STREAM} 499`]).toBeLessThanOrEqual(MOST_AT_ONCE);
  });

  it('that idle are as many as calls that take their time, and those who have most of them go', async () => {
    // Four of 16 KB fit into the memory, beside one of each connection.
    const service = await start({ BODY_LIMIT: '64kb', BODY_MEMORY: '64kb' });
    const [few, many] = [connectRaw(service), connectRaw(service)];
    for (let i = 0; i < 3; i++) few.call(STREAM);
    await few.read();
    for (let i = 0; i < 100; i++) many.call(STREAM);
    await within(() => 'the end of who has most streams', many.closed);
    expect(cut(await scrape(service))).toMatchObject({ body_stalled: 1 });
    await few.read();
    expect(few.isClosed).toBe(false);
  });
});

describe('on SIGTERM', () => {
  it('answers what it has taken, and ends streams with UNAVAILABLE', async () => {
    const service = await startHolding(3000, { GRPC_PORT: '0' });
    const [busy, ended, idle] = Array.from({ length: 3 }, () => connect(service).stream());
    ask(idle as GrpcStream, '0', 'good');
    await idle?.until(1);
    for (const stream of [busy, ended] as GrpcStream[]) {
      for (const id of ['1', '2']) ask(stream, id, 'good');
    }
    ended?.end();
    await untilQueued(service, 4);
    await service.beginStop();
    expect(await idle?.ended).toBe(DRAINING);
    expect(await busy?.ended).toBe(DRAINING);
    expect(await ended?.ended).toBe('OK');
    for (const stream of [busy, ended]) {
      expect(stream?.answers.map(({ infer_response }) => infer_response.id)).toEqual(['1', '2']);
    }
    expect(await service.exit).toEqual({ code: 0, signal: null });
  });

  it('gives up a message that stands still', async () => {
    const service = await start();
    const session = connectRaw(service);
    const half = session.call(STREAM, frame(messageOf('good')).subarray(0, 10));
    await session.read();
    await service.beginStop();
    expect(await half.status).toBe('14 The service is shutting down.');
    expect(await service.exit).toEqual({ code: 0, signal: null });
  });
});
