import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import Ajv2020 from 'ajv/dist/2020';
import { EEG_EXAMPLES, SENTIMENT_EXAMPLES } from '../../src/http/openapi/examples';
import { type Answer, post, postRaw, request } from '../helpers/http';
import { killAll, ROOT, type Service, startService } from '../helpers/service';
import { expectError, SERVICE_CASES } from '../helpers/services';

interface Operation {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

type Content = Readonly<
  Record<string, { readonly schema: { readonly $ref?: string }; readonly example?: unknown }>
>;

interface Document {
  readonly info: { readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

const ANALYZE = ['/analyze', '/analyze/batch'] as const;
const PREDICT = ['/predict', '/predict/batch'] as const;
const MEBIBYTE = 1024 ** 2;

const CASES = [
  {
    name: 'sentiment',
    options: { cwd: os.tmpdir() },
    blank: [{ text: ' ' }, { texts: ['a', ' '] }],
    examples: SENTIMENT_EXAMPLES,
  },
  {
    name: 'eeg',
    options: { cwd: path.join(ROOT, 'models', 'eeg') },
    blank: [{ signal: [1] }, { signals: [[1]] }],
    examples: EEG_EXAMPLES,
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
  let document: Document;
  /** What has been seen, as `POST /analyze 200`. */
  const seen = new Set<string>();

  /** Notes the status, and holds the answer against what is written of it. */
  function note(method: string, path: string, answer: Answer): Answer {
    seen.add(`${method} ${path} ${answer.status}`);
    const operation = document.paths[path]?.[method.toLowerCase()] as Operation;
    const { content } = operation.responses[answer.status] ?? {};
    const [mediaType, described] = Object.entries(content ?? {})[0] ?? [];
    const { 'content-type': type, 'x-request-id': id } = answer.headers;
    expect(id).toBeTruthy();
    expect(type?.split(';')[0]).toBe(mediaType);
    if (described?.schema.$ref) expectToFit(answer.json, described.schema.$ref);
    return answer;
  }

  function expectToFit(value: unknown, reference: string): void {
    const ajv = new Ajv2020({ strict: false });
    const { schemas } = document.components;
    const isValid = ajv.validate({ $ref: reference, components: { schemas } }, value);
    expect({ isValid, errors: ajv.errors }).toEqual({ isValid: true, errors: null });
  }

  beforeAll(async () => {
    const unloadable = SERVICE_CASES.find((one) => one.name === name)?.unloadable ?? {};
    service = await startService(name, options);
    unloaded = await startService(name, { env: unloadable });
    const env = { MAX_QUEUE_REQUESTS: '1', MAX_QUEUE_DELAY_MS: '5000', REQUEST_TIMEOUT_MS: '1000' };
    holding = await startService(name, { ...options, env });
    document = (await request(service, { path: '/openapi.json' })).json as Document;
  });

  it('is valid OpenAPI 3.1', () => {
    const script = path.join(__dirname, 'scripts', 'validate-openapi.mjs');
    const input = JSON.stringify(document);
    const result = execFileSync(process.execPath, [script], { input, encoding: 'utf8' });
    expect(JSON.parse(result)).toEqual({ valid: true, version: '3.1' });
  });

  it('has examples that are what the service answers', async () => {
    for (const [endpoint, example] of [
      [single, examples.single],
      [batch, examples.batch],
    ] as const) {
      const operation = document.paths[endpoint]?.post as Operation;
      const written = operation.requestBody?.content['application/json'];
      expect(written?.example).toEqual(example.request);
      expectToFit(example.request, written?.schema.$ref as string);
      const answer = note('POST', endpoint, await post(service, endpoint, written?.example));
      const expected = operation.responses[200]?.content?.['application/json']?.example;
      expect(answer.json).toEqual(near(expected));
    }
  });

  it.each([single, batch])('has each status of %s', async (endpoint) => {
    const body = JSON.stringify(
      endpoint === single ? examples.single.request : onlyFirst(examples.batch.request),
    );
    const send = async (to: Service, text: string, headers = {}) =>
      note('POST', endpoint, await postRaw(to, endpoint, text, { headers })).status;

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
      expect(note('GET', other, await request(service, { path: other })).status).toBe(200);
    }
    for (const other of ['/health', '/info', '/metrics', '/openapi.json']) {
      expect(note('GET', other, await request(unloaded, { path: other })).status).toBe(200);
    }
    expect(note('GET', '/ready', await request(unloaded, { path: '/ready' })).status).toBe(503);
    for (const page of ['/', '/docs']) {
      const { headers } = note('GET', page, await request(service, { path: page }));
      const again = { path: page, headers: { 'if-none-match': headers.etag } };
      expect(note('GET', page, await request(service, again)).status).toBe(304);
    }
  });

  it('has no status that has not been seen', () => {
    const documented = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, { responses }]) =>
        Object.keys(responses).map((status) => `${method.toUpperCase()} ${path} ${status}`),
      ),
    );
    expect([...seen].sort()).toEqual(documented.sort());
  });

  it('has all paths and methods, as it says', async () => {
    expectError(await request(service, { path: '/other' }), 404, 'There is no such path here.');
    for (const [path, operations] of Object.entries(document.paths)) {
      const allow = 'post' in operations ? 'POST' : 'GET, HEAD';
      const options = await request(service, { method: 'OPTIONS', path });
      expect([options.status, options.headers.allow]).toEqual([204, allow]);
      expect((await request(service, { method: 'DELETE', path })).status).toBe(405);
    }
  });

  it('says what an EEG answer is not', () => {
    const says = document.info.description.includes('not a medical device');
    expect(says).toBe(name === 'eeg');
  });
});

it('has the examples of the README', () => {
  const readme = readFileSync(path.join(ROOT, 'README.md'), 'utf8');
  for (const { answer } of [...Object.values(SENTIMENT_EXAMPLES), EEG_EXAMPLES.single]) {
    expect(readme).toContain(JSON.stringify(answer));
  }
});

/** `toEqual` with a tolerance of the fourth decimal. */
function near(value: unknown): unknown {
  if (typeof value === 'number') return expect.closeTo(value, 3);
  if (Array.isArray(value)) return value.map(near);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, near(entry)]));
}

/** A list of one, which a queue of one can take. */
function onlyFirst(body: object): object {
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => [
      key,
      Array.isArray(value) ? value.slice(0, 1) : value,
    ]),
  );
}
