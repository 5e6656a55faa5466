import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { request } from './http';
import { freePort } from './ports';
import { NodeProcess, ROOT } from './service';
import { until } from './until';

/** Its requirements, for `installPython`. */
export const LITELLM = path.join(ROOT, 'test/clients/python/litellm/requirements.txt');

interface LiteLlmOptions {
  /** YAML. */
  readonly config: string;
  readonly env: Readonly<Record<string, string>>;
  /** To write to. */
  readonly folder: string;
}

/** Starts LiteLLM's proxy; `killAll` ends it. @returns its port, when it answers */
export async function startLiteLlm(
  packages: string,
  { config, env, folder }: LiteLlmOptions,
): Promise<number> {
  const file = path.join(folder, 'config.yaml');
  writeFileSync(file, config);
  const port = await freePort();
  const proxy = new NodeProcess({
    program: 'python3',
    script: path.join(packages, 'bin', 'litellm'),
    args: ['--config', file, '--host', '127.0.0.1', '--port', String(port)],
    cwd: folder,
    env: {
      PYTHONPATH: packages,
      PYTHONDONTWRITEBYTECODE: '1',
      HOME: folder,
      ...env,
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    },
  });
  let isEnded = false;
  void proxy.exit.then(() => {
    isEnded = true;
  });
  await until('the proxy of LiteLLM', async () => {
    if (isEnded) throw new Error(proxy.stderr + proxy.stdout);
    const asked = request({ port }, { path: '/health/liveliness' });
    return (await asked.catch(() => null))?.status === 200;
  });
  return port;
}
