import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ANALYZE_EXAMPLES } from '../../src/protocols/own/analyze';
import { PREDICT_EXAMPLES } from '../../src/protocols/own/predict';
import { Documented, near } from '../helpers/documented';
import { post, postRaw, request } from '../helpers/http';
import { killAll, ROOT, type Service, startService } from '../helpers/service';
import { expectError, SERVICE_CASES } from '../helpers/services';

/** Of the service itself; what protocols document, their tests look at. */
const OWN_TAGS = ['analysis', 'operation', 'pages'];

const ANALYZE = ['/analyze', '/analyze/batch'] as const;
const PREDICT = ['/predict', '/predict/batch'] as const;
const MEBIBYTE = 1024 ** 2;

const CASES = [
  {
    name: 'sentiment',
    options: { cwd: os.tmpdir() },
    blank: [{ text: ' ' }, { texts: ['a', ' '] }],
    examples: ANALYZE_EXAMPLES,
  },
  {
    name: 'eeg',
    options: { cwd: path.join(ROOT, 'models', 'eeg') },
    blank: [{ signal: [1] }, { signals: [[1]] }],
    examples: PREDICT_EXAMPLES,
  },
] as const;

afterAll(killAll);

describe.each(CASES)('/openapi.json of the $name service', ({ name, options, blank, examples }) => {
  const [single, batch] = name === 'sentiment' ? ANALYZE : PREDICT;
  let service: Service;
  /** It has no model. */
  let unloaded: Service;
  /** It has a queue of one, and a deadline that passes in it. */
  let holding: Service;
  let documented: Documented;

  beforeAll(async () => {
    const unloadable = SERVICE_CASES.find((one) => one.name === name)?.unloadable ?? {};
    service = await startService(name, options);
    unloaded = await startService(name, { env: unloadable });
    const env = { MAX_QUEUE_REQUESTS: '1', MAX_QUEUE_DELAY_MS: '5000', REQUEST_TIMEOUT_MS: '1000' };
    holding = await startService(name, { ...options, env });
    documented = await Documented.of(service, ({ tags }) => OWN_TAGS.includes(tags[0] as string));
  });

  it('is valid OpenAPI 3.1', () => {
    const script = path.join(__dirname, 'scripts', 'validate-openapi.mjs');
    const input = JSON.stringify(documented.document);
    const result = execFileSync(process.execPath, [script], { input, encoding: 'utf8' });
    expect(JSON.parse(result)).toEqual({ valid: true, version: '3.1' });
  });

  it('has examples that are what the service answers', async () => {
    for (const [endpoint, example] of [
      [single, examples.single],
      [batch, examples.batch],
    ] as const) {
      const operation = documented.operation('POST', endpoint);
      const written = operation.requestBody?.content['application/json'];
      expect(written?.example).toEqual(example.request);
      documented.expectToFit(example.request, written?.schema.$ref as string);
      const answer = documented.note(
        'POST',
        endpoint,
        await post(service, endpoint, written?.example),
      );
      const expected = operation.responses[200]?.content?.['application/json']?.example;
      expect(answer.json).toEqual(near(expected));
    }
  });

  it.each([single, batch])('has each status of %s', async (endpoint) => {
    const body = JSON.stringify(
      endpoint === single ? examples.single.request : onlyFirst(examples.batch.request),
    );
    const send = async (to: Service, text: string, headers = {}) =>
      documented.note('POST', endpoint, await postRaw(to, endpoint, text, { headers })).status;

    expect(await send(service, body)).toBe(200);
    expect(await send(service, JSON.stringify(blank[endpoint === single ? 0 : 1]))).toBe(400);
    expect(await send(service, body.padEnd(MEBIBYTE + 1))).toBe(413);
    expect(await send(service, body, { 'content-type': 'text/plain' })).toBe(415);
    expect(await send(service, '{}')).toBe(422);
    expect(await send(unloaded, body)).toBe(500);
    const held = await Promise.all(Array.from({ length: 4 }, () => send(holding, body)));
    expect(new Set(held)).toEqual(new Set([503, 504]));
  });

  it('has each status of the other paths', async () => {
    for (const other of ['/health', '/ready', '/info', '/metrics', '/openapi.json']) {
      expect(documented.note('GET', other, await request(service, { path: other })).status).toBe(
        200,
      );
    }
    for (const other of ['/health', '/info', '/metrics', '/openapi.json']) {
      expect(documented.note('GET', other, await request(unloaded, { path: other })).status).toBe(
        200,
      );
    }
    expect(
      documented.note('GET', '/ready', await request(unloaded, { path: '/ready' })).status,
    ).toBe(503);
    for (const page of ['/', '/docs']) {
      const { headers } = documented.note('GET', page, await request(service, { path: page }));
      const again = { path: page, headers: { 'if-none-match': headers.etag } };
      expect(documented.note('GET', page, await request(service, again)).status).toBe(304);
    }
  });

  it('has no status that has not been seen', () => {
    documented.expectAllSeen();
  });

  it('has all paths and methods, as it says', async () => {
    expectError(await request(service, { path: '/other' }), 404, 'Path not found.');
    for (const [path, operations] of Object.entries(documented.document.paths)) {
      const allow = ['get' in operations && 'GET, HEAD', 'post' in operations && 'POST'];
      const options = await request(service, { method: 'OPTIONS', path });
      expect([options.status, options.headers.allow]).toEqual([
        204,
        allow.filter(Boolean).join(', '),
      ]);
      expect((await request(service, { method: 'DELETE', path })).status).toBe(405);
    }
  });

  it('says what an EEG answer is not', () => {
    const says = documented.document.info.description.includes('not a medical device');
    expect(says).toBe(name === 'eeg');
  });
});

it('has the examples of the documents', () => {
  const documents = ['README.md', 'docs/start/classify-text.md']
    .map((page) => readFileSync(path.join(ROOT, page), 'utf8'))
    .join('\n');
  for (const { response } of [...Object.values(ANALYZE_EXAMPLES), PREDICT_EXAMPLES.single]) {
    expect(documents).toContain(JSON.stringify(response));
  }
});

/** A list of one, which a queue of one can take. */
function onlyFirst(body: object): object {
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => [
      key,
      Array.isArray(value) ? value.slice(0, 1) : value,
    ]),
  );
}
