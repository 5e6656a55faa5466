/** Envoy's external processing by a client of its protocol files: what Envoy itself would not do (test/clients/envoy.test.ts). */
import { ExtProcStream, headersOf } from '../../helpers/ext-proc';
import { scrape } from '../../helpers/metrics';
import { FIRST, newDirectory, removeDirectories } from '../../helpers/models-directory';
import type { Service } from '../../helpers/service';
import { until } from '../../helpers/until';

const JSON_BODY = { 'content-type': 'application/json' };
const EMAIL = 'ann.lee@example.org';
const ROUTE = '/envoy.service.ext_proc.v3.ExternalProcessor/Process';
const CHECKS = [{ type: 'patterns', name: 'data', action: 'redact', kinds: ['email'] }];
const IN_FLIGHT = 'libtorch_serve_http_requests_in_flight';

const streams: ExtProcStream[] = [];

afterEach(() => {
  for (const stream of streams.splice(0)) stream.close();
});

afterAll(removeDirectories);

function start(guard: object | null, env = {}): Promise<Service> {
  const directory = newDirectory();
  directory.text('model', FIRST);
  if (guard) directory.write('guard.json', JSON.stringify({ checks: CHECKS, ...guard }));
  return directory.start({ env: { GRPC_PORT: '0', ...env } });
}

function open(...given: ConstructorParameters<typeof ExtProcStream>): ExtProcStream {
  const stream = new ExtProcStream(...given);
  streams.push(stream);
  return stream;
}

function bodyOf(content: string): Buffer {
  return Buffer.from(JSON.stringify({ messages: [{ content }] }));
}

it('is UNIMPLEMENTED without a guard, and needs a key where keys are set', async () => {
  const none = open(await start(null));
  none.begin('BUFFERED');
  expect(await none.ended).toBe(
    'UNIMPLEMENTED The server has no guardrail policy. Add guard.json, or set GUARD_FILE.',
  );
  const service = await start({}, { API_KEY: 'a-key-of-some-length' });
  expect(await open(service).ended).toMatch(/^UNAUTHENTICATED An API key is required/);
  const known = open(service, { authorization: 'Bearer a-key-of-some-length' });
  known.begin('BUFFERED');
  expect(await known.until(1)).toHaveProperty('request_headers');
});

it('says which modes it does not take, and what else is wrong with a message', async () => {
  const service = await start({});
  const streamed = open(service);
  streamed.begin('STREAMED');
  expect(await streamed.ended).toMatch(
    /^INVALID_ARGUMENT processing_mode.request_body_mode: expected BUFFERED, .* found STREAMED: /,
  );
  const empty = open(service);
  empty.send({});
  expect(await empty.ended).toBe('INVALID_ARGUMENT request: expected headers, a body or trailers');
});

it('answers a stream in pieces when all has come, headers first, and trailers', async () => {
  const service = await start({});
  const stream = open(service);
  stream.begin('FULL_DUPLEX_STREAMED', JSON_BODY);
  const body = bodyOf(`Write to ${EMAIL}.`);
  for (let i = 0; i < body.length; i += 7)
    stream.send({ request_body: { body: body.subarray(i, i + 7) } });
  stream.send({ request_trailers: { trailers: { headers: [] } } });
  await stream.until(3);
  const [headers, piece, trailers] = stream.answers as Readonly<Record<string, object>>[];
  expect(headers?.request_headers).toMatchObject({
    response: {
      header_mutation: {
        set_headers: [{ header: { key: 'x-guard' } }, { header: { key: 'content-length' } }],
        remove_headers: ['accept-encoding'],
      },
    },
  });
  const answered = piece?.request_body as {
    response: { body_mutation: { streamed_response: { body: Buffer; end_of_stream?: boolean } } };
  };
  const { streamed_response } = answered.response.body_mutation;
  expect(String(streamed_response.body)).toBe(String(bodyOf('Write to <EMAIL_1>.')));
  expect(streamed_response.end_of_stream ?? false).toBe(false);
  expect(trailers).toHaveProperty('request_trailers');
  stream.end();
  expect(await stream.ended).toBe('OK');
});

it('reads a part of a body as one that cannot be read, as the file says', async () => {
  const part = { request_body: { body: bodyOf('Hello.').subarray(0, 10), end_of_stream: false } };
  for (const [unreadable, answer] of [
    ['block', 'immediate_response'],
    ['allow', 'request_body'],
  ] as const) {
    const stream = open(await start({ ext_proc: { unreadable, status: 451 } }));
    stream.begin('BUFFERED_PARTIAL', JSON_BODY);
    stream.send(part);
    expect(await stream.until(2)).toHaveProperty(answer);
    const { immediate_response } = stream.answers[1] as { immediate_response?: object };
    if (unreadable === 'block') expect(immediate_response).toMatchObject({ status: { code: 451 } });
  }
});

it('bounds a body that comes in pieces, and all of them', async () => {
  const service = await start({}, { BODY_LIMIT: '64kb', BODY_MEMORY: '128kb' });
  const large = open(service);
  large.begin('FULL_DUPLEX_STREAMED', JSON_BODY);
  for (let i = 0; i < 3; i++) large.send({ request_body: { body: Buffer.alloc(30_000, 0x20) } });
  expect(await large.until(1)).toHaveProperty('immediate_response');
  // Of those that are not over, the first make room for one more, and are told so.
  const many = Array.from({ length: 8 }, () => open(service));
  for (const stream of many) {
    stream.begin('FULL_DUPLEX_STREAMED', JSON_BODY);
    stream.send({ request_body: { body: Buffer.alloc(30_000, 0x20) } });
  }
  const full = /^UNAVAILABLE The memory for request bodies \(BODY_MEMORY\) is full\.$/;
  await until('streams that found no room', async () => {
    const ended = await Promise.all(many.map((one) => Promise.race([one.ended, null])));
    return ended.filter((one) => one !== null && full.test(one)).length >= 4;
  });
  // What was held is free again.
  for (const stream of many) stream.close();
  const next = open(service);
  next.begin('FULL_DUPLEX_STREAMED', JSON_BODY);
  next.send({ request_body: { body: bodyOf('Hello.'), end_of_stream: true } });
  expect(await next.until(2)).toHaveProperty('request_body');
});

it('counts what each direction holds by itself, and each piece with what keeps it', async () => {
  const service = await start({}, { BODY_LIMIT: '64kb', BODY_MEMORY: '128kb' });
  const full = /^UNAVAILABLE The memory for request bodies \(BODY_MEMORY\) is full\.$/;
  const piece = Buffer.alloc(60_000, 0x20);
  const both = open(service);
  both.begin('FULL_DUPLEX_STREAMED', JSON_BODY);
  both.send({ response_headers: { headers: headersOf(JSON_BODY) } });
  both.send({ response_body: { body: piece } });
  both.send({ request_body: { body: bodyOf('Hello.'), end_of_stream: true } });
  await both.until(2); // the request goes on, the response is still held
  const others = [open(service), open(service)];
  for (const other of others) {
    other.begin('FULL_DUPLEX_STREAMED', JSON_BODY);
    other.send({ request_body: { body: piece } });
  }
  await until('no room for three pieces', async () => {
    both.send({ response_body: { body: Buffer.from(' ') } });
    const ended = await Promise.all(
      [both, ...others].map((one) => Promise.race([one.ended, null])),
    );
    return ended.some((one) => one !== null && full.test(one));
  });
  for (const one of [both, ...others]) one.close();
  // 64 KiB in pieces of a byte are 20 MB.
  const slow = open(service);
  slow.begin('FULL_DUPLEX_STREAMED', JSON_BODY);
  for (let i = 0; i < 1000; i++) slow.send({ request_body: { body: Buffer.from(' ') } });
  expect(await slow.ended).toMatch(full);
});

it('tells nothing to an Envoy that only watches, and counts all the same', async () => {
  const service = await start({});
  const stream = open(service);
  const watches = { observability_mode: true };
  stream.send({ request_headers: { headers: { headers: [] } }, ...watches });
  stream.send({ request_body: { body: bodyOf(EMAIL), end_of_stream: true }, ...watches });
  stream.end();
  expect(await stream.ended).toBe('OK');
  expect(stream.answers).toEqual([]);
  expect((await scrape(service)).requests).toEqual({ [`${ROUTE} 200`]: 1 });
});

it('goes on with what it has begun on SIGTERM', async () => {
  const service = await start({});
  const stream = open(service);
  stream.begin('BUFFERED', JSON_BODY);
  await stream.until(1);
  expect((await scrape(service)).value(IN_FLIGHT)).toBe(2); // with the one that asks
  await service.beginStop();
  stream.send({ request_body: { body: bodyOf(EMAIL), end_of_stream: true } });
  await stream.until(2);
  stream.send({ response_headers: { headers: { headers: [] } } });
  await stream.until(3);
  stream.end();
  expect(await stream.ended).toBe('OK');
  expect(await service.exit).toEqual({ code: 0, signal: null });
});

describe('placeholders in the answer to a redacted request', () => {
  /** Of an answer in events of a few characters each. */
  const eventsOf = (text: string): Buffer => {
    const pieces = text.match(/.{1,3}/g) ?? [];
    const events = pieces.map((content) =>
      JSON.stringify({ choices: [{ index: 0, delta: { content } }] }),
    );
    return Buffer.from([...events, '[DONE]'].map((event) => `data: ${event}\n\n`).join(''));
  };

  const textOf = (events: string): string =>
    [...events.matchAll(/^data: (\{.*)$/gm)]
      .map(([, json]) => JSON.parse(json as string).choices[0].delta.content)
      .join('');

  type Mutated = { readonly response: { readonly body_mutation?: { readonly body: Buffer } } };

  /** What the client is given of what the model has said to a text with an address. */
  async function answered(service: Service, said: string): Promise<string> {
    const stream = open(service);
    stream.begin('BUFFERED', JSON_BODY);
    stream.send({ request_body: { body: bodyOf(`Write to ${EMAIL}.`), end_of_stream: true } });
    const asked = (await stream.until(2))?.request_body as unknown as Mutated;
    expect(String(asked.response.body_mutation?.body)).toContain('<EMAIL_1>');
    const headers = headersOf({ 'content-type': 'text/event-stream' });
    stream.send({ response_headers: { headers } });
    const body = eventsOf(said);
    stream.send({ response_body: { body, end_of_stream: true } });
    const told = (await stream.until(4))?.response_body as unknown as Mutated;
    stream.close();
    return textOf(String(told.response.body_mutation?.body ?? body));
  }

  it('become what was redacted again where the file says so, also cut into events', async () => {
    const service = await start({ ext_proc: { restore: true } });
    const said = 'I have written to <EMAIL_1>, not to <EMAIL_7>.';
    expect(await answered(service, said)).toBe(said.replace('<EMAIL_1>', EMAIL));
    // What the answer itself is redacted of has another one, and does not come back.
    expect(await answered(service, 'Or to help@example.com?')).toBe('Or to <EMAIL_2>?');
    expect(await answered(service, 'To <EMAIL_1>, or help@example.com.')).toBe(
      `To ${EMAIL}, or <EMAIL_2>.`,
    );
    expect(service.stdout + service.stderr).not.toContain(EMAIL);
  });

  it('stay as they are by default', async () => {
    const said = 'I have written to <EMAIL_1>.';
    expect(await answered(await start({}), said)).toBe(said);
  });
});
