/** Unmodified clients of other embedding services. */
import path from 'node:path';
import { CohereClientV2 } from 'cohere-ai';
import { encodeVector, VECTOR_DTYPES, type VectorDtype } from '../../src/tasks/vector-dtypes';
import { post } from '../helpers/http';
import { newDirectory, removeDirectories } from '../helpers/models-directory';
import { needs } from '../helpers/needs';
import { INSTALL_MS, installPython, runFile } from '../helpers/python';
import type { Service } from '../helpers/service';

const FOLDER = path.join(__dirname, 'python');
const KEY = 'a-key-that-is-long-enough-0123456789';
const TEXTS = ['A quiet, funny film.', 'It rains.'];
const SCRIPT_MS = 240_000;

let service: Service;
let vectors: number[][];

beforeAll(async () => {
  const directory = newDirectory();
  directory.text('vectors', '../embeddings/sentences/v2-mean-normalize');
  directory.text('films', 'bert-single-label');
  service = await directory.start({ env: { API_KEY: KEY } });
  const headers = { authorization: `Bearer ${KEY}` };
  vectors = (await post(service, '/embed', { inputs: TEXTS }, { headers })).json as number[][];
}, INSTALL_MS);

afterAll(removeDirectories);

const expected = (dtype: VectorDtype) =>
  vectors.map((vector) =>
    dtype === 'float'
      ? vector.map((value) => expect.closeTo(value, 6))
      : [...encodeVector(Float32Array.from(vector), dtype)],
  );
const everyDtype = () => Object.fromEntries(VECTOR_DTYPES.map((dtype) => [dtype, expected(dtype)]));

it('cohere-ai', async () => {
  const client = new CohereClientV2({ token: KEY, environment: service.origin });
  const { embeddings } = await client.embed({
    model: 'vectors',
    texts: TEXTS,
    inputType: 'search_query',
    embeddingTypes: ['float', 'int8', 'ubinary'],
  });
  expect(embeddings).toMatchObject({ float: vectors, int8: expected('int8') });
});

needs('python').describe('Python clients', () => {
  it(
    'cohere, voyageai, mistralai and ollama get what the service answers',
    async () => {
      const packages = await installPython('clients', path.join(FOLDER, 'requirements.txt'));
      const { stdout } = await runFile(
        'python3',
        ['embedding_formats.py', service.origin, 'vectors', KEY],
        {
          cwd: FOLDER,
          env: { ...process.env, PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' },
          timeout: SCRIPT_MS,
        },
      );
      const told = JSON.parse(stdout);
      expect(told.cohere).toEqual(everyDtype());
      expect(told.older).toEqual(expected('float'));
      expect(told.voyage).toEqual(everyDtype());
      expect(told.mistral).toEqual(everyDtype());
      expect(told.ollama).toEqual({
        embed: expected('float'),
        older: expected('float')[0],
        models: ['vectors:latest'],
        capabilities: ['embedding'],
        refused: { status: 404, error: expect.stringContaining('"vectors"') },
      });
    },
    INSTALL_MS + SCRIPT_MS,
  );
});
