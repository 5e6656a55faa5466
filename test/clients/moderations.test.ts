import path from 'node:path';
import { near } from '../helpers/documented';
import { guardDirectory, TONE } from '../helpers/guard-directory';
import { post } from '../helpers/http';
import { removeDirectories } from '../helpers/models-directory';
import { needs } from '../helpers/needs';
import { INSTALL_MS, installPython, runFile } from '../helpers/python';

const FOLDER = path.join(__dirname, 'python');
const KEY = 'a-key-that-is-long-enough-0123456789';
const CHECKS = [TONE, { type: 'patterns', name: 'data', action: 'flag', kinds: ['email'] }];
const CATEGORIES = {
  harassment: { check: 'tone', label: 'NEGATIVE' },
  'self-harm/intent': { check: 'data', label: 'EMAIL' },
};

interface Told {
  readonly results: readonly { readonly category_scores: Readonly<Record<string, number>> }[];
}

afterAll(removeDirectories);

needs('python').it(
  'openai for Python gets what a guard answers',
  async () => {
    const packages = await installPython('clients', path.join(FOLDER, 'requirements.txt'));
    const directory = guardDirectory({ checks: CHECKS, moderations: { categories: CATEGORIES } });
    const service = await directory.start({ env: { API_KEY: KEY } });
    const { stdout } = await runFile('python3', ['moderations.py', service.origin, KEY], {
      cwd: FOLDER,
      env: { ...process.env, PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' },
    });
    const headers = { authorization: `Bearer ${KEY}` };
    const scoreOf = async (input: unknown): Promise<number> => {
      const { json } = await post(service, '/v1/moderations', { input }, { headers });
      return (json as Told).results[0]?.category_scores.harassment ?? Number.NaN;
    };
    const harassment = await scoreOf('awful, a terrible waste of time');
    const rude = { flagged: true, categories: ['harassment'], scores: { harassment } };
    const harmless = { harassment: await scoreOf('A warm, funny film.') };
    const email = { harassment: await scoreOf('ann.lee@example.org'), 'self-harm/intent': 1 };
    const parts = [
      { type: 'text', text: 'awful, a terrible waste of time' },
      { type: 'text', text: 'A warm, funny film.' },
      { type: 'text', text: 'ann.lee@example.org' },
    ];
    const together = { harassment: await scoreOf(parts), 'self-harm/intent': 1 };
    const bad = { class: 'BadRequestError', status: 400, param: 'input' };
    expect(JSON.parse(stdout)).toEqual(
      near({
        model: 'guard',
        texts: [
          rude,
          { flagged: false, categories: [], scores: harmless },
          { flagged: true, categories: ['self-harm/intent'], scores: email },
        ],
        text: [rude],
        parts: [
          { flagged: true, categories: ['harassment', 'self-harm/intent'], scores: together },
        ],
        image: bad,
        empty: bad,
      }),
    );
  },
  INSTALL_MS,
);
