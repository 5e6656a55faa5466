import path from 'node:path';
import { InferenceClient } from '@huggingface/inference';
import { near } from '../helpers/documented';
import { post } from '../helpers/http';
import { newDirectory, removeDirectories } from '../helpers/models-directory';
import { needs } from '../helpers/needs';
import { INSTALL_MS, installPython, runFile } from '../helpers/python';
import type { Service } from '../helpers/service';

const FOLDER = path.join(__dirname, 'python');
const KEY = 'a-key-that-is-long-enough-0123456789';
const TEXT = '\u{1f600} Berlin is a film. \u{1f600} The end';
const SCRIPT_MS = 240_000;

let service: Service;
let tagger: string;

const ask = async (inputs: unknown, parameters: object): Promise<unknown> => {
  const headers = { authorization: `Bearer ${KEY}` };
  return (await post(service, '/models/tagger', { inputs, parameters }, { headers })).json;
};

beforeAll(async () => {
  const directory = newDirectory();
  directory.text('tagger', '../tagging/bert');
  service = await directory.start({ env: { API_KEY: KEY } });
  tagger = `${service.origin}/models/tagger`;
});

afterAll(removeDirectories);

describe('@huggingface/inference', () => {
  it('tags', async () => {
    const client = new InferenceClient(KEY).endpoint(tagger);
    const parameters = { ignore_labels: [] };
    const spans = await client.tokenClassification({ inputs: TEXT, parameters });
    expect(spans).toEqual(near(await ask(TEXT, parameters)));
    expect(spans.length).toBeGreaterThan(0);
  });
});

needs('python').describe('huggingface_hub', () => {
  let packages: string;

  beforeAll(async () => {
    packages = await installPython('clients', path.join(FOLDER, 'requirements.txt'));
  }, INSTALL_MS);

  it(
    'gets what the service answers, with offsets that select its text',
    async () => {
      const { stdout } = await runFile('python3', ['tagging.py', tagger, KEY], {
        cwd: FOLDER,
        env: { ...process.env, PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' },
        timeout: SCRIPT_MS,
      });
      const spans = (await ask(TEXT, { ignore_labels: [] })) as { start: number; end: number }[];
      const characters = [...TEXT];
      expect(JSON.parse(stdout)).toEqual({
        spans: near(spans),
        selected: spans.map(({ start, end }) => characters.slice(start, end).join('')),
        tokens: near(await ask(TEXT, { aggregation_strategy: 'none', ignore_labels: [] })),
        windows: near(await ask(TEXT.repeat(9), { aggregation_strategy: 'max', stride: 4 })),
      });
    },
    SCRIPT_MS,
  );
});
