import { CohereClientV2 } from 'cohere-ai';
import OpenAI from 'openai';
import { request } from '../helpers/http';
import { killAll, type Service, startService, textModel } from '../helpers/service';
import { expectError } from '../helpers/services';

const ORIGIN = 'https://a.example';
const KEY = 'the-key-of-the-cors-test';
const MODEL = textModel('bert-single-label');
const PREFLIGHT = { 'access-control-request-method': 'POST' };

afterAll(killAll);

/** The headers of the CORS protocol in an answer. */
async function ask(
  service: Service,
  path: string,
  { origin, method = 'GET', ...headers }: Readonly<Record<string, string | undefined>>,
) {
  const answer = await request(service, { path, method, headers: { ...headers, origin } });
  const entries = Object.entries(answer.headers);
  const allowed = entries.filter(([name]) => name.startsWith('access-control-'));
  return { answer, allowed: Object.fromEntries(allowed), vary: answer.headers.vary };
}

const EXPOSED = {
  'access-control-allow-origin': ORIGIN,
  'access-control-expose-headers':
    'Allow, Inference-Header-Content-Length, Retry-After, WWW-Authenticate, X-Compute-Characters, ' +
    'X-Compute-Time, X-Compute-Tokens, X-Compute-Type, X-Error-Code, X-Inference-Time, X-Input-Truncated, X-Queue-Time, ' +
    'X-Request-Id, X-Tokenization-Time, X-Total-Time, X-TypeSafe-Request-Id',
};
const PREFLIGHTED = {
  'access-control-allow-origin': ORIGIN,
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, DELETE',
  'access-control-allow-headers':
    'Authorization, Content-Encoding, Content-Type, Inference-Header-Content-Length, Traceparent, ' +
    'Tracestate, X-Request-Id, X-Request-Timeout-Ms, X-TypeSafe-SDK, Idempotency-Key, OpenAI-Beta, ' +
    'OpenAI-Organization, OpenAI-Project, X-Client-Name, X-HF-Bill-To, ' +
    'X-TypeSafe-Retry-Count, X-TypeSafe-Runtime',
  'access-control-max-age': '7200',
};

it('is off by default', async () => {
  const service = await startService('sentiment', { env: MODEL });
  const got = await ask(service, '/health', { origin: ORIGIN });
  expect([got.answer.status, got.allowed, got.vary]).toEqual([200, {}, undefined]);
  const preflight = await ask(service, '/analyze', {
    method: 'OPTIONS',
    origin: ORIGIN,
    ...PREFLIGHT,
  });
  expect([preflight.answer.status, preflight.allowed]).toEqual([204, {}]);
  expect(preflight.answer.headers.allow).toBe('POST');
  await service.stop();
});

describe('CORS_ORIGINS with a list, and keys', () => {
  let service: Service;
  beforeAll(async () => {
    const env = { ...MODEL, API_KEY: KEY, CORS_ORIGINS: `http://localhost:3000, ${ORIGIN}` };
    service = await startService('sentiment', { env });
  });

  it.each(['/analyze', '/info', '/health', '/other'])(
    'answers a preflight of %s without a key',
    async (path) => {
      const { answer, allowed, vary } = await ask(service, path, {
        method: 'OPTIONS',
        origin: ORIGIN,
        ...PREFLIGHT,
      });
      expect([answer.status, answer.text, vary]).toEqual([204, '', 'Origin']);
      expect(allowed).toEqual(PREFLIGHTED);
    },
  );

  it('lets pages of these origins read answers, errors too, and never with credentials', async () => {
    const authorization = `Bearer ${KEY}`;
    for (const [path, headers, status] of [
      ['/info', { authorization }, 200],
      ['/other', { authorization }, 404],
      ['/info', {}, 401],
      ['/health', {}, 200],
      ['/', {}, 200],
    ] as const) {
      const { answer, allowed, vary } = await ask(service, path, { origin: ORIGIN, ...headers });
      expect([path, answer.status, allowed]).toEqual([path, status, EXPOSED]);
      expect(vary).toBe(path === '/' ? 'Origin, Accept-Encoding' : 'Origin');
    }
    const local = await ask(service, '/health', { origin: 'http://localhost:3000' });
    expect(local.allowed['access-control-allow-origin']).toBe('http://localhost:3000');
  });

  it.each([
    'https://b.example',
    'http://a.example',
    'https://a.example:444',
    'https://A.example',
    'https://a.example.evil',
    'https://x.a.example',
    'null',
    '*',
    '',
  ])('says nothing to pages of %j', async (origin) => {
    const got = await ask(service, '/health', { origin });
    expect([got.answer.status, got.allowed, got.vary]).toEqual([200, {}, 'Origin']);
    const preflight = await ask(service, '/info', { method: 'OPTIONS', origin, ...PREFLIGHT });
    expectError(preflight.answer, 401, /API key/);
    expect(preflight.allowed).toEqual({});
  });

  it('takes no other OPTIONS for a preflight', async () => {
    const { answer } = await ask(service, '/info', { method: 'OPTIONS', origin: ORIGIN });
    expectError(answer, 401, /API key/);
    const none = await ask(service, '/health', { method: 'OPTIONS', ...PREFLIGHT });
    expect([none.answer.headers.allow, none.allowed]).toEqual(['GET, HEAD', {}]);
  });

  it('says to caches that answers differ by origin, also to who names none', async () => {
    const { vary, allowed } = await ask(service, '/health', {});
    expect([vary, allowed]).toEqual(['Origin', {}]);
  });
});

it('lets pages of all origins ask', async () => {
  const service = await startService('sentiment', { env: { ...MODEL, CORS_ORIGINS: '*' } });
  for (const origin of [ORIGIN, 'null', 'http://b.example:81']) {
    const { allowed, vary } = await ask(service, '/health', { origin });
    expect([allowed, vary]).toEqual([
      { ...EXPOSED, 'access-control-allow-origin': '*' },
      undefined,
    ]);
    const preflight = await ask(service, '/analyze', { method: 'OPTIONS', origin, ...PREFLIGHT });
    expect(preflight.allowed).toEqual({ ...PREFLIGHTED, 'access-control-allow-origin': '*' });
  }
  await service.stop();
});

/** The CORS-safelisted request headers, and those that pages cannot set. */
const FREE = new Set(['accept', 'accept-language', 'content-length', 'connection', 'user-agent']);

it('lets pages send what the client libraries of the protocols add', async () => {
  const env = { ...MODEL, CORS_ORIGINS: ORIGIN };
  const service = await startService('sentiment', { env });
  const sent = new Set<string>();
  const fetch = async (_url: unknown, init?: RequestInit): Promise<Response> => {
    for (const [name] of new Headers(init?.headers)) sent.add(name);
    return Response.json({ data: [], results: [], embeddings: [], id: '1' });
  };
  const baseURL = `${service.origin}/v1`;
  const options = { apiKey: KEY, organization: 'o', project: 'p', fetch, timeout: 9000 };
  const openAi = new OpenAI({ ...options, baseURL, dangerouslyAllowBrowser: true });
  await openAi.embeddings.create({ model: 'a', input: 'b' }, { idempotencyKey: 'c' });
  const cohere = new CohereClientV2({
    environment: service.origin,
    token: KEY,
    clientName: 'd',
    fetcher: async (asked: { readonly headers?: Readonly<Record<string, unknown>> }) => {
      for (const name of Object.keys(asked.headers ?? {})) sent.add(name.toLowerCase());
      return { ok: true, body: { results: [] }, rawResponse: new Response() } as never;
    },
  });
  await cohere.rerank({ model: 'a', query: 'b', documents: ['c'] });
  const names = [...sent].filter((name) => !FREE.has(name));
  expect(names).toEqual(
    expect.arrayContaining(['authorization', 'x-stainless-os', 'x-fern-language']),
  );
  const preflight = await ask(service, '/v1/embeddings', {
    method: 'OPTIONS',
    origin: ORIGIN,
    ...PREFLIGHT,
    'access-control-request-headers': [...names, 'x-other', 'x-stainless-\u00e9'].join(','),
  });
  const allowed = preflight.allowed['access-control-allow-headers'] as string;
  const list = allowed.toLowerCase().split(', ');
  expect(names.filter((name) => !list.includes(name))).toEqual([]);
  expect(list).not.toContain('x-other');
  expect(new Set(list).size).toBe(list.length);
  await service.stop();
});
