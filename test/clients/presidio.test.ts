/** LiteLLM's `presidio` guardrail, as PyPI has it, with this server as analyzer and anonymizer. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import OpenAI from 'openai';
import { ChatUpstream } from '../helpers/chat-upstream';
import { LITELLM, startLiteLlm } from '../helpers/litellm';
import { newDirectory, removeDirectories } from '../helpers/models-directory';
import { needs } from '../helpers/needs';
import { INSTALL_MS, installPython } from '../helpers/python';
import { setTestLimit } from '../helpers/until';

const MASTER_KEY = `sk-${'0123456789'.repeat(4)}`;

setTestLimit(INSTALL_MS);

needs('python').describe("LiteLLM's presidio guardrail", () => {
  let upstream: ChatUpstream;
  let temporary: string;
  let client: OpenAI;

  beforeAll(async () => {
    temporary = mkdtempSync(path.join(os.tmpdir(), 'presidio-'));
    const packages = await installPython('litellm', LITELLM);
    const directory = newDirectory();
    directory.text('tagger', '../tagging/bert');
    const service = await directory.start();
    upstream = await new ChatUpstream().start();
    const model = { model: 'openai/echo', api_base: `${upstream.origin}/v1`, api_key: 'none' };
    const guardrail = (name: string, more: object) => ({
      guardrail_name: name,
      litellm_params: { guardrail: 'presidio', mode: 'pre_call', ...more },
    });
    const config = JSON.stringify({
      model_list: [{ model_name: 'echo', litellm_params: model }],
      guardrails: [
        guardrail('mask', {
          pii_entities_config: { EMAIL_ADDRESS: 'MASK', CREDIT_CARD: 'MASK' },
        }),
        guardrail('block', { pii_entities_config: { CREDIT_CARD: 'BLOCK' } }),
      ],
    });
    const env = {
      LITELLM_MASTER_KEY: MASTER_KEY,
      PRESIDIO_ANALYZER_API_BASE: `${service.origin}/presidio`,
      PRESIDIO_ANONYMIZER_API_BASE: `${service.origin}/presidio`,
    };
    const port = await startLiteLlm(packages, { config, env, folder: temporary });
    client = new OpenAI({
      baseURL: `http://127.0.0.1:${port}/v1`,
      apiKey: MASTER_KEY,
      maxRetries: 0,
    });
  });

  afterAll(async () => {
    await removeDirectories();
    upstream?.close();
    rmSync(temporary, { recursive: true, force: true });
  });

  const ask = (content: string, guardrail: string) =>
    client.chat.completions.create({
      model: 'echo',
      messages: [{ role: 'user', content }],
      guardrails: [guardrail],
    } as never);

  it('masks personal data before the model is asked', async () => {
    await ask('I am ann.lee@example.org, card 4012888888881881.', 'mask');
    expect(upstream.told.at(-1)).toMatch(/^I am <EMAIL_ADDRESS[^>]*>, card <CREDIT_CARD[^>]*>\.$/);
  });

  it('blocks entities that are configured so', async () => {
    const { length } = upstream.told;
    await expect(ask('Card 4012888888881881.', 'block')).rejects.toMatchObject({ status: 400 });
    expect(upstream.told).toHaveLength(length);
    await ask('I am ann.lee@example.org.', 'block');
    expect(upstream.told.at(-1)).toBe('I am ann.lee@example.org.');
  });
});
