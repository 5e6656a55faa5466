/** The examples of retrieval with the real packages, against a server and with models in the process. */
import { cpSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { Folder } from '../helpers/files';
import { post } from '../helpers/http';
import { newDirectory, removeDirectories } from '../helpers/models-directory';
import { INSTALL_MS, runFile } from '../helpers/python';
import { FIXTURES, ROOT, type Service } from '../helpers/service';

const DOCUMENTS = ['Two hours and a half.', 'A quiet, funny film.', 'It rains in every scene.'];
const QUERY = 'How long is the film?';
const SCRIPT_MS = 120_000;

const packages = new Folder();
let service: Service;

beforeAll(async () => {
  const directory = newDirectory();
  directory.text('vectors', '../embeddings/sentences/v2-mean-normalize');
  directory.text('reranker', '../reranking/exported-gte');
  service = await directory.start();
}, SCRIPT_MS);

afterAll(async () => {
  await removeDirectories();
  packages.remove();
});

/** What the examples print, from the routes of the server. */
async function expected(): Promise<string> {
  const { json: vectors } = await post(service, '/models/vectors/embed', {
    inputs: [QUERY, ...DOCUMENTS],
  });
  const [query = [], ...rest] = vectors as number[][];
  const similarity = (vector: number[]) =>
    vector.reduce((sum, value, i) => sum + value * (query[i] as number), 0);
  const nearest = DOCUMENTS.map((text, i) => ({ text, is: similarity(rest[i] as number[]) }))
    .sort((a, b) => b.is - a.is)
    .slice(0, 2)
    .map(({ text }) => text);
  const { json } = await post(service, '/models/reranker/v1/rerank', {
    query: QUERY,
    documents: nearest,
  });
  const { results } = json as {
    results: { relevance_score: number; document: { text: string } }[];
  };
  return results
    .map(({ relevance_score, document }) => `${relevance_score.toFixed(4)} ${document.text}\n`)
    .join('');
}

it.each(['ai-sdk', 'langchain'])(
  'examples/retrieval/%s.mjs',
  async (name) => {
    const script = path.join(ROOT, `examples/retrieval/${name}.mjs`);
    const args = [script, service.origin, 'vectors', 'reranker'];
    const { stdout } = await runFile('node', args, { cwd: ROOT, timeout: SCRIPT_MS });
    expect(stdout).toBe(await expected());
  },
  SCRIPT_MS,
);

it(
  'examples/retrieval/mastra',
  async () => {
    const project = path.join(packages.path, 'mastra');
    cpSync(path.join(ROOT, 'examples/retrieval/mastra'), project, {
      recursive: true,
      filter: (source) => path.basename(source) !== 'node_modules',
    });
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    await runFile('npm', ['ci', ...quiet], { cwd: project, timeout: INSTALL_MS });
    symlinkSync(ROOT, path.join(project, 'node_modules', 'libtorch-serve'));
    const args = ['retrieve.mjs', service.origin, 'vectors', 'reranker'];
    const { stdout } = await runFile('node', args, { cwd: project, timeout: SCRIPT_MS });
    expect(stdout).toBe(await expected());
  },
  INSTALL_MS + SCRIPT_MS,
);

it(
  'models in the process give the same',
  async () => {
    const code = `
      import { Embedder, Reranker } from 'libtorch-serve';
      import { embeddingModel, rerankingModel } from 'libtorch-serve/ai-sdk';
      import { embedMany, rerank } from 'ai';
      const [, embedderFolder, rerankerFolder, ...values] = process.argv;
      const embedder = await Embedder.load({ modelDirectory: embedderFolder });
      const reranker = await Reranker.load({ modelDirectory: rerankerFolder });
      const { embeddings } = await embedMany({ model: embeddingModel(embedder), values });
      const { ranking } = await rerank({
        model: rerankingModel(reranker), query: values[0], documents: values.slice(1), topN: 1 });
      console.log(JSON.stringify({ embeddings, ranking }));
      await embedder.close();
      await reranker.close();`;
    const folders = ['embeddings/sentences/v2-mean-normalize', 'reranking/exported-gte'].map(
      (name) => path.join(FIXTURES, name),
    );
    const args = ['--input-type=module', '-e', code, ...folders, QUERY, ...DOCUMENTS];
    const { stdout } = await runFile('node', args, { cwd: ROOT, timeout: SCRIPT_MS });
    const told = JSON.parse(stdout);
    const { json: vectors } = await post(service, '/models/vectors/embed', {
      inputs: [QUERY, ...DOCUMENTS],
    });
    expect(told.embeddings.map((vector: number[]) => vector.map(Math.fround))).toEqual(
      (vectors as number[][]).map((vector) => vector.map(Math.fround)),
    );
    const { json } = await post(service, '/models/reranker/v1/rerank', {
      query: QUERY,
      documents: DOCUMENTS,
      top_n: 1,
    });
    const [best] = (json as { results: { index: number; relevance_score: number }[] }).results;
    expect(told.ranking).toEqual([
      expect.objectContaining({ originalIndex: best?.index, score: best?.relevance_score }),
    ]);
  },
  SCRIPT_MS,
);
