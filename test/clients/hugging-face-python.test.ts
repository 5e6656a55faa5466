import path from 'node:path';
import { near } from '../helpers/documented';
import { post } from '../helpers/http';
import { needs } from '../helpers/needs';
import { INSTALL_MS, installPython, runFile } from '../helpers/python';
import { killAll, type Service, startService, textModel } from '../helpers/service';

const FOLDER = path.join(__dirname, 'python');
const KEY = 'a-key-that-is-long-enough-0123456789';
const NAME = 'bert-single-label';
const TEXT = 'A quiet, funny film.';
const SCRIPT_MS = 240_000;

afterAll(killAll);

needs('python').describe('huggingface_hub', () => {
  let packages: string;
  let service: Service;

  beforeAll(async () => {
    packages = await installPython('clients', path.join(FOLDER, 'requirements.txt'));
    service = await startService('sentiment', { env: { ...textModel(NAME), API_KEY: KEY } });
  }, INSTALL_MS);

  const ask = async (inputs: unknown, parameters = {}): Promise<unknown> => {
    const headers = { authorization: `Bearer ${KEY}` };
    return (await post(service, '/', { inputs, parameters }, { headers })).json;
  };

  it(
    'gets what the service answers',
    async () => {
      const { stdout } = await runFile('python3', ['hugging_face.py', service.origin, NAME, KEY], {
        cwd: FOLDER,
        env: { ...process.env, PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' },
        timeout: SCRIPT_MS,
      });
      const [all] = (await ask(TEXT)) as readonly [unknown[]];
      const texts = Array.from({ length: 32 }, (_, index) => `${TEXT} ${index}`);
      expect(JSON.parse(stdout)).toEqual({
        all: near(all),
        top: near(all.slice(0, 1)),
        none: near(((await ask(TEXT, { function_to_apply: 'none' })) as unknown[])[0]),
        by_name: near(all),
        together: near(await ask(texts)),
        bad: {
          status: 422,
          message: expect.stringContaining('parameters.top_k: expected at least 1'),
        },
        stranger: { status: 401, message: expect.any(String) },
      });
    },
    SCRIPT_MS,
  );
});
