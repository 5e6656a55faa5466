/** Envoy, as it is in its Python package, with deploy/envoy/envoy.yaml: the guard before and behind an upstream. */
import path from 'node:path';
import { Envoy, type EnvoyAnswer, Upstream } from '../helpers/envoy';
import { scrape } from '../helpers/metrics';
import { newDirectory, removeDirectories } from '../helpers/models-directory';
import { needs } from '../helpers/needs';
import { INSTALL_MS } from '../helpers/python';
import { ROOT, type Service } from '../helpers/service';

const EMAIL = 'ann.lee@example.org';
const RUDE = 'awful, a terrible waste of time';
const ROUTE = '/envoy.service.ext_proc.v3.ExternalProcessor/Process';
const KEY = 'a-key-of-some-length';
const FILES = ['config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json'];
const TONE = { type: 'text-classification', labels: { NEGATIVE: 0.9 }, model: 'sentiment' };
const CHECKS = [
  { type: 'patterns', name: 'data', action: 'redact', kinds: ['email'] },
  {
    type: 'patterns',
    name: 'secret',
    action: 'block',
    on: 'output',
    patterns: { KEY: ['sk-\\d+'] },
  },
  { ...TONE, name: 'tone', action: 'block', on: 'input' },
];
const DUPLEX = {
  BUFFERED: 'FULL_DUPLEX_STREAMED',
  'request_trailer_mode: SKIP': 'request_trailer_mode: SEND',
  'response_trailer_mode: SKIP': 'response_trailer_mode: SEND',
};

const MODES: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['BUFFERED', {}],
  ['FULL_DUPLEX_STREAMED', DUPLEX],
];

let service: Service;
const upstream = new Upstream();

needs('python').describe('Envoy', () => {
  let upstreamPort: number;

  beforeAll(async () => {
    const directory = newDirectory();
    for (const name of FILES)
      directory.file(`sentiment/${name}`, path.join(ROOT, 'models/sentiment', name));
    directory.write('guard.json', JSON.stringify({ checks: CHECKS }));
    upstreamPort = await upstream.listen();
    service = await directory.start({ env: { GRPC_PORT: '0', API_KEY: KEY } });
  }, INSTALL_MS);

  afterAll(async () => {
    upstream.close();
    await removeDirectories();
  });

  describe.each(MODES)('with bodies %s', (_name, modes) => {
    let envoy: Envoy;

    beforeAll(async () => {
      const ports = { upstream: upstreamPort, guard: service.grpcPort };
      envoy = await Envoy.start(ports, {
        '# initial_metadata: [{ key: authorization, value: Bearer KEY }]': `initial_metadata: [{ key: authorization, value: Bearer ${KEY} }]`,
        ...modes,
      });
    }, INSTALL_MS);

    afterAll(() => envoy.stop());

    beforeEach(() => {
      upstream.asked.length = 0;
      says('A fine answer.');
    });

    function says(content: string): void {
      const answer = { id: 'a', choices: [{ index: 0, message: { role: 'assistant', content } }] };
      upstream.answer = {
        headers: { 'content-type': 'application/json' },
        pieces: [JSON.stringify(answer)],
      };
    }

    function ask(content: unknown, headers: Readonly<Record<string, string>> = {}) {
      const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], seed: 7 });
      return envoy.ask({ body, headers: { 'content-type': 'application/json', ...headers } });
    }

    function contentOf({ text }: EnvoyAnswer): string {
      return JSON.parse(text).choices[0].message.content;
    }

    it('passes on what is harmless, as it was sent', async () => {
      const answer = await ask('A warm, funny film.', { 'x-guard': 'forged' });
      expect([answer.status, contentOf(answer)]).toEqual([200, 'A fine answer.']);
      expect(answer.headers).not.toHaveProperty('x-guard');
      const [asked] = upstream.asked;
      expect(JSON.parse(asked?.text ?? '')).toMatchObject({ seed: 7, model: 'm' });
      expect(asked?.headers).not.toHaveProperty('x-guard');
      expect(asked?.headers).not.toHaveProperty('accept-encoding');
    });

    it('blocks with the status of the file, in the form of OpenAI, and the upstream is not asked', async () => {
      const answer = await ask([
        { type: 'text', text: 'Hello.' },
        { type: 'text', text: RUDE },
      ]);
      expect(answer.status).toBe(403);
      expect(answer.headers['content-type']).toBe('application/json');
      expect(JSON.parse(answer.text)).toEqual({
        error: {
          message: 'The guard has blocked this input: tone (NEGATIVE).',
          type: 'guard',
          param: null,
          code: 'blocked',
          findings: [
            { check: 'tone', label: 'NEGATIVE', score: expect.any(Number), action: 'block' },
          ],
        },
      });
      expect(upstream.asked).toEqual([]);
    });

    it('redacts both ways, and says so in a header', async () => {
      says(`Write to ${EMAIL}!`);
      const answer = await ask(`My address is ${EMAIL}, film ${EMAIL}.`);
      expect(answer.status).toBe(200);
      expect(contentOf(answer)).toBe('Write to <EMAIL_1>!');
      expect(answer.headers['x-guard']).toBe('data/EMAIL;score=1');
      const [asked] = upstream.asked;
      expect(asked?.headers['x-guard']).toBe('data/EMAIL;score=1');
      expect(JSON.parse(asked?.text ?? '')).toEqual({
        model: 'm',
        seed: 7,
        messages: [{ role: 'user', content: 'My address is <EMAIL_1>, film <EMAIL_1>.' }],
      });
    });

    it('blocks answers of the upstream', async () => {
      says('The key is sk-1234.');
      const answer = await ask('A warm, funny film.');
      expect(answer.status).toBe(403);
      expect(answer.text).toContain('The guard has blocked this output: secret (KEY).');
      expect(answer.text).not.toContain('sk-');
    });

    it('reads events of answers that are streamed as one text', async () => {
      const event = (content: string) =>
        `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
      const stream = (...pieces: readonly string[]) => {
        upstream.answer = {
          headers: { 'content-type': 'text/event-stream' },
          pieces: [...pieces.map(event), 'data: [DONE]\n\n'],
        };
      };
      stream('Write to ann', '.lee@exam', 'ple.org', ', bye.');
      const redacted = await ask('A warm, funny film.');
      expect(redacted.status).toBe(200);
      const events = redacted.text.split('\n\n').filter((line) => line !== '');
      expect(events.at(-1)).toBe('data: [DONE]');
      const contents = events
        .slice(0, -1)
        .map((line) => JSON.parse(line.slice(5)).choices[0].delta.content);
      expect(contents.join('')).toBe('Write to <EMAIL_1>, bye.');
      stream('The key is s', 'k-12', '34');
      expect((await ask('A warm, funny film.')).status).toBe(403);
    });

    it('lets requests and answers without texts pass', async () => {
      expect((await envoy.ask({ path: '/v1/models' })).status).toBe(200);
      upstream.answer = { headers: {}, pieces: [] };
      const empty = await envoy.ask({ body: '', headers: { 'content-type': 'application/json' } });
      expect(empty.status).toBe(200);
    });

    it.each([
      ['that are no JSON', '{"messages": [', 'application/json'],
      [
        'with a name twice',
        `{"messages": [{"content": "${RUDE}"}], "messages": []}`,
        'application/json',
      ],
      ['of other types', 'message=hello', 'application/x-www-form-urlencoded'],
      ['that are no text', Buffer.from([0xff, 0xfe]), 'text/plain'],
    ])('blocks bodies %s', async (_what, body, type) => {
      const answer = await envoy.ask({ body, headers: { 'content-type': type } });
      expect(answer.status).toBe(403);
      expect(JSON.parse(answer.text).error).toMatchObject({
        message: 'The guard cannot read this input.',
        code: 'unreadable',
      });
      expect(upstream.asked).toEqual([]);
    });

    it('looks into JSON by another name, and into escapes', async () => {
      const body = JSON.stringify({ messages: [{ content: RUDE }] }).replace(
        'awful',
        '\\u0061wful',
      );
      for (const type of ['text/plain', 'application/vnd.x+json; charset=utf-8']) {
        const answer = await envoy.ask({ body, headers: { 'content-type': type } });
        expect([type, answer.status]).toEqual([type, 403]);
      }
    });

    it('takes bodies of many pieces', async () => {
      const text = 'A warm, funny film. '.repeat(20_000); // 400 KB
      says(`${text}${EMAIL}`);
      const answer = await ask('A warm, funny film.');
      expect(contentOf(answer)).toBe(`${text}<EMAIL_1>`);
    });

    it('answers many at once, each by itself', async () => {
      const answers = await Promise.all(
        Array.from({ length: 60 }, (_, i) => ask(i % 3 === 0 ? RUDE : 'A warm, funny film.')),
      );
      expect(answers.map(({ status }) => status)).toEqual(
        Array.from({ length: 60 }, (_, i) => (i % 3 === 0 ? 403 : 200)),
      );
    });
  });

  it('counts the bodies that the guard has looked at, and logs none of their texts', async () => {
    const { requests } = await scrape(service, undefined, { authorization: `Bearer ${KEY}` });
    expect(Object.keys(requests)).toEqual([`${ROUTE} 200`]);
    expect(service.stdout).not.toMatch(/ann\.lee|awful|sk-1234/);
  });

  it('lets nothing pass where the guard cannot be asked', async () => {
    const ports = { upstream: upstreamPort, guard: service.grpcPort };
    const envoy = await Envoy.start(ports); // without a key
    const answer = await envoy.ask({ body: '{}', headers: { 'content-type': 'application/json' } });
    expect(answer.status).toBe(500);
    await envoy.stop();
  });
});
