/** Unmodified Python clients of vector stores and retrieval frameworks. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { post } from '../helpers/http';
import { newDirectory, removeDirectories } from '../helpers/models-directory';
import { needs } from '../helpers/needs';
import { INSTALL_MS, installPython, runFile } from '../helpers/python';
import { ROOT, type Service } from '../helpers/service';

const FOLDER = path.join(__dirname, 'python', 'vector_stores');
const KEY = 'a-key-that-is-long-enough-0123456789';
const QUERY = 'How long is the film?';
const DOCUMENTS = [
  'It rains in every scene.',
  'Two hours and a half.',
  'A quiet, funny film.',
  'The train leaves at nine.',
];
const SCRIPT_MS = 240_000;

const LIBRARIES = ['chroma', 'haystack', 'llama_index', 'langchain'] as const;
type Library = (typeof LIBRARIES)[number];
/** Names of the classes that the scripts run. */
type Classes = Readonly<Record<Library, readonly string[]>>;

/** Embeddings, with retrieval from a store in memory. Those of Haystack also have a class for documents. */
const EMBEDDINGS: Classes = {
  chroma: [
    'CohereEmbeddingFunction',
    'HuggingFaceEmbeddingServer',
    'OllamaEmbeddingFunction',
    'OpenAIEmbeddingFunction',
  ],
  haystack: [
    'CohereTextEmbedder',
    'HuggingFaceAPITextEmbedder',
    'JinaTextEmbedder',
    'OllamaTextEmbedder',
    'OpenAITextEmbedder',
  ],
  llama_index: [
    'OllamaEmbedding',
    'OpenAIEmbedding',
    'OpenAILikeEmbedding',
    'TextEmbeddingsInference',
  ],
  langchain: ['CohereEmbeddings', 'OllamaEmbeddings', 'OpenAIEmbeddings'],
};

const RERANKERS: Classes = {
  chroma: [],
  haystack: ['CohereRanker', 'HuggingFaceTEIRanker', 'JinaRanker'],
  llama_index: ['CohereRerank', 'JinaRerank', 'TextEmbeddingInference'],
  langchain: ['CohereRerank', 'VoyageAIRerank'],
};

const SPARSE_EMBEDDINGS: Classes = {
  chroma: [],
  haystack: ['HuggingFaceTEISparseTextEmbedder'],
  llama_index: [],
  langchain: [],
};

/** Output of a script for one class of a client library; see python/vector_stores/case.py. */
interface ClassResult {
  readonly query?: readonly number[];
  readonly documents?: readonly (readonly number[])[];
  readonly nearest?: readonly number[];
  readonly ranked?: readonly (readonly [index: number, score: number])[];
  readonly sparse?: Readonly<Record<string, number>>;
}

let service: Service;
let packages: string;
/** Results of the classes, from the server without a client library. */
let retrieval: ClassResult;
let ranking: ClassResult;
let sparse: ClassResult;

const closeTo = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 6));

async function responseTo(route: string, body: object): Promise<unknown> {
  const headers = { authorization: `Bearer ${KEY}` };
  const { status, json } = await post(service, route, body, { headers });
  expect([route, status]).toEqual([route, 200]);
  return json;
}

async function expectedRetrieval(): Promise<ClassResult> {
  const { data } = (await responseTo('/v1/embeddings', {
    model: 'vectors',
    input: [QUERY, ...DOCUMENTS],
  })) as { readonly data: readonly { readonly embedding: readonly number[] }[] };
  const [query = [], ...documents] = data.map(({ embedding }) => embedding);
  const similarities = documents.map((vector) =>
    vector.reduce((sum, value, i) => sum + value * (query[i] as number), 0),
  );
  return {
    query: closeTo(query),
    documents: documents.map(closeTo),
    nearest: similarities
      .map((_, index) => index)
      .sort((a, b) => (similarities[b] as number) - (similarities[a] as number)),
  };
}

async function expectedRanking(): Promise<ClassResult> {
  const { results } = (await responseTo('/v2/rerank', {
    model: 'reranker',
    query: QUERY,
    documents: DOCUMENTS,
  })) as { readonly results: readonly { index: number; relevance_score: number }[] };
  return {
    ranked: results.map(({ index, relevance_score }) => [
      index,
      expect.closeTo(relevance_score, 6),
    ]),
  };
}

async function expectedSparse(): Promise<ClassResult> {
  const [weights = []] = (await responseTo('/models/sparse/embed_sparse', {
    inputs: QUERY,
  })) as (readonly { readonly index: number; readonly value: number }[])[];
  return {
    sparse: Object.fromEntries(
      weights.map(({ index, value }) => [index, expect.closeTo(value, 6)]),
    ),
  };
}

/** Runs python/vector_stores/with_NAME.py, and returns the results by class. */
async function resultsWith(name: Library): Promise<Readonly<Record<string, ClassResult>>> {
  const args = [`with_${name}.py`, service.origin, KEY, JSON.stringify([QUERY, DOCUMENTS])];
  const { stdout } = await runFile('python3', args, {
    cwd: FOLDER,
    env: {
      ...process.env,
      PYTHONPATH: packages,
      PYTHONDONTWRITEBYTECODE: '1',
      // Most frameworks have no parameter for the key of Ollama, and chromadb has none for the URL of Cohere.
      OLLAMA_API_KEY: KEY,
      CO_API_URL: service.origin,
      // No class may need files of the Hub, and none reports usage.
      HF_ENDPOINT: 'http://127.0.0.1:9',
      HAYSTACK_TELEMETRY_ENABLED: 'False',
      ANONYMIZED_TELEMETRY: 'False',
    },
    timeout: SCRIPT_MS,
  });
  return JSON.parse(stdout);
}

const all = (classes: readonly string[], expected: ClassResult) =>
  Object.fromEntries(classes.map((name) => [name, expected]));

needs('python').describe('Python clients', () => {
  beforeAll(async () => {
    const directory = newDirectory();
    directory.text('vectors', '../embeddings/sentences/v2-mean-normalize');
    directory.text('reranker', '../reranking/exported-gte');
    directory.text('sparse', '../embeddings/splade/bert');
    service = await directory.start({ env: { API_KEY: KEY } });
    retrieval = await expectedRetrieval();
    ranking = await expectedRanking();
    sparse = await expectedSparse();
    packages = await installPython('vector-stores', path.join(FOLDER, 'requirements.txt'));
  }, INSTALL_MS);

  afterAll(removeDirectories);

  it.each(LIBRARIES)(
    '%s',
    async (library) => {
      expect(await resultsWith(library)).toEqual({
        ...all(EMBEDDINGS[library], retrieval),
        ...all(RERANKERS[library], ranking),
        ...all(SPARSE_EMBEDDINGS[library], sparse),
      });
    },
    SCRIPT_MS,
  );
});

it('the table of the documentation lists these classes', () => {
  const page = readFileSync(path.join(ROOT, 'docs/reference/http/openai-tei-hf.md'), 'utf8');
  const [, section = ''] = page.split('## Vector stores and frameworks');
  const rows = section.match(/^\| `.*/gm) ?? [];
  const documented = rows.flatMap((row) => row.split('|')[2]?.match(/\w+/g) ?? []);
  const run = [EMBEDDINGS, RERANKERS, SPARSE_EMBEDDINGS].flatMap((classes) =>
    Object.values(classes).flat(),
  );
  const ofDocuments = EMBEDDINGS.haystack.map((name) => name.replace('Text', 'Document'));
  // examples/retrieval/mastra, which integrations.test.ts runs.
  const expected = [...run, ...ofDocuments, 'createVectorQueryTool'];
  expect(documented.sort()).toEqual(expected.sort());
});
