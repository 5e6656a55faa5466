/**
 * LoRA adapters of several tasks in one model (jina-embeddings-v3): embeddings of test/parity/jina_tasks.py within
 * 1e-5, alone and in batches of several tasks.
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Embedder } from '../../src/embedded/embedder';
import { addon } from '../../src/native/addon';
import type { Embedding, EmbeddingInput, EmbeddingMetadata } from '../../src/tasks/capabilities';
import { embedding } from '../../src/tasks/embedding/embedding-task';
import { lateChunking } from '../../src/tasks/embedding/late-chunking';
import { selectPrompt } from '../../src/tasks/embeddings';
import { TaskModel } from '../../src/tasks/task-model';
import { Folder } from '../helpers/files';
import { readFixture } from '../helpers/golden';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES } from '../helpers/service';

const TOLERANCE = 1e-5;
const NAME = 'jina-embeddings-v3-lora';
const ENCODERS = path.join(FIXTURES, 'embeddings', 'encoders');
const OPTIONS = { timeoutMs: 60_000 };

interface Row {
  /** Null: the encoder without an update. */
  readonly task: string | null;
  readonly text: number;
  readonly mean: readonly number[];
  readonly cls: readonly number[];
}

const { texts } = readFixture<{ texts: readonly string[] }>('texts.json');
const { answers } = readFixture<{ answers: readonly Row[] }>(
  'embeddings',
  'encoders',
  NAME,
  'tasks.json',
);
const TASKS = [...new Set(answers.flatMap(({ task }) => task ?? []))];
/** Rows whose neighbors have other tasks. */
const MIXED = answers.toSorted((a, b) => a.text - b.text);

const folder = new Folder();
let count = 0;

afterAll(() => folder.remove());

/** A copy of the model with LoRA factors of five tasks. */
function copy(model: object = {}, config: object = {}): string {
  const target = path.join(folder.path, String(count++));
  cpSync(path.join(ENCODERS, NAME), target, { recursive: true });
  const file = path.join(target, 'config.json');
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...config }));
  writeFileSync(path.join(target, 'model.json'), JSON.stringify(model));
  return target;
}

/** The files of sentence-transformers that jina-embeddings-v3 has. */
function asSentenceModel(directory: string, mode: 'cls' | 'mean'): string {
  const write = (name: string, content: unknown) =>
    writeFileSync(path.join(directory, name), JSON.stringify(content));
  mkdirSync(path.join(directory, '1_Pooling'));
  write('modules.json', [
    { idx: 0, name: 'transformer', path: '', type: 'custom_st.Transformer', kwargs: ['task'] },
    { idx: 1, name: 'pooler', path: '1_Pooling', type: 'sentence_transformers.models.Pooling' },
  ]);
  write('1_Pooling/config.json', {
    word_embedding_dimension: 16,
    pooling_mode: mode,
  });
  return directory;
}

type Model = TaskModel<EmbeddingInput, Embedding, EmbeddingMetadata>;

function inputOf({ metadata }: Pick<Model, 'metadata'>, { task, text }: Row) {
  const prompt = selectPrompt(metadata, { task }, (field) => {
    throw new Error(field);
  });
  return { text: texts[text] as string, ...prompt };
}

function expectClose(vector: Float32Array | undefined, values: readonly number[]) {
  expect(vector).toHaveLength(values.length);
  const differences = values.map((value, i) => Math.abs(value - (vector?.[i] as number)));
  expect(Math.max(...differences)).toBeLessThan(TOLERANCE);
}

async function using<Result>(
  directory: string,
  run: (model: Model) => Promise<Result>,
  options: object = {},
): Promise<Result> {
  const model = await TaskModel.load(embedding, directory, { ...SCHEDULING, ...options });
  try {
    return await run(model);
  } finally {
    await model.close();
  }
}

function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const dot = (x: ArrayLike<number>, y: ArrayLike<number>): number =>
    Array.from(x).reduce((sum, value, i) => sum + value * (y[i] as number), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

it('has golden embeddings of five tasks and of no task', () => {
  expect(TASKS).toEqual([
    ...['retrieval.query', 'retrieval.passage', 'separation', 'classification', 'text-matching'],
  ]);
  expect(answers.filter(({ task }) => task === null)).toHaveLength(answers.length / 6);
  const distinct = answers.map(({ text, mean }) => `${text} ${mean.join()}`);
  expect(new Set(distinct).size).toBe(answers.length);
});

describe.each(['mean', 'cls'] as const)('pooling %s', (mode) => {
  it('has the embeddings of the reference for each task, alone and in mixed batches', async () => {
    await using(asSentenceModel(copy(), mode), async (model) => {
      expect(model.metadata.tasks).toEqual(TASKS);
      const mixed = await model.runAll(
        MIXED.map((row) => inputOf(model, row)),
        OPTIONS,
      );
      const sizes: number[] = [];
      for (const [index, row] of MIXED.entries()) {
        const found = mixed[index] as Embedding;
        expectClose(found.vector, row[mode]);
        const alone = await model.run(inputOf(model, row), OPTIONS);
        expect(alone.vector).toEqual(found.vector);
        sizes.push(found.inference.batchSize);
      }
      expect(Math.max(...sizes)).toBeGreaterThan(1);
    });
  });
});

/** How near embeddings are to those in float32, at least. */
const LEAST_COSINE = [
  ['bfloat16', 0.999],
  ['int8', 0.95],
] as const;

it.each(LEAST_COSINE)('adds the updates in float32 to a base in %s', async (dtype, least) => {
  if (addon().dtypeProblem(dtype) !== '') return; // test/golden/dtype.test.ts has what it says
  await using(
    copy(),
    async (model) => {
      const mixed = await model.runAll(
        MIXED.map((row) => inputOf(model, row)),
        OPTIONS,
      );
      for (const [index, row] of MIXED.entries()) {
        const { vector } = mixed[index] as Embedding;
        expect(cosine(vector, row.mean)).toBeGreaterThan(least);
        const alone = await model.run(inputOf(model, row), OPTIONS);
        expect(alone.vector).toEqual(vector);
      }
    },
    { dtype },
  );
});

it('keeps results of different tasks apart in the result cache', async () => {
  await using(
    copy(),
    async (model) => {
      for (const row of [...MIXED, ...MIXED]) {
        const { vector } = await model.run(inputOf(model, row), OPTIONS);
        expectClose(vector, row.mean);
      }
    },
    { resultCacheMb: 1 },
  );
});

it('embeds token IDs and chunks with a task', async () => {
  await using(copy(), async (model) => {
    const row = answers.find(({ task }) => task === 'separation') as Row; // without an instruction
    const adapterTask = TASKS.indexOf('separation');
    const text = texts[row.text] as string;
    const chunked = model.withTask(lateChunking, model.metadata);
    const { vectors } = await chunked.run({ chunks: [text], adapterTask }, OPTIONS);
    expectClose(vectors[0], row.mean);
    const [tokens] = await model.tokenize([text], true, OPTIONS);
    const ids = tokens?.places?.ids as Uint32Array;
    expectClose(((await model.run({ ids, adapterTask }, OPTIONS)) as Embedding).vector, row.mean);
    await expect(model.run({ ids, adapterTask: 5 }, OPTIONS)).rejects.toThrow(
      'adapterTask: expected less than 5, received 5',
    );
  });
});

it('uses the task of model.json, and its instruction, for texts without a task', async () => {
  const adapter = 'retrieval.passage';
  await using(copy({ adapter }), async (model) => {
    for (const row of answers.filter(({ task }) => task === adapter)) {
      const input = { text: texts[row.text] as string };
      expectClose(((await model.run(input, OPTIONS)) as Embedding).vector, row.mean);
    }
    const other = answers.find(({ task }) => task === 'text-matching') as Row;
    const found = (await model.run(inputOf(model, other), OPTIONS)) as Embedding;
    expectClose(found.vector, other.mean);
  });
});

describe('Embedder', () => {
  let embedder: Embedder;
  beforeAll(async () => {
    embedder = await Embedder.load({ modelDirectory: copy() });
  });
  afterAll(() => embedder.close());

  it('selects the task by its name, or by the name of its prompt', async () => {
    expect(embedder.tasks).toEqual(TASKS);
    for (const { task, text, mean } of answers) {
      const input = texts[text] as string;
      expectClose(await embedder.embed(input, task === null ? {} : { task }), mean);
      if (task === null) continue;
      expectClose((await embedder.embedBatch([input], { promptName: task }))[0], mean);
      expectClose((await embedder.embedChunks([input], { task, truncate: true }))[0], mean);
    }
  });

  it('combines a task with the prompt of another task', async () => {
    const text = 'The film is a quiet marvel.';
    const options = { task: 'retrieval.query', promptName: 'separation' };
    const bare = await embedder.embed(text, options);
    expect(bare).not.toEqual(await embedder.embed(text, { task: 'retrieval.query' }));
    expect(bare).not.toEqual(await embedder.embed(text, { task: 'separation' }));
    const whole = await embedder.embed(`Represent the query: ${text}`, options);
    expect(whole).toEqual(await embedder.embed(text, { task: 'retrieval.query' }));
  });

  it('rejects unknown tasks', async () => {
    await expect(embedder.embed('a', { task: 'summary' })).rejects.toThrow(
      'task: the model has no such task (retrieval.query, retrieval.passage, separation,',
    );
    const other = await Embedder.load({
      modelDirectory: path.join(ENCODERS, 'jina-embeddings-v3'),
    });
    await expect(other.embed('a', { task: 'separation' })).rejects.toThrow(
      'task: the model has no such task (it has none)',
    );
    await other.close();
  });
});

const A = 'parametrizations.weight.0.lora_A';

it.each([
  [
    { adapter: 'summary' },
    {},
    /^model\.json: adapter: expected one of retrieval\.query, .*"summary"$/,
  ],
  [
    { adapter: 'separation' },
    { lora_adaptations: null },
    /^model\.json: adapter: the model has no/,
  ],
  [{}, { lora_rank: 3 }, new RegExp(`embeddings\\.${A}: has shape .*5, 420, 2.*5, 420, 3`)],
  [{}, { lora_adaptations: ['a', 'b'] }, new RegExp(`${A}: has shape .*5, 420, 2.*2, 420, 2`)],
  [{}, { lora_adaptations: ['a', 'a'] }, /^config\.json: lora_adaptations: "a" is listed twice/],
  [{}, { lora_adaptations: null }, /parametrizations/],
  [{}, { lora_rank: -1 }, /^config\.json: lora_rank: /],
])('%j with %j is not loaded', async (model, config, reason) => {
  await expect(using(copy(model, config), async () => null)).rejects.toThrow(reason);
});
