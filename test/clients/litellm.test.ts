/**
 * LiteLLM's proxy as PyPI has it, between a client of OpenAI and a language model, with a guard before and behind
 * the model.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import OpenAI from 'openai';
import { ChatUpstream } from '../helpers/chat-upstream';
import { guardDirectory, TONE } from '../helpers/guard-directory';
import { LITELLM, startLiteLlm } from '../helpers/litellm';
import { removeDirectories } from '../helpers/models-directory';
import { needs } from '../helpers/needs';
import { freePort } from '../helpers/ports';
import { INSTALL_MS, installPython } from '../helpers/python';
import type { Service } from '../helpers/service';
import { setTestLimit } from '../helpers/until';

const KEY = 'a-key-that-is-long-enough-0123456789';
const MASTER_KEY = `sk-${'0123456789'.repeat(4)}`;
const EMAIL = 'ann.lee@example.org';
const RUDE = 'awful, a terrible waste of time';
const SECRET = 'sk-abcdefgh';
const KIND = 'A warm, funny film, a joy from its first minute to its last one.';

setTestLimit(INSTALL_MS);

let service: Service;
let upstream: ChatUpstream;
let temporary: string;
let client: OpenAI;

/** As a configuration of LiteLLM names it; `more` is LiteLLM's own. */
const guardrail = (name: string, mode: string, more: object = {}) => ({
  guardrail_name: name,
  litellm_params: {
    guardrail: 'generic_guardrail_api',
    mode,
    api_base: service.origin,
    headers: { Authorization: `Bearer ${KEY}` },
    ...more,
  },
});

const CHECKS = [
  { type: 'patterns', name: 'data', action: 'redact', kinds: ['email'] },
  { ...TONE, on: 'input' },
  {
    type: 'patterns',
    name: 'secrets',
    action: 'block',
    on: 'output',
    patterns: { SECRET: ['sk-[a-z]{8}'] },
  },
];

/** @returns its port, when it answers */
async function startProxy(packages: string): Promise<number> {
  const nowhere = `http://127.0.0.1:${await freePort()}`;
  const wrongKey = { headers: { Authorization: 'Bearer another-key-that-is-long-enough' } };
  const open = { unreachable_fallback: 'fail_open' };
  const transform = { streaming_transform_mode: 'incremental_diff' };
  const model = { model: 'openai/echo', api_base: `${upstream.origin}/v1`, api_key: 'none' };
  const config = {
    // /v1/messages of a model that is asked as OpenAI's: by default LiteLLM has them from the API of responses.
    litellm_settings: { use_chat_completions_url_for_anthropic_messages: true },
    model_list: [{ model_name: 'echo', litellm_params: model }],
    guardrails: [
      guardrail('before', 'pre_call'),
      guardrail('after', 'post_call', transform),
      guardrail('after-as-is', 'post_call'),
      guardrail('after-held', 'post_call', { streaming_buffer_until_moderated: true }),
      guardrail('gone', 'pre_call', { api_base: nowhere }),
      guardrail('gone-open', 'pre_call', { api_base: nowhere, ...open }),
      guardrail('stranger-open', 'pre_call', { ...wrongKey, ...open }),
    ],
  };
  const env = { LITELLM_MASTER_KEY: MASTER_KEY };
  return startLiteLlm(packages, { config: JSON.stringify(config), env, folder: temporary });
}

needs('python').describe("LiteLLM's proxy", () => {
  beforeAll(async () => {
    temporary = mkdtempSync(path.join(os.tmpdir(), 'litellm-'));
    const packages = await installPython('litellm', LITELLM);
    service = await guardDirectory({ checks: CHECKS }).start({ env: { API_KEY: KEY } });
    upstream = await new ChatUpstream().start();
    const baseURL = `http://127.0.0.1:${await startProxy(packages)}/v1`;
    client = new OpenAI({ baseURL, apiKey: MASTER_KEY, maxRetries: 0 });
  });

  afterAll(async () => {
    await removeDirectories();
    upstream?.close();
    rmSync(temporary, { recursive: true, force: true });
  });

  const params = (content: string, guardrails: readonly string[]) =>
    ({ model: 'echo', messages: [{ role: 'user', content }], guardrails }) as never;

  const ask = async (content: string, guardrails: readonly string[]): Promise<string> => {
    const { choices } = await client.chat.completions.create(params(content, guardrails));
    return (choices as { message: { content: string } }[])[0]?.message.content ?? '';
  };

  /** The texts of the events of a stream. @throws what ended it */
  async function* stream(content: string, guardrails: readonly string[]) {
    const body = { ...(params(content, guardrails) as object), stream: true } as const;
    const events = await client.chat.completions.create(body as never);
    for await (const event of events as unknown as AsyncIterable<OpenAI.ChatCompletionChunk>)
      yield event.choices[0]?.delta.content ?? '';
  }

  const streamed = async (content: string, guardrails: readonly string[]): Promise<string> => {
    const pieces: string[] = [];
    for await (const piece of stream(content, guardrails)) pieces.push(piece);
    return pieces.join('');
  };

  const refusal = (message: string, status = 400) => ({
    status,
    message: expect.stringContaining(message),
  });

  it('redacts before the model is asked', async () => {
    const text = await ask(`I am ${EMAIL}.`, ['before']);
    expect(upstream.told.at(-1)).toBe('I am <EMAIL_1>.');
    expect(text).toBe('You said: I am <EMAIL_1>. Write to help@example.org, please.');
  });

  it('blocks before the model is asked', async () => {
    const { length } = upstream.told;
    await expect(ask(RUDE, ['before'])).rejects.toMatchObject(
      refusal('Blocked by the guard: tone found NEGATIVE.'),
    );
    expect(upstream.told).toHaveLength(length);
    expect(await ask(KIND, ['before'])).toContain(KIND);
  });

  it('redacts and blocks what the model has said', async () => {
    expect(await ask(KIND, ['after'])).toBe(`You said: ${KIND} Write to <EMAIL_1>, please.`);
    await expect(ask(SECRET, ['after'])).rejects.toMatchObject(
      refusal('Blocked by the guard: secrets found SECRET.'),
    );
  });

  it('redacts in streams, of which a part is passed on before their end', async () => {
    const pieces: string[] = [];
    for await (const piece of stream(KIND.repeat(4), ['before', 'after'])) pieces.push(piece);
    const text = `You said: ${KIND.repeat(4)} Write to <EMAIL_1>, please.`;
    expect(pieces.join('')).toBe(text);
    expect(pieces.filter((piece) => piece !== '').length).toBeGreaterThan(2);
    expect(await streamed(`I am ${EMAIL}, ${KIND}`, ['after'])).toBe(
      `You said: I am <EMAIL_1>, ${KIND} Write to <EMAIL_2>, please.`,
    );
  });

  it('blocks in streams: none of what was found has been passed on', async () => {
    const pieces: string[] = [];
    const read = async (): Promise<void> => {
      for await (const piece of stream(`${KIND} ${SECRET} ${KIND.repeat(3)}`, ['after']))
        pieces.push(piece);
    };
    await expect(read()).rejects.toMatchObject({
      message: expect.stringContaining('Blocked by the guard: secrets found SECRET.'),
    });
    expect(pieces.join('')).not.toContain('sk-');
  });

  it('does not redact in streams by itself: LiteLLM only blocks then', async () => {
    expect(await streamed(KIND, ['after-as-is'])).toContain('help@example.org');
    await expect(streamed(SECRET, ['after-as-is'])).rejects.toMatchObject({
      message: expect.stringContaining('Blocked by the guard: secrets found SECRET.'),
    });
  });

  describe('asked as Anthropic is', () => {
    const messages = (content: string, guardrails: readonly string[], stream = false) =>
      fetch(`${client.baseURL}/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': MASTER_KEY },
        body: JSON.stringify({
          ...(params(content, guardrails) as object),
          max_tokens: 100,
          stream,
        }),
      });

    it('redacts and blocks before the model is asked', async () => {
      const answer = await messages(`I am ${EMAIL}.`, ['before']);
      expect(upstream.told.at(-1)).toBe('I am <EMAIL_1>.');
      expect(await answer.json()).toMatchObject({
        content: [{ type: 'text', text: expect.stringContaining('You said: I am <EMAIL_1>.') }],
      });
      const { length } = upstream.told;
      const blocked = await messages(RUDE, ['before']);
      expect([blocked.status, await blocked.text()]).toEqual([
        400,
        expect.stringContaining('Blocked by the guard: tone found NEGATIVE.'),
      ]);
      expect(upstream.told).toHaveLength(length);
    });

    it('redacts and blocks what the model has said', async () => {
      const answer = await messages(KIND, ['after']);
      expect(await answer.json()).toMatchObject({
        content: [{ type: 'text', text: `You said: ${KIND} Write to <EMAIL_1>, please.` }],
      });
      const blocked = await messages(SECRET, ['after']);
      expect([blocked.status, await blocked.text()]).toEqual([
        400,
        expect.stringContaining('Blocked by the guard: secrets found SECRET.'),
      ]);
    });

    const streamedBy = async (content: string, guardrail: string): Promise<string> => {
      const answer = await messages(content, [guardrail], true);
      return answer.text();
    };

    it('does not redact in streams: LiteLLM has that for chat completions alone', async () => {
      const told = [...(await streamedBy(KIND, 'after')).matchAll(/^data: (\{.*)$/gm)]
        .map(([, json]) => JSON.parse(json as string).delta?.text ?? '')
        .join('');
      expect(told).toBe(`You said: ${KIND} Write to help@example.org, please.`);
    });

    it('blocks in streams that are held, before anything is passed on', async () => {
      const told = await streamedBy(`${KIND} ${SECRET} ${KIND}`, 'after-held');
      expect(told).toContain('Blocked by the guard: secrets found SECRET.');
      for (const text of ['You said', 'sk-', 'warm']) expect(told).not.toContain(text);
    });
  });

  it('asks the model without a guard only where that is wanted, and nobody answers', async () => {
    const failed = refusal('Generic Guardrail API failed', 500);
    await expect(ask(KIND, ['gone'])).rejects.toMatchObject(failed);
    expect(await ask(KIND, ['gone-open'])).toContain(KIND);
    await expect(ask(KIND, ['stranger-open'])).rejects.toMatchObject(failed);
  });

  it('writes no text of a request into the log of the service', () => {
    const written = service.stdout + service.stderr;
    expect(written).toContain('litellm_basic_guardrail_api');
    for (const text of [EMAIL, RUDE, SECRET, 'warm, funny']) expect(written).not.toContain(text);
  });
});
