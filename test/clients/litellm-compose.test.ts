/** examples/guard/compose.yaml: its two services started here as it says, and asked by a client of OpenAI. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import OpenAI from 'openai';
import { parse } from 'yaml';
import { ChatUpstream } from '../helpers/chat-upstream';
import { unknownSettings } from '../helpers/deployed';
import { LITELLM, startLiteLlm } from '../helpers/litellm';
import { needs } from '../helpers/needs';
import { INSTALL_MS, installPython } from '../helpers/python';
import { killAll, ROOT, startService } from '../helpers/service';
import { setTestLimit } from '../helpers/until';

const FOLDER = path.join(ROOT, 'examples/guard');
const read = (name: string) => readFileSync(path.join(FOLDER, name), 'utf8');
const { services } = parse(read('compose.yaml')) as {
  readonly services: Readonly<
    Record<
      'guard' | 'litellm',
      {
        readonly environment: Readonly<Record<string, string>>;
        readonly volumes: readonly string[];
      }
    >
  >;
};

setTestLimit(INSTALL_MS);

needs('python').describe('a guard and the proxy of LiteLLM, as compose starts them', () => {
  const temporary = mkdtempSync(path.join(os.tmpdir(), 'litellm-compose-'));
  const upstream = new ChatUpstream();
  let client: OpenAI;

  /** As a file .env would say it. */
  const given: Record<string, string> = {
    GUARD_KEY: 'a-key-that-is-long-enough-0123456789',
    LITELLM_MASTER_KEY: `sk-${'0123456789'.repeat(4)}`,
    UPSTREAM_KEY: 'none',
    UPSTREAM_MODEL: 'openai/echo',
  };

  const environmentOf = (name: keyof typeof services): Record<string, string> =>
    Object.fromEntries(
      Object.entries(services[name].environment).map(([key, value]) => [
        key,
        value.replaceAll(/\$\{(\w+)(:\?[^}]*)?\}/g, (_, variable) => given[variable] ?? ''),
      ]),
    );

  beforeAll(async () => {
    await upstream.start();
    given.UPSTREAM_URL = `${upstream.origin}/v1`;
    const packages = await installPython('litellm', LITELLM);
    const { GUARD_FILE = '', ...env } = environmentOf('guard');
    expect(unknownSettings(['GUARD_FILE', ...Object.keys(env)])).toEqual([]);
    expect(services.guard.volumes).toContainEqual(expect.stringContaining('-.}:/guard:ro'));
    const file = GUARD_FILE.replace('/guard', FOLDER);
    const guard = await startService('models', {
      args: [path.join(ROOT, 'models')],
      env: { ...env, GUARD_FILE: file },
    });
    await guard.waitForLog(({ msg }) => msg === 'models loaded');
    const config = read('litellm.yaml').replaceAll('http://guard:8000', guard.origin);
    const ofProxy = { ...environmentOf('litellm'), HOME: temporary };
    const port = await startLiteLlm(packages, { config, env: ofProxy, folder: temporary });
    const apiKey = given.LITELLM_MASTER_KEY as string;
    client = new OpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey, maxRetries: 0 });
  });

  afterAll(async () => {
    await killAll();
    upstream.close();
    rmSync(temporary, { recursive: true, force: true });
  });

  const ask = async (content: string): Promise<string | null | undefined> => {
    const messages = [{ role: 'user' as const, content }];
    const { choices } = await client.chat.completions.create({ model: 'llm', messages });
    return choices[0]?.message.content;
  };

  it('redacts before the model and behind it', async () => {
    const text = await ask('A warm, funny film, says ann.lee@example.org: a joy to watch.');
    expect(upstream.told.at(-1)).toContain('says <EMAIL_1>: a joy');
    expect(text).not.toContain('help@example.org');
  });

  it('blocks before the model', async () => {
    const { length } = upstream.told;
    await expect(ask('awful, a terrible waste of time')).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('Blocked by the guard: tone found NEGATIVE.'),
    });
    expect(upstream.told).toHaveLength(length);
  });
});
