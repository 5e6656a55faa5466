/** What other systems ask a guard: LiteLLM, the guardrails orchestrator, and clients of OpenAI's moderations. */
import OpenAI from 'openai';
import { Documented } from '../../helpers/documented';
import { guardDirectory, TONE } from '../../helpers/guard-directory';
import { type Answer, post, postRaw } from '../../helpers/http';
import { removeDirectories } from '../../helpers/models-directory';
import type { Service } from '../../helpers/service';

const EMAIL = 'ann.lee@example.org';
const RUDE = 'awful, a terrible waste of time';
const KIND = 'A warm, funny film.';
const GUARDRAIL = '/beta/litellm_basic_guardrail_api';
const CONTENTS = '/api/v1/text/contents';
const GENERATION = '/api/v1/text/generation';
const CHAT = '/api/v1/text/chat';
const MODERATIONS = '/v1/moderations';
const TAGS = ['LiteLLM', 'detectors', 'OpenAI'];

const data = { type: 'patterns', name: 'data', action: 'redact', kinds: ['email'] };
const CHECKS = [data, { ...TONE, on: 'input' }];
const MAPPED = {
  harassment: { check: 'tone', label: 'NEGATIVE' },
  illicit: [{ check: 'data', label: 'EMAIL' }],
};

const serve = (file: object, env = {}): Promise<Service> => guardDirectory(file).start({ env });

let service: Service;
let documented: Documented;

beforeAll(async () => {
  service = await serve({ checks: CHECKS, moderations: { categories: MAPPED } });
  documented = await Documented.of(
    service,
    ({ tags, operationId }) =>
      TAGS.includes(tags[0] as string) &&
      operationId !== 'openaiDecisions' &&
      operationId !== 'openaiEmbeddings' &&
      operationId !== 'teiEmbeddings',
  );
});

afterAll(removeDirectories);

const noted = async (route: string, body: object, to = service): Promise<Answer> =>
  documented.note('POST', route, await post(to, route, body));

describe('the guardrail of LiteLLM', () => {
  const ask = async (body: object) => (await noted(GUARDRAIL, body)).json;
  const request = (texts: readonly string[], more = {}) =>
    ask({ input_type: 'request', texts, images: null, request_data: {}, ...more });

  it('redacts, blocks, or lets pass', async () => {
    expect(await request([KIND, `I am ${EMAIL}.`])).toEqual({
      action: 'GUARDRAIL_INTERVENED',
      texts: [KIND, 'I am <EMAIL_1>.'],
    });
    expect(await request([RUDE])).toEqual({
      action: 'BLOCKED',
      blocked_reason: 'Blocked by the guard: tone found NEGATIVE.',
    });
    expect(await request([KIND])).toEqual({ action: 'NONE' });
    expect(await request([])).toEqual({ action: 'NONE' });
    expect(await ask({ input_type: 'request', texts: null })).toEqual({ action: 'NONE' });
  });

  it('says how much of a stream is to be held back', async () => {
    expect(await ask({ input_type: 'response', texts: [KIND, RUDE] })).toEqual({
      action: 'NONE',
      stream_holdback_chars: [64, 64],
    });
  });

  it('looks at what tools say, and at what they are called with', async () => {
    const called = (name: string, parameters: object) => ({
      id: 'call_1',
      type: 'function',
      function: { name, arguments: JSON.stringify(parameters) },
    });
    const tool = (description: string) => ({
      type: 'function',
      function: {
        name: 'mail',
        parameters: { properties: { to: { type: 'string', description } } },
      },
    });
    expect(await request([KIND], { tools: [tool(`as ${EMAIL}`), tool(KIND)] })).toEqual({
      action: 'GUARDRAIL_INTERVENED',
      texts: [KIND],
      tools: [tool('as <EMAIL_1>'), tool(KIND)],
    });
    expect(await request([KIND], { tools: [tool(RUDE)] })).toMatchObject({ action: 'BLOCKED' });
    expect(await request([], { tool_calls: [called('mail', { to: 'Ann' })] })).toEqual({
      action: 'NONE',
    });
    expect(await request([], { tool_calls: [called('mail', { to: EMAIL })] })).toEqual({
      action: 'BLOCKED',
      blocked_reason:
        'Blocked by the guard: data found EMAIL. In the arguments of a tool call, which cannot be redacted.',
    });
  });

  it('names the field at fault', async () => {
    expect(await ask({ texts: [] })).toEqual({ detail: 'input_type: is required' });
    expect(await request(['a', 1 as never])).toEqual({ detail: 'texts[1]: expected a string' });
    expect(await request([], { tools: ['a'] })).toEqual({ detail: 'tools[0]: expected an object' });
  });
});

describe('detectors', () => {
  const ask = async (route: string, body: object) => (await noted(route, body)).json;
  const email = { detection: 'EMAIL', detection_type: 'data', score: 1 };
  const negative = { detection: 'NEGATIVE', detection_type: 'tone', score: expect.any(Number) };

  it('find in each text by itself, in code points', async () => {
    const contents = [`\u{1f600} ${EMAIL}`, RUDE, KIND];
    expect(await ask(CONTENTS, { contents, detector_params: { threshold: 0.5 } })).toEqual([
      [{ ...email, start: 2, end: 21, text: EMAIL }],
      [{ ...negative, start: 0, end: RUDE.length, text: RUDE }],
      [],
    ]);
    expect(await ask(CONTENTS, { contents: [] })).toEqual([]);
  });

  it('are chosen by the names of checks', async () => {
    const contents = [`${RUDE}, ${EMAIL}`];
    const chosen = (checks: readonly string[]) =>
      ask(CONTENTS, { contents, detector_params: { checks } });
    expect(await chosen(['data'])).toMatchObject([[email]]);
    expect(await chosen(['tone'])).toMatchObject([[negative]]);
    expect(await chosen([])).toEqual([[]]);
    const message =
      'detector_params.checks: the guard has no check "other". Checks: "data", "tone".';
    const detector_params = { checks: ['data', 'other'] };
    for (const [route, body] of [
      [CONTENTS, { contents }],
      [GENERATION, { prompt: 'a', generated_text: 'b' }],
      [CHAT, { messages: [{ role: 'user', content: 'a' }] }],
    ] as const)
      expect(await ask(route, { ...body, detector_params })).toEqual({ code: 404, message });
  });

  it('look at what a model has written, and at chats', async () => {
    const generated_text = `${RUDE}, ${EMAIL}`;
    expect(await ask(GENERATION, { prompt: RUDE, generated_text })).toEqual([
      { ...email, evidence: [{ name: 'generated_text', value: EMAIL }] },
    ]);
    const messages = [
      { role: 'system', content: KIND },
      {
        role: 'user',
        content: [
          { type: 'text', text: KIND },
          { type: 'text', text: EMAIL },
        ],
      },
      { role: 'assistant', content: null },
    ];
    expect(await ask(CHAT, { messages })).toEqual([
      { ...email, evidence: [{ name: 'messages[1]', value: EMAIL }] },
    ]);
  });

  it('name the field at fault', async () => {
    const faults = async (route: string, body: object) => {
      const { status, json } = await noted(route, body);
      return { status, ...(json as object) };
    };
    const fault = (message: string) => ({ status: 422, code: 422, message });
    expect(await faults(CONTENTS, {})).toEqual(fault('contents: is required'));
    expect(await faults(CONTENTS, { contents: ['a', null] })).toEqual(
      fault('contents[1]: expected a string'),
    );
    expect(await faults(GENERATION, { prompt: 'a' })).toEqual(fault('generated_text: is required'));
    expect(await faults(CHAT, { messages: [] })).toEqual(
      fault('messages: cannot be an empty list'),
    );
    expect(await faults(CHAT, { messages: [{ role: 'user', content: 1 }] })).toEqual(
      fault('messages[0].content: expected a text or a list of parts'),
    );
    expect(await faults(CONTENTS, { contents: [], detector_params: { checks: 1 } })).toEqual(
      fault('detector_params.checks: expected an array of names'),
    );
  });
});

describe('moderations, as `openai` asks them', () => {
  const client = () =>
    new OpenAI({ baseURL: `${service.origin}/v1`, apiKey: 'none', maxRetries: 0 });

  it('answer by the name of the guard or of a model of OpenAI, and by no other', async () => {
    for (const model of ['guard', 'omni-moderation-2024-09-26', 'text-moderation-stable', '']) {
      const { results } = await client().moderations.create({ model, input: KIND });
      expect(results).toHaveLength(1);
    }
    const unknown = client().moderations.create({ model: 'toxicity', input: KIND });
    await expect(unknown).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
      message: expect.stringContaining('Models: "guard"'),
    });
  });

  it('tell categories by the file of the guard, each with its score', async () => {
    const { model, results } = await client().moderations.create({
      model: 'omni-moderation-latest',
      input: [RUDE, KIND, EMAIL],
    });
    expect(model).toBe('guard');
    const [rude, kind, email] = results as OpenAI.Moderation[] as [
      OpenAI.Moderation,
      OpenAI.Moderation,
      OpenAI.Moderation,
    ];
    expect(results.map(({ flagged }) => flagged)).toEqual([true, false, true]);
    expect(rude.categories).toMatchObject({ harassment: true, illicit: false, violence: false });
    expect(rude.category_scores.harassment).toBeGreaterThan(0.9);
    expect(kind.categories.harassment).toBe(false);
    expect(kind.category_scores.harassment).toBeGreaterThan(0);
    expect(kind.category_scores.harassment).toBeLessThan(0.9);
    expect(kind.category_scores.violence).toBe(0);
    expect(email.categories.illicit).toBe(true);
    expect(email.category_scores.illicit).toBe(1);
    expect(Object.keys(rude.categories)).toHaveLength(13);
    expect(rude.category_applied_input_types.sexual).toEqual(['text']);
  });

  it('take one text in parts', async () => {
    const { results } = await client().moderations.create({
      input: [
        { type: 'text', text: KIND },
        { type: 'text', text: EMAIL },
      ],
    });
    expect(results).toHaveLength(1);
    expect(results[0]).toMatchObject({ flagged: true, categories: { illicit: true } });
  });

  it('are told what is wrong', async () => {
    const faultOf = (input: unknown) =>
      client().moderations.create({ input } as OpenAI.ModerationCreateParams);
    const image = { type: 'image_url', image_url: { url: 'https://example.org/a.png' } };
    await expect(faultOf([{ type: 'text', text: 'a' }, image])).rejects.toMatchObject({
      status: 400,
      param: 'input',
      type: 'invalid_request_error',
      message: expect.stringContaining('input[1]: images are not supported. Send texts only'),
    });
    await expect(faultOf([])).rejects.toMatchObject({ status: 400, param: 'input' });
    await expect(faultOf(undefined)).rejects.toMatchObject({ status: 400, param: 'input' });
    await expect(faultOf(['a', 1])).rejects.toMatchObject({
      message: expect.stringContaining('input[1]: expected a string'),
    });
  });
});

describe('what cannot be answered', () => {
  const BODIES = {
    [GUARDRAIL]: { input_type: 'request', texts: [KIND] },
    [CONTENTS]: { contents: [KIND] },
    [GENERATION]: { prompt: 'a', generated_text: KIND },
    [CHAT]: { messages: [{ role: 'user', content: KIND }] },
    [MODERATIONS]: { input: KIND },
  };
  const ROUTES = Object.entries(BODIES);

  it('is blocked, or an error where there is no word for that', async () => {
    const gone = await serve({
      checks: [{ ...TONE, model: 'nobody', name: 'gone', action: 'flag' }],
      moderations: { categories: { hate: { check: 'gone', label: 'NEGATIVE' } } },
    });
    expect((await noted(GUARDRAIL, BODIES[GUARDRAIL], gone)).json).toEqual({
      action: 'BLOCKED',
      blocked_reason: 'Blocked by the guard: gone could not run.',
    });
    const message = expect.stringMatching(/^Check gone: model: no loaded model "nobody"/);
    for (const route of [CONTENTS, GENERATION, CHAT] as const)
      expect((await noted(route, BODIES[route], gone)).json).toEqual({ code: 500, message });
    expect(await noted(MODERATIONS, BODIES[MODERATIONS], gone)).toMatchObject({
      status: 503,
      json: { error: { message, type: 'server_error', param: null, code: null } },
    });
  });

  it('is too long', async () => {
    const short = await serve({
      checks: [{ ...data, action: 'flag' }],
      limits: { characters: 5 },
      moderations: { categories: { hate: { check: 'data', label: 'EMAIL' } } },
    });
    const reason = 'a part of the texts was not checked because of the limit of characters';
    expect((await noted(GUARDRAIL, BODIES[GUARDRAIL], short)).json).toEqual({
      action: 'BLOCKED',
      blocked_reason: `Blocked by the guard: ${reason}.`,
    });
    const message = `The guard: ${reason}.`;
    expect((await noted(CONTENTS, BODIES[CONTENTS], short)).json).toEqual({ code: 422, message });
    expect(await noted(MODERATIONS, BODIES[MODERATIONS], short)).toMatchObject({
      status: 400,
      json: { error: { message } },
    });
  });

  it.each(ROUTES)('is refused by %s as its clients know it', async (route, body) => {
    const text = JSON.stringify(body);
    const statusOf = async (to: Service, sent: string, headers = {}) =>
      documented.note('POST', route, await postRaw(to, route, sent, { headers })).status;
    expect(await statusOf(service, text)).toBe(200);
    expect(await statusOf(service, text.padEnd(1024 ** 2 + 1))).toBe(413);
    expect(await statusOf(service, text, { 'content-type': 'text/plain' })).toBe(415);
    expect(await statusOf(service, text, { 'x-request-timeout-ms': 'soon' })).toBe(400);
  });

  it('waits too long, or has no guard', async () => {
    const checks = CHECKS.map((check) => ({ ...check, on: 'both' }));
    const file = { checks, moderations: { categories: MAPPED } };
    const env = { MAX_QUEUE_REQUESTS: '1', MAX_QUEUE_DELAY_MS: '5000', REQUEST_TIMEOUT_MS: '1000' };
    const [holding, wrong, unmapped] = await Promise.all([
      serve(file, env),
      serve({ checks: [] }),
      serve({ checks: CHECKS }),
    ]);
    for (const [route, body] of ROUTES) {
      const held = await Promise.all(Array.from({ length: 4 }, () => noted(route, body, holding)));
      expect(new Set(held.map(({ status }) => status))).toEqual(new Set([503, 504]));
      const { status, text } = await noted(route, body, wrong);
      expect(status).toBe(route === MODERATIONS ? 503 : 500);
      expect(text).toContain('The guard is not loaded: guard.json: checks');
    }
    const { json } = await noted(MODERATIONS, BODIES[MODERATIONS], unmapped);
    expect(json).toMatchObject({ error: { message: expect.stringContaining('no "moderations"') } });
  });

  it('has no status that has not been seen', () => {
    documented.expectAllSeen();
  });
});
