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
    'Retry-After, X-Compute-Tokens, X-Inference-Time, X-Input-Truncated, X-Queue-Time, ' +
    'X-Request-Id, X-Tokenization-Time',
};
const PREFLIGHTED = {
  'access-control-allow-origin': ORIGIN,
  'access-control-allow-methods': 'GET, HEAD, POST',
  'access-control-allow-headers':
    'Authorization, Content-Type, Traceparent, Tracestate, X-Request-Id, X-Request-Timeout-Ms',
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
