import http from 'node:http';
import { Folder } from '../helpers/files';
import { startHolding } from '../helpers/holding';
import {
  type Answer,
  analyze,
  exchange,
  post,
  predict,
  type RequestOptions,
  request,
} from '../helpers/http';
import { scrape, untilQueued } from '../helpers/metrics';
import {
  EEG_MODEL,
  killAll,
  NodeProcess,
  type Service,
  startService,
  textModel,
} from '../helpers/service';
import { expectError } from '../helpers/services';

const KEY = 'the-first-key-of-the-test';
const OTHER = 'another-key-of-the-same-test';
const MODEL = textModel('bert-single-label');
const NEEDED = 'An API key is required in one header: "Authorization: Bearer KEY".';
const UNKNOWN = 'The API key is not known.';

const folder = new Folder();

afterAll(async () => {
  await killAll();
  folder.remove();
});

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

function expectRefused(answer: Answer, detail = NEEDED): void {
  expectError(answer, 401, detail);
  expect(answer.headers['www-authenticate']).toBe('Bearer');
  expect(answer.headers['x-request-id']).toBeTruthy();
}

describe('with a key', () => {
  let service: Service;
  const ask = (path: string, options: Partial<RequestOptions> = {}) =>
    request(service, { path, ...options });

  beforeAll(async () => {
    service = await startService('sentiment', { env: { ...MODEL, API_KEY: KEY } });
  });

  it.each(['/analyze', '/analyze/batch', '/info', '/metrics', '/openapi.json', '/other', '/x/y'])(
    '%s is 401 to a stranger, whatever the method',
    async (path) => {
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS', 'PATCH']) {
        expectRefused(await ask(path, { method }));
        expectRefused(await ask(path, { method, headers: bearer(OTHER) }), UNKNOWN);
      }
      const { status, text, headers } = await ask(path, { method: 'HEAD' });
      expect([status, text, headers['www-authenticate']]).toEqual([401, '', 'Bearer']);
    },
  );

  it('tells strangers no path from another', async () => {
    const answers = await Promise.all(['/analyze', '/other'].map((path) => ask(path)));
    const [known, unknown] = answers.map(({ headers, text }) => {
      const { date, 'x-request-id': _id, ...others } = headers;
      return [others, text];
    });
    expect(known).toEqual(unknown);
  });

  it('answers whoever has it as ever', async () => {
    const headers = bearer(KEY);
    expect((await analyze(service, 'good', { headers })).status).toBe(200);
    for (const path of ['/info', '/metrics', '/openapi.json']) {
      expect((await ask(path, { headers })).status).toBe(200);
      expect((await ask(path, { method: 'HEAD', headers })).status).toBe(200);
    }
    expectError(await ask('/other', { headers }), 404, 'Path not found.');
    const wrong = await ask('/analyze', { headers });
    expectError(wrong, 405, 'This path accepts POST only.');
    expect(wrong.headers.allow).toBe('POST');
    expectError(await post(service, '/analyze', {}, { headers }), 422, 'text: is required');
  });

  it('asks nobody for it on probes and pages', async () => {
    for (const path of [
      '/health',
      '/health?x=1',
      '/ready',
      '/',
      '/icon.svg',
      '/docs',
      '/docs/icon.svg',
    ]) {
      expect([path, (await ask(path)).status]).toEqual([path, 200]);
    }
    expectError(await ask('/health', { method: 'PUT' }), 405, /GET, HEAD/);
    expectError(await ask('/health', { method: 'POST' }), 401, /API key is required/);
    expect((await ask('/', { method: 'POST' })).status).toBe(401);
    expect((await ask('/health', { headers: bearer('wrong') })).status).toBe(200);
  });

  it.each([
    ['lower case', { authorization: `bearer ${KEY}` }, 200],
    ['upper case', { authorization: `BEARER ${KEY}` }, 200],
    ['more spaces', { authorization: `Bearer   ${KEY} ` }, 200],
    ['another key of its length', bearer(`${KEY.slice(0, -1)}x`), 401],
    ['a part of it', bearer(KEY.slice(0, -1)), 401],
    ['more than it', bearer(`${KEY}x`), 401],
    ['other capitals', bearer(KEY.toUpperCase()), 401],
    ['a long one', bearer('x'.repeat(15_000)), 401],
    ['nothing', { authorization: '' }, 401],
    ['the scheme alone', { authorization: 'Bearer' }, 401],
    ['no scheme', { authorization: KEY }, 401],
    [
      'another scheme',
      { authorization: `Basic ${Buffer.from(`:${KEY}`).toString('base64')}` },
      401,
    ],
    ['two in one', { authorization: `Bearer ${KEY}, Bearer ${KEY}` }, 401],
    ['another header', { 'x-api-key': KEY }, 401],
  ])('%s: %j is %i', async (_name, headers, status) => {
    expect((await ask('/info', { headers })).status).toBe(status);
  });

  it.each(['GET /info?key=KEY HTTP/1.1', 'GET /info?access_token=KEY HTTP/1.1'])(
    'takes no key from a URL: %s',
    async (line) => {
      const answer = await exchange(service, raw(line.replace('KEY', KEY)));
      expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    },
  );

  it('takes no key of two headers, even if both are right', async () => {
    const header = `Authorization: Bearer ${KEY}\r\n`;
    const twice = await exchange(service, raw('GET /info HTTP/1.1', header + header));
    expect(twice).toMatch(/^HTTP\/1\.1 401 /);
    const mixed = `Authorization: Bearer ${KEY}\r\nauthorization: Bearer wrong\r\n`;
    expect(await exchange(service, raw('GET /info HTTP/1.1', mixed))).toMatch(/^HTTP\/1\.1 401 /);
    expect(await exchange(service, raw('GET /info HTTP/1.1', header))).toMatch(/^HTTP\/1\.1 200 /);
  });

  // What is public must be the same path to the router.
  it.each([
    ['/../info', 401],
    ['/health/../info', 401],
    ['/health/%2e%2e/info', 401],
    ['/info#/health', 401],
    ['/health#/../info', 200],
    ['/%68ealth', 401],
    ['/health/', 401],
    ['//info', 401],
    ['//health', 401],
    ['/info?/health', 401],
    ['/health?/../info', 200],
    ['\\info', 400],
    ['/health\\..\\info', 401],
    ['http://any.host/info', 401],
    ['http://any.host/health', 200],
    ['http://any.host/health/../info', 401],
    ['http://any.host', 200],
    ['http://[/info', 401],
    ['*', 401],
  ])('the target %s is %i', async (target, status) => {
    const answer = await exchange(service, raw(`GET ${target} HTTP/1.1`));
    expect(Number(answer.slice(9, 12))).toBe(status);
    if (status === 200) expect(answer).not.toContain('"limits"');
  });

  it('reads nothing of the body of a stranger', async () => {
    const head = 'POST /analyze HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n';
    // No byte of the body comes, and the answer does. Without "100 Continue", none is asked for.
    const answer = await exchange(service, `${head}Expect: 100-continue\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 401 [\s\S]*\r\nConnection: close\r\n/i);
    const chunked = 'POST /analyze HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n';
    expect(await exchange(service, `${chunked}Connection: close\r\n\r\n5\r\n`)).toMatch(
      /^HTTP\/1\.1 401 /,
    );
  });

  it('asks whoever has a key for the body', async () => {
    const body = '{"text":"good"}';
    const headers = `Authorization: Bearer ${KEY}\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n`;
    const answer = await exchange(service, raw('POST /analyze HTTP/1.1', headers) + body);
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
  });

  it('counts strangers by status, and sums them up in the log', async () => {
    const before = await scrape(service, undefined, bearer(KEY));
    await Promise.all(Array.from({ length: 20 }, () => ask('/analyze', { method: 'POST' })));
    const after = await scrape(service, undefined, bearer(KEY));
    const count = (seen: typeof before) => seen.requests['/analyze 401'] ?? 0;
    expect(count(after) - count(before)).toBe(20);
    const refused = after.byLabel('libtorch_serve_http_requests_rejected_total', 'reason');
    expect(Object.values(refused)).toEqual(Object.values(refused).map(() => 0));
    await service.waitForLog(({ rejected }) => rejected !== undefined);
    expect(service.logs.filter(({ status }) => status === 401)).toEqual([]);
  });
});

it('lets everybody read metrics where that is chosen', async () => {
  const env = { ...MODEL, API_KEY: KEY, METRICS_REQUIRE_KEY: 'false' };
  const service = await startService('sentiment', { env });
  expect((await request(service, { path: '/metrics' })).status).toBe(200);
  expectRefused(await request(service, { path: '/info' }));
  await service.stop();
});

it('asks for a key on both services', async () => {
  const service = await startService('eeg', { env: { EEG_MODEL_PATH: EEG_MODEL, API_KEY: KEY } });
  expectRefused(await predict(service, []));
  const headers = bearer(KEY);
  expect((await post(service, '/predict', { signal: [] }, { headers })).status).toBe(400);
  await service.stop();
});

it('sends strangers away first where the queue is full, and where the service drains', async () => {
  const service = await startHolding(4000, { MAX_QUEUE_REQUESTS: '1', API_KEY: KEY });
  const headers = bearer(KEY);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  await request(service, { path: '/health', agent });
  const accepted = analyze(service, 'good', { headers });
  await untilQueued(service, 1, () => scrape(service, undefined, headers));
  expectRefused(await analyze(service, 'good'));
  await service.beginStop();
  const refused = await analyze(service, 'good', { agent });
  expectRefused(refused);
  expect(refused.headers.connection).toBe('close');
  expect((await accepted).status).toBe(200);
  expect(await service.exit).toEqual({ code: 0, signal: null });
  agent.destroy();
});

it('writes no key anywhere', async () => {
  const env = { ...MODEL, API_KEY: KEY, LOG_LEVEL: 'trace' };
  const service = await startService('sentiment', { env });
  const wrong = 'wrong-key-of-a-stranger';
  const answers = [
    await request(service, { path: '/info', headers: bearer(wrong) }),
    await request(service, { path: `/${wrong}`, headers: bearer(wrong) }),
    await request(service, { path: '/info', headers: bearer(KEY) }),
    await request(service, { path: '/openapi.json', headers: bearer(KEY) }),
    await request(service, { path: '/metrics', headers: bearer(KEY) }),
    await request(service, { path: '/other', headers: bearer(KEY) }),
  ];
  await service.stop();
  const written = [service.stdout, service.stderr, ...answers.map(textOf)].join('\n');
  expect(written).toContain('/openapi.json');
  expect(written).toContain('"status":401');
  expect(written).not.toContain(KEY);
  expect(written).not.toContain(wrong);
});

describe('API_KEYS_FILE', () => {
  async function start(name: string, text: string, mode = 0o600) {
    const file = folder.put(name, text, mode);
    const service = await startService('sentiment', { env: { ...MODEL, API_KEYS_FILE: file } });
    const status = async (key: string) =>
      (await request(service, { path: '/info', headers: bearer(key) })).status;
    return { service, status };
  }

  function reloaded(service: Service, times: number) {
    const lines = () =>
      service.logs.filter(
        ({ msg }) => msg.startsWith('API keys reloaded') || msg.startsWith('reloading API keys'),
      );
    service.kill('SIGHUP');
    return service.waitForLog(() => lines().length === times).then(() => lines().at(-1));
  }

  it('has several keys', async () => {
    const { service, status } = await start('several', `# two\n${KEY}\n\n  ${OTHER}  \r\n`);
    expect([await status(KEY), await status(OTHER), await status('# two')]).toEqual([
      200, 200, 401,
    ]);
    expect(service.logs.find(({ msg }) => msg === 'listening')).toMatchObject({
      access: { keys: 2, tls: false },
    });
    expect(service.logs.filter(({ level }) => level === 'warn')).toEqual([]);
    await service.stop();
  });

  it('is read again on SIGHUP, and kept as it was where it is broken', async () => {
    const { service, status } = await start('rotated', KEY);
    folder.put('rotated', `${OTHER}\n`);
    expect([await status(KEY), await status(OTHER)]).toEqual([200, 401]);
    expect(await reloaded(service, 1)).toMatchObject({ level: 'info', keys: 1 });
    expect([await status(KEY), await status(OTHER)]).toEqual([401, 200]);

    const file = folder.put('rotated', `${KEY}\nkéy\n`);
    expect(await reloaded(service, 2)).toMatchObject({
      level: 'error',
      msg:
        `reloading API keys failed: API_KEYS_FILE: ${file}: line 2: expected a key of visible ASCII ` +
        'characters without spaces',
    });
    folder.put('rotated', '');
    expect((await reloaded(service, 3))?.msg).toMatch(/: contains no key$/);
    expect([await status(KEY), await status(OTHER)]).toEqual([401, 200]);
    folder.put('rotated', `${KEY}\n${OTHER}`);
    expect(await reloaded(service, 4)).toMatchObject({ keys: 2 });
    expect([await status(KEY), await status(OTHER)]).toEqual([200, 200]);
    expect(service.stdout).not.toMatch(/first-key|another-key/);
    expect(await service.stop()).toEqual({ code: 0, signal: null });
  });

  it('loses no request while it is rotated under load', async () => {
    const stable = 'a-key-that-is-in-all-of-them';
    const { service } = await start('load', `${stable}\n${KEY}\n`);
    const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
    let isOver = false;
    const statuses: number[] = [];
    const load = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        const headers = bearer(stable);
        const { status } = await analyze(service, 'good', { agent, headers });
        statuses.push(status);
      }
    });
    for (let i = 1; i <= 10; i++) {
      folder.put('load', `${stable}\n${i % 2 ? OTHER : KEY}\n`);
      await reloaded(service, i);
    }
    isOver = true;
    await Promise.all(load);
    expect(statuses.length).toBeGreaterThan(20);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    agent.destroy();
    await service.stop();
  });

  it('warns where others can read it, and of keys that can be guessed', async () => {
    const { service } = await start('open', `short\n${KEY}`, 0o644);
    const warnings = service.logs.filter(({ level }) => level === 'warn').map(({ msg }) => msg);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^API_KEYS_FILE: .*open is readable by all users. Remove read access for others \(chmod o-r\)$/,
      ),
      '1 API keys are shorter than 16 characters and can be guessed',
    ]);
    await service.stop();
  });

  it.each([
    ['there is none', '/nonexistent/keys', /^API_KEYS_FILE: \/nonexistent\/keys: file not found$/],
    ['it is a folder', folder.path, /: expected a regular file$/],
    ['it is empty', folder.put('empty', ''), /empty: contains no key$/],
    ['it is too large', folder.put('large', 'x\n'.repeat(2 ** 20)), /large: larger than 1 MiB$/],
    [
      'it has no text',
      folder.put('binary', Buffer.from([0xff, 0xfe, 0x61])),
      /binary: line 1: exp/,
    ],
    [
      'a key can be in no header',
      folder.put('bad', 'good-key\nsécret'),
      /bad: line 2: expected a key of visible ASCII characters without spaces$/,
    ],
    [
      'it says nothing of what a key is for',
      folder.put('words', 'good-key\nsecret key'),
      /words: line 2: expected no scope after the key, or models=NAME,NAME or models=\*, management, guard$/,
    ],
  ])('ends the start with 2 and a line where %s', async (_name, file, line) => {
    const process = new NodeProcess({
      args: ['sentiment'],
      env: { ...MODEL, API_KEYS_FILE: file },
    });
    expect(await process.exit).toEqual({ code: 2, signal: null });
    const lines = process.stderr.trimEnd().split('\n');
    expect(lines).toEqual([expect.stringMatching(/^libtorch-serve: API_KEYS_FILE: /)]);
    expect(lines[0]?.slice('libtorch-serve: '.length)).toMatch(line);
    expect(process.stderr + process.stdout).not.toContain('secret');
  });
});

it('leaves SIGHUP its default, to end the process, where there is nothing to read again', async () => {
  const service = await startService('sentiment', { env: { ...MODEL, API_KEY: KEY } });
  service.kill('SIGHUP');
  expect(await service.exit).toEqual({ code: null, signal: 'SIGHUP' });
});

function raw(line: string, headers = ''): string {
  return `${line}\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`;
}

function textOf({ text, headers }: Answer): string {
  return JSON.stringify(headers) + text;
}
