/** Tasks of jina-embeddings-v3 in requests of Jina, Voyage, Cohere, text-embeddings-inference and Hugging Face. */
import { EmbedClient } from '../../../src/client';
import { readFixture } from '../../helpers/golden';
import { post, request } from '../../helpers/http';
import { newDirectory, removeDirectories } from '../../helpers/models-directory';
import type { Service } from '../../helpers/service';

const MODEL = 'jina-embeddings-v3-lora';
const TEXT = 5;

interface Row {
  readonly task: string | null;
  readonly text: number;
  readonly mean: readonly number[];
}

const { texts } = readFixture<{ texts: readonly string[] }>('texts.json');
const { answers } = readFixture<{ answers: readonly Row[] }>(
  'embeddings',
  'encoders',
  MODEL,
  'tasks.json',
);
const TASKS = answers.flatMap(({ task, text }) => (text === TEXT && task) || []);

/** Prompts of nomic-embed-text. sentence-transformers adds the empty ones. */
const PROMPTS = {
  query: '',
  document: '',
  search_query: 'search_query: ',
  search_document: 'search_document: ',
  classification: 'classification: ',
  clustering: 'clustering: ',
};
const NAMED = ['search_query', 'search_document', 'classification', 'clustering'] as const;

const directory = newDirectory();
let service: Service;

beforeAll(async () => {
  directory.text('jina', `../embeddings/encoders/${MODEL}`, {});
  directory.text('passages', `../embeddings/encoders/${MODEL}`, { adapter: 'retrieval.passage' });
  directory.text('plain', '../embeddings/encoders/jina-embeddings-v3');
  directory.text('prompted', '../embeddings/sentences/v3-cls-prompts');
  directory.text('named', '../embeddings/sentences/v3-cls-prompts');
  directory.write('named/config_sentence_transformers.json', JSON.stringify({ prompts: PROMPTS }));
  service = await directory.start({ env: { DEFAULT_MODEL: 'jina' } });
});

afterAll(removeDirectories);

/** @param task null: no task */
function expectEmbedding(vector: readonly number[], task: string | null, text = TEXT): void {
  const row = answers.find((one) => one.task === task && one.text === text) as Row;
  expect(vector).toHaveLength(row.mean.length);
  const differences = row.mean.map((value, i) => Math.abs(value - (vector[i] as number)));
  expect(Math.max(...differences)).toBeLessThan(1e-5);
}

const TEXT_OF_TEST = texts[TEXT] as string;

async function openai(body: object): Promise<number[]> {
  const { status, json } = await post(service, '/v1/embeddings', {
    model: 'jina',
    input: [TEXT_OF_TEST],
    ...body,
  });
  expect({ status, json }).toMatchObject({ status: 200 });
  return (json as { data: { embedding: number[] }[] }).data[0]?.embedding as number[];
}

it("takes the task of Jina's API", async () => {
  for (const task of TASKS) expectEmbedding(await openai({ task }), task);
  expectEmbedding(await openai({}), null);
  expectEmbedding(await openai({ task: null }), null);
  expectEmbedding(await openai({ task: 'separation', late_chunking: true }), 'separation');
  expectEmbedding(await openai({ model: 'passages' }), 'retrieval.passage');
  expectEmbedding(await openai({ model: 'passages', task: 'separation' }), 'separation');
});

it('takes the options of a Jina client together', async () => {
  const { status, json } = await post(service, '/v1/embeddings', {
    model: 'jina',
    task: 'retrieval.query',
    dimensions: 8,
    normalized: true,
    embedding_type: 'float',
    late_chunking: false,
    truncate: true,
    input: [TEXT_OF_TEST, texts[0]],
  });
  expect(status).toBe(200);
  const { data } = json as { data: { embedding: number[] }[] };
  const first = answers.find(({ task, text }) => task === 'retrieval.query' && text === TEXT);
  const short = (first as Row).mean.slice(0, 8);
  const length = Math.hypot(...short);
  for (const [i, value] of short.entries()) {
    expect(data[0]?.embedding[i]).toBeCloseTo(value / length, 5);
  }
});

it('serves requests of different tasks at once', async () => {
  const rows = [...answers, ...answers].toSorted((a, b) => a.text - b.text);
  const found = await Promise.all(
    rows.map(({ task, text }) => openai({ input: texts[text], task })),
  );
  for (const [index, { task, text }] of rows.entries()) {
    expectEmbedding(found[index] as number[], task, text);
  }
});

it.each([
  ['query', 'retrieval.query'],
  ['document', 'retrieval.passage'],
])('input_type %s of Voyage selects %s', async (input_type, task) => {
  expectEmbedding(await openai({ input_type }), task);
});

it.each([
  ['search_query', 'retrieval.query'],
  ['search_document', 'retrieval.passage'],
  ['classification', 'classification'],
  ['clustering', 'separation'],
])('input_type %s of Cohere selects %s', async (input_type, task) => {
  const body = { model: 'jina', texts: [TEXT_OF_TEST], input_type };
  const { json } = await post(service, '/v2/embed', body);
  expectEmbedding((json as { embeddings: { float: number[][] } }).embeddings.float[0] ?? [], task);
});

it('selects a task in the routes of text-embeddings-inference and Hugging Face', async () => {
  for (const task of TASKS) {
    for (const field of ['task', 'prompt_name']) {
      const body = { inputs: [TEXT_OF_TEST], [field]: task, normalize: false };
      const embed = await post(service, '/models/jina/embed', body);
      expectEmbedding((embed.json as number[][])[0] ?? [], task);
      const feature = await post(service, '/models/jina', body);
      expectEmbedding((feature.json as number[][])[0] ?? [], task);
    }
  }
});

it('compares sentences with a task', async () => {
  const inputs = { source_sentence: TEXT_OF_TEST, sentences: [texts[0], texts[7]] };
  const similarity = async (parameters: object) =>
    (await post(service, '/models/jina/similarity', { inputs, parameters })).json;
  const byTask = await similarity({ task: 'separation' });
  expect(byTask).toEqual([expect.any(Number), expect.any(Number)]);
  expect(byTask).toEqual(await similarity({ prompt_name: 'separation' }));
  expect(byTask).not.toEqual(await similarity({}));
});

it("answers the package's own client", async () => {
  const client = new EmbedClient(`${service.origin}/models/jina`);
  const options = { task: 'classification', normalize: false };
  expectEmbedding([...(await client.embed(TEXT_OF_TEST, options))], 'classification');
  const [chunk = []] = await client.embedChunks([TEXT_OF_TEST], { task: 'text-matching' });
  expectEmbedding([...chunk], 'text-matching');
  await expect(client.embed('a', { task: 'summary' })).rejects.toMatchObject({
    detail: `task: expected one of ${TASKS.join(', ')}`,
  });
});

it('lists the tasks in GET /info', async () => {
  const { json } = await request(service, { path: '/models/jina/info' });
  expect(json).toMatchObject({ model: { tasks: TASKS, prompts: TASKS } });
  const plain = await request(service, { path: '/models/plain/info' });
  expect((plain.json as { model: object }).model).not.toHaveProperty('tasks');
});

it('prepends the prompt of the role if the model has no tasks', async () => {
  const byTask = await openai({ model: 'prompted', task: 'retrieval.query' });
  expect(byTask).toEqual(await openai({ model: 'prompted', input_type: 'query' }));
  expect(byTask).not.toEqual(await openai({ model: 'prompted', input_type: 'document' }));
});

describe('a model with a prompt for each role', () => {
  /** Embedding of the text with a prompt before it. */
  const promptedBy = (name: keyof typeof PROMPTS) =>
    openai({ model: 'named', input: PROMPTS[name] + TEXT_OF_TEST });

  it.each(NAMED)('input_type %s of Cohere selects the prompt of that name', async (input_type) => {
    const body = { model: 'named', texts: [TEXT_OF_TEST], input_type };
    const { json } = await post(service, '/v2/embed', body);
    const [vector] = (json as { embeddings: { float: number[][] } }).embeddings.float;
    expect(vector).toEqual(await promptedBy(input_type));
  });

  it.each([
    [{ task: 'retrieval.query' }, 'search_query'],
    [{ task: 'retrieval.passage' }, 'search_document'],
    [{ task: 'classification' }, 'classification'],
    [{ task: 'separation' }, 'clustering'],
    [{ input_type: 'query' }, 'search_query'],
    [{ prompt_name: 'clustering' }, 'clustering'],
    [{ prompt_name: 'clustering', input_type: 'query' }, 'clustering'],
    [{ prompt_name: 'clustering', task: 'classification' }, 'clustering'],
  ] as const)('%j selects the prompt %s', async (body, name) => {
    expect(await openai({ model: 'named', ...body })).toEqual(await promptedBy(name));
  });

  it('prompt_name: null is the default prompt, and an unknown name lists the prompts', async () => {
    const plain = await openai({ model: 'named' });
    expect(await openai({ model: 'named', prompt_name: null })).toEqual(plain);
    const body = { model: 'named', input: 'a', prompt_name: 'other' };
    const { status, json } = await post(service, '/v1/embeddings', body);
    expect(status).toBe(400);
    const message = `prompt_name: expected one of ${Object.keys(PROMPTS).join(', ')}`;
    expect(json).toMatchObject({ error: { param: 'prompt_name', message } });
  });
});

it('return_multivector true names the route for token embeddings', async () => {
  expect(await openai({ return_multivector: false })).toEqual(await openai({}));
  const body = { model: 'jina', input: 'a', return_multivector: true };
  const { status, json } = await post(service, '/v1/embeddings', body);
  expect(status).toBe(400);
  const message = expect.stringContaining('POST /embed_all');
  expect(json).toMatchObject({ error: { param: 'return_multivector', message } });
});

it.each([
  ['jina', { task: 'summary' }, `task: expected one of ${TASKS.join(', ')}`],
  ['jina', { task: 'summary', late_chunking: true }, 'task: expected one of retrieval.query'],
  ['plain', { task: 'separation' }, 'task: this model has no tasks. Remove the field'],
  ['plain', { task: 'retrieval.query' }, 'task: this model has no tasks. Remove the field'],
  ['prompted', { task: 'text-matching' }, 'task: this model has no tasks. Remove the field'],
])('%s rejects %j', async (model, body, message) => {
  const { status, json } = await post(service, '/v1/embeddings', {
    model,
    input: TEXT_OF_TEST,
    ...body,
  });
  expect(status).toBe(400);
  expect(json).toMatchObject({
    error: { param: 'task', message: expect.stringContaining(message) },
  });
});
