/** What a language model calls tools with is JSON: no value hides in its escapes, in a key, or in another form of a call. */
import { ExtProcStream } from '../../helpers/ext-proc';
import { guardDirectory } from '../../helpers/guard-directory';
import { post } from '../../helpers/http';
import { removeDirectories } from '../../helpers/models-directory';
import type { Service } from '../../helpers/service';

const KINDS = ['email', 'card', 'iban', 'ip', 'phone', 'url'];
const VALUES = [
  'ann@b\u00fccher.example',
  '4111\u202f1111\u202f1111\u202f1111',
  'DE89\n3704\n0044\n0532\n0130\n00',
  '10.0.0.1',
  '2001:db8::1',
  '+49 30\n12345678',
  'https://example.org/x',
];

let service: Service;
const streams: ExtProcStream[] = [];

beforeAll(async () => {
  // Without `decoded`: what finds them is that JSON is read.
  const checks = [
    { type: 'patterns', name: 'data', action: 'redact', kinds: KINDS, variants: ['normalized'] },
  ];
  service = await guardDirectory({ checks }).start({ env: { GRPC_PORT: '0' } });
});

afterAll(async () => {
  for (const stream of streams) stream.close();
  await removeDirectories();
});

/** All characters that may be are escapes. */
const escaped = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/[@.:+/1-9]|[^\0-~]/g, (one) =>
    one === '/'
      ? '\\/'
      : /[\d:]/.test(one)
        ? one
        : `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Ways to write a value into arguments. */
const ARGUMENTS: Readonly<Record<string, (value: string) => string>> = {
  'a value': (value) => JSON.stringify({ to: value }),
  'a value with escapes': (value) => escaped({ to: `Write to ${value}.` }),
  'a key': (value) => escaped({ [value]: 1 }),
  'a list': (value) => escaped({ to: [{ all: [1, value] }] }),
  'a text with line breaks': (value) => JSON.stringify({ note: `address:\n${value}\nEnd` }),
  'JSON in JSON': (value) => JSON.stringify({ body: escaped({ to: escaped([value]) }) }),
  'no JSON': (value) => `to=${value}`,
};

const CALLS: Readonly<Record<string, (written: string) => object>> = {
  'a function': (written) => ({ type: 'function', function: { name: 'send', arguments: written } }),
  'a custom tool': (written) => ({ type: 'custom', custom: { name: 'send', input: written } }),
  'another type': (written) => ({ type: 'mcp', mcp: { server: 'mail', arguments: { written } } }),
};

const CASES = Object.entries(ARGUMENTS).flatMap(([where, write]) =>
  Object.entries(CALLS).map(([type, call]) => [where, type, write, call] as const),
);

describe('LiteLLM', () => {
  const ask = async (calls: readonly object[]) => {
    const body = { input_type: 'response', texts: [], tool_calls: calls };
    return (await post(service, '/beta/litellm_basic_guardrail_api', body)).json;
  };
  const blocked = { action: 'BLOCKED' };

  it.each(CASES)('%s of %s is blocked', async (_where, _type, write, call) => {
    for (const value of VALUES)
      expect([value, await ask([call(write(value))])]).toMatchObject([value, blocked]);
    expect(await ask([call(write('nobody'))])).toEqual({ action: 'NONE' });
  });

  it('arguments that are an object, a list or a number are blocked', async () => {
    const call = (given: unknown) => ({ function: { name: 'send', arguments: given } });
    for (const value of VALUES) {
      for (const given of [{ to: value }, { [value]: null }, [[value]], { body: escaped([value]) }])
        expect([given, await ask([call(given)])]).toMatchObject([given, blocked]);
    }
    expect(await ask([call('{"card": 4111111111111111}')])).toMatchObject(blocked);
    expect(await ask([call({ card: 4111111111111111 })])).toMatchObject(blocked);
    expect(await ask([call({ a: 1, b: [true, null] }), call(null), {}])).toEqual({
      action: 'NONE',
    });
  });
});

describe('the chat of detectors', () => {
  it.each(CASES)('finds %s of %s', async (_where, _type, write, call) => {
    for (const value of VALUES) {
      const message = { role: 'assistant', content: null, tool_calls: [call(write(value))] };
      const messages = [{ role: 'user', content: 'Hello.' }, message];
      const { json } = await post(service, '/api/v1/text/chat', { messages });
      const found = json as { evidence: { name: string; value: string }[] }[];
      expect(found.flatMap(({ evidence }) => evidence)).toContainEqual({
        name: 'messages[1]',
        value: expect.stringContaining(value),
      });
    }
  });

  it('finds it in the call of a function as it was before', async () => {
    const message = {
      role: 'assistant',
      function_call: { name: 'f', arguments: escaped([VALUES[0]]) },
    };
    const { json } = await post(service, '/api/v1/text/chat', { messages: [message] });
    expect(json).toMatchObject([{ detection: 'EMAIL', evidence: [{ value: VALUES[0] }] }]);
  });
});

describe('Envoy', () => {
  /** The body that goes on. */
  async function redacted(
    sent: string,
    type = 'application/json',
    side = 'request',
  ): Promise<string> {
    const stream = new ExtProcStream(service);
    streams.push(stream);
    stream.begin('BUFFERED', { 'content-type': type });
    const body = { body: Buffer.from(sent), end_of_stream: true };
    if (side === 'response') {
      const headers = [{ key: 'content-type', raw_value: Buffer.from(type) }];
      stream.send({ response_headers: { headers: { headers } } });
      await stream.until(2);
    }
    stream.send({ [`${side}_body`]: body });
    const answer = (await stream.until(side === 'response' ? 3 : 2)) as Readonly<
      Record<string, unknown>
    >;
    const { response } = answer[`${side}_body`] as {
      response: { body_mutation?: { body: Buffer } };
    };
    return String(response.body_mutation?.body ?? sent);
  }

  const leaves = (value: unknown): string => JSON.stringify(value, (_, one) => readable(one));
  const readable = (one: unknown): unknown => {
    try {
      return typeof one === 'string' ? JSON.parse(one) : one;
    } catch {
      return one;
    }
  };

  it.each(CASES.filter(([, type]) => type !== 'another type'))(
    'passes on %s of %s redacted, as JSON',
    async (where, _type, write, call) => {
      for (const value of VALUES) {
        const body = { messages: [{ role: 'assistant', tool_calls: [call(write(value))] }] };
        const passed = JSON.parse(await redacted(JSON.stringify(body))) as typeof body;
        const text = leaves(passed);
        expect(text).toMatch(/<[A-Z]+_1>/);
        expect(text).not.toContain(JSON.stringify(value).slice(1, -1));
        const [written] =
          JSON.stringify(passed).match(/"(arguments|input)":"(?:[^"\\]|\\.)*"/) ?? [];
        const { [written?.startsWith('"input') ? 'input' : 'arguments']: given } = JSON.parse(
          `{${written}}`,
        ) as Record<string, string>;
        if (where !== 'no JSON') expect(() => JSON.parse(given as string)).not.toThrow();
      }
    },
  );

  it('redacts a number, and leaves all other digits as they are', async () => {
    const given = '{"card": 4111111111111111, "id": 12345678901234567890, "x": 1.50}';
    const calls = [{ function: { name: 'pay', arguments: given } }];
    const passed = await redacted(JSON.stringify({ messages: [{ tool_calls: calls }] }));
    const { messages } = JSON.parse(passed) as { messages: [{ tool_calls: typeof calls }] };
    expect(messages[0].tool_calls[0]?.function.arguments).toBe(
      '{"card": "<CARD_1>", "id": 12345678901234567890, "x": 1.50}',
    );
  });

  it('reads arguments that come in events as one text, cut anywhere', async () => {
    for (const value of VALUES) {
      const written = escaped({ to: value, count: 2 });
      const events = [...written].map((piece) => ({
        choices: [
          { index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: piece } }] } },
        ],
      }));
      const sent = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
      const passed = await redacted(`${sent}data: [DONE]\n\n`, 'text/event-stream', 'response');
      const pieces = passed
        .match(/(?<=^data: )\{.*$/gm)
        ?.map((line) => JSON.parse(line)) as typeof events;
      const all = pieces.map(({ choices }) => choices[0]?.delta.tool_calls[0]?.function.arguments);
      expect(JSON.parse(all.join(''))).toEqual({
        to: expect.stringMatching(/^<[A-Z]+_1>$/),
        count: 2,
      });
    }
  });
});
