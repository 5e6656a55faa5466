import path from 'node:path';
import { InferenceClient } from '@huggingface/inference';
import { CohereClientV2 } from 'cohere-ai';
import { near } from '../helpers/documented';
import { post } from '../helpers/http';
import { modelWith } from '../helpers/model-folder';
import { ModelsDirectory } from '../helpers/models-directory';
import { needs } from '../helpers/needs';
import { INSTALL_MS, installPython, runFile } from '../helpers/python';
import { killAll, type Service } from '../helpers/service';

const FOLDER = path.join(__dirname, 'python');
const KEY = 'a-key-that-is-long-enough-0123456789';
const SCRIPT_MS = 240_000;
const QUERY = 'How long is the film?';
const DOCUMENTS = ['A quiet marvel.', 'Two hours.', 'It is dull.'];
const TEXT = 'A quiet, funny film.';
const LABELS = ['sports', 'cinema'];

interface Ranked {
  readonly results: readonly { readonly index: number; readonly relevance_score: number }[];
}

const models = new ModelsDirectory();
let service: Service;
let reranker: string;
let entailment: string;

const ask = async (route: string, body: object): Promise<unknown> => {
  const headers = { authorization: `Bearer ${KEY}` };
  return (await post(service, route, body, { headers })).json;
};

/** What is asked without a client. */
const ranking = async () =>
  (await ask('/v2/rerank', { query: QUERY, documents: DOCUMENTS })) as Ranked;

beforeAll(async () => {
  const marked = { sbert_ce_default_activation_function: 'torch.nn.modules.linear.Identity' };
  modelWith(models.folder, 'roberta-one-label', { 'config.json': marked }, 'reranker');
  const id2label = { 0: 'contradiction', 1: 'neutral', 2: 'entailment' };
  modelWith(models.folder, 'roberta-three-labels-float16', { 'config.json': { id2label } }, 'nli');
  service = await models.start({ env: { API_KEY: KEY } });
  reranker = `${service.origin}/models/reranker`;
  entailment = `${service.origin}/models/nli`;
});

afterAll(async () => {
  await killAll();
  models.folder.remove();
});

describe('cohere-ai', () => {
  const client = (token: string) => new CohereClientV2({ token, environment: reranker });
  const asked = { model: 'reranker', query: QUERY, documents: DOCUMENTS };

  it('ranks', async () => {
    const { results, meta } = await client(KEY).rerank({ ...asked, topN: 2 });
    const expected = (await ranking()).results.slice(0, 2);
    expect(results).toEqual(
      near(
        expected.map(({ index, relevance_score }) => ({ index, relevanceScore: relevance_score })),
      ),
    );
    expect(meta?.apiVersion?.version).toBe('2');
  });

  it('tells what the service says is wrong', async () => {
    await expect(client(KEY).rerank({ ...asked, documents: [] })).rejects.toMatchObject({
      statusCode: 400,
      body: { message: 'documents: expected at least one document' },
    });
    await expect(client('another-key-that-is-long-enough').rerank(asked)).rejects.toMatchObject({
      statusCode: 401,
    });
  });
});

it('@huggingface/inference classifies by labels of the request', async () => {
  const client = new InferenceClient(KEY).endpoint(entailment);
  const parameters = { candidate_labels: LABELS, multi_label: true };
  const labels = await client.zeroShotClassification({ inputs: TEXT, parameters });
  expect(labels).toEqual(near(await ask('/models/nli', { inputs: TEXT, parameters })));
  expect(labels).toHaveLength(2);
});

needs('python').it(
  'cohere and huggingface_hub get what the service answers',
  async () => {
    const packages = await installPython('clients', path.join(FOLDER, 'requirements.txt'));
    const { stdout } = await runFile('python3', ['pairs.py', reranker, entailment, KEY], {
      cwd: FOLDER,
      env: { ...process.env, PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' },
      timeout: SCRIPT_MS,
    });
    const { results } = await ranking();
    const parameters = {
      candidate_labels: LABELS,
      multi_label: true,
      hypothesis_template: 'It is {}.',
    };
    expect(JSON.parse(stdout)).toEqual(
      near({
        ranked: results,
        top: results.slice(0, 1),
        older: results,
        texts: results.map(({ index }) => DOCUMENTS[index]),
        bad: { message: 'documents: expected at least one document' },
        labels: await ask('/models/nli', { inputs: TEXT, parameters }),
      }),
    );
  },
  INSTALL_MS + SCRIPT_MS,
);
