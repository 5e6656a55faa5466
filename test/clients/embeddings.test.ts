import path from 'node:path';
import { near } from '../helpers/documented';
import { post } from '../helpers/http';
import { newDirectory, removeDirectories } from '../helpers/models-directory';
import { needs } from '../helpers/needs';
import { INSTALL_MS, installPython, runFile } from '../helpers/python';
import type { Service } from '../helpers/service';

const FOLDER = path.join(__dirname, 'python');
const KEY = 'a-key-that-is-long-enough-0123456789';
const TEXTS = ['A quiet, funny film.', 'It rains.', 'A quiet, funny film.'];
const IDS = [
  [2, 5, 3],
  [2, 6, 7, 3],
];
const SCRIPT_MS = 240_000;

let service: Service;
let packages: string;

const ask = async (route: string, body: object): Promise<unknown> => {
  const headers = { authorization: `Bearer ${KEY}` };
  return (await post(service, route, body, { headers })).json;
};

const embed = async (inputs: unknown): Promise<number[][]> =>
  (await ask('/embed', { inputs })) as number[][];

/** Decimals of a float32 as JSON has them, and as base64 gives them to a client. */
const float32 = (vectors: readonly (readonly number[])[]) =>
  vectors.map((vector) => vector.map(Math.fround));

needs('python').describe('openai and huggingface_hub', () => {
  beforeAll(async () => {
    packages = await installPython('clients', path.join(FOLDER, 'requirements.txt'));
    const directory = newDirectory();
    directory.text('vectors', '../embeddings/sentences/v2-mean-normalize');
    directory.text('films', 'bert-single-label');
    service = await directory.start({ env: { API_KEY: KEY } });
  }, INSTALL_MS);

  afterAll(removeDirectories);

  it(
    'get what the service answers',
    async () => {
      const { stdout } = await runFile(
        'python3',
        ['embeddings.py', service.origin, 'vectors', KEY],
        {
          cwd: FOLDER,
          env: { ...process.env, PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' },
          timeout: SCRIPT_MS,
        },
      );
      const told = JSON.parse(stdout);
      const vectors = await embed(TEXTS);
      const ids = (await ask('/v1/embeddings', { model: 'vectors', input: IDS })) as {
        data: { embedding: number[] }[];
      };
      const ofIds = ids.data.map(({ embedding }) => embedding);
      const { total_tokens } = told.openai.usage;
      expect(total_tokens).toBeGreaterThan(TEXTS.length * 3);
      expect(told.openai).toEqual({
        model: 'vectors',
        objects: ['list', ...Array(3).fill('embedding')],
        indices: [0, 1, 2],
        usage: { prompt_tokens: total_tokens, completion_tokens: 0, total_tokens },
        list: float32(vectors),
        text: float32(vectors.slice(0, 1)),
        float: vectors,
        base64: vectors.map((vector) =>
          Buffer.from(Float32Array.from(vector).buffer).toString('base64'),
        ),
        short: float32(await shortened(vectors[0] as number[])),
        ids: float32(ofIds),
        one_of_ids: float32(ofIds.slice(0, 1)),
        together: float32(
          await embed(Array.from({ length: 16 }, (_, index) => `${TEXTS[0]} ${index}`)),
        ),
      });
      expect(told.refused).toEqual(REFUSED);
      const features = (await ask('/models/vectors', { inputs: TEXTS })) as number[][];
      expect(told.feature_extraction).toEqual({
        text: near(features[0]),
        normalized: near(vectors),
      });
      const [source_sentence, ...sentences] = TEXTS;
      const inputs = { source_sentence, sentences };
      expect(told.sentence_similarity).toEqual(near(await ask('/similarity', { inputs })));
    },
    SCRIPT_MS,
  );
});

/** The first five numbers, with a length of 1 again, as the route itself writes them. */
async function shortened(vector: readonly number[]): Promise<number[][]> {
  const body = { model: 'vectors', input: TEXTS[0], dimensions: 5 };
  const { data } = (await ask('/v1/embeddings', body)) as { data: { embedding: number[] }[] };
  const [{ embedding } = { embedding: [] }] = data;
  const length = Math.hypot(...vector.slice(0, 5));
  expect(embedding).toEqual(near(vector.slice(0, 5).map((value) => value / length)));
  return [embedding];
}

const refused = (name: string, status: number, param: string | null, message: string) => ({
  class: name,
  status,
  param,
  message: expect.stringContaining(message),
  code: null as string | null,
});

const REFUSED = {
  model: { ...refused('NotFoundError', 404, 'model', '"vectors"'), code: 'model_not_found' },
  classifier: { ...refused('NotFoundError', 404, 'model', 'films'), code: 'model_not_found' },
  key: { ...refused('AuthenticationError', 401, null, 'key'), code: 'invalid_api_key' },
  empty: refused('BadRequestError', 400, 'input', 'input'),
  element: refused('BadRequestError', 400, 'input', 'input[1]: expected a string'),
  dimensions: refused('BadRequestError', 400, 'dimensions', 'dimensions: expected at most'),
  no_such_id: refused('BadRequestError', 400, 'input', 'received 2000000000'),
};
