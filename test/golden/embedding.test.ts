/** The task of vectors reads directories of sentence-transformers and encoders alone, and answers as `encode`. */
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { similarity } from '../../src/lib/numbers';
import { embedding } from '../../src/tasks/embedding/embedding-task';
import { sparseEmbedding } from '../../src/tasks/sparse-embedding/sparse-embedding-task';
import { TaskModel } from '../../src/tasks/task-model';
import { tokenEmbedding } from '../../src/tasks/token-embedding/token-embedding-task';
import { Folder } from '../helpers/files';
import { readFixture } from '../helpers/golden';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES } from '../helpers/service';

const TOLERANCE = 1e-5;
const OPTIONS = { timeoutMs: 60_000 };

interface Golden {
  readonly prompt: string;
  readonly answers: readonly {
    readonly text: number;
    readonly values: readonly number[];
    readonly pooling?: string;
    readonly activation?: string;
  }[];
}

const { texts } = readFixture<{ texts: readonly string[] }>('texts.json');

const DIRECTORIES = ['encoders', 'exported', 'sentences']
  .flatMap((kind) =>
    readdirSync(path.join(FIXTURES, 'embeddings', kind)).map((name) => `${kind}/${name}`),
  )
  .filter((name) => embedding.findModelPaths(path.join(FIXTURES, 'embeddings', name)).length > 0);

it('knows what makes vectors, and what makes a row of each token', () => {
  expect(DIRECTORIES).toHaveLength(32 + 4 + 11);
  expect(DIRECTORIES).not.toContain('sentences/v6-tokens');
});

it.each(DIRECTORIES)('%s has the vectors of SentenceTransformer.encode', async (name) => {
  const directory = path.join(FIXTURES, 'embeddings', name);
  const { prompt, answers } = readFixture<Golden>('embeddings', name, 'golden.json');
  const model = await TaskModel.load(embedding, directory, SCHEDULING);
  try {
    const inputs = answers.map(({ text }) => ({ text: texts[text] as string, prompt }));
    const vectors = (await model.runAll(inputs, OPTIONS)).map(({ vector }) => vector);
    for (const [index, { values }] of answers.entries()) {
      const vector = vectors[index] as Float32Array;
      expect(vector).toHaveLength(model.metadata.dimensions);
      const furthest = values.map((value, i) => Math.abs(value - (vector[i] as number)));
      expect(Math.max(...furthest)).toBeLessThan(TOLERANCE);
    }
    const [first] = vectors as [Float32Array];
    expect(similarity(first, first, 'cosine')).toBeCloseTo(1, 6);
    expect(similarity(first, first, 'euclidean')).toBeCloseTo(0, 6);
  } finally {
    await model.close();
  }
});

const SPLADE = readdirSync(path.join(FIXTURES, 'embeddings', 'splade'));

it.each(SPLADE)('splade/%s has the weights of SparseEncoder.encode', async (name) => {
  const directory = path.join(FIXTURES, 'embeddings', 'splade', name);
  expect(sparseEmbedding.findModelPaths(directory)).toEqual([directory]);
  expect(embedding.findModelPaths(directory)).toEqual([]);
  const { source } = sparseEmbedding.read(directory);
  if (source.type !== 'text-encoder' || source.head.name !== 'masked-lm') throw new Error(name);
  const { pooling, activation } = source.head;
  const { prompt, answers } = readFixture<Golden>('embeddings', 'splade', name, 'golden.json');
  const own = answers.filter((one) => one.pooling === pooling && one.activation === activation);
  expect(own.length).toBeGreaterThan(0);
  const model = await TaskModel.load(sparseEmbedding, directory, SCHEDULING);
  try {
    const inputs = own.map(({ text }) => ({ text: texts[text] as string, prompt }));
    const weighed = await model.runAll(inputs, OPTIONS);
    for (const [index, { values }] of own.entries()) {
      const weights = weighed[index]?.weights as Float32Array;
      expect(weights).toHaveLength(model.metadata.vocabularySize);
      const furthest = values.map((value, i) => Math.abs(value - (weights[i] as number)));
      expect(Math.max(...furthest)).toBeLessThan(TOLERANCE);
    }
  } finally {
    await model.close();
  }
});

it('has a vector for each token where nothing pools them', async () => {
  const directory = path.join(FIXTURES, 'embeddings', 'sentences', 'v6-tokens');
  const { prompt, answers } = readFixture<Golden>(
    'embeddings',
    'sentences/v6-tokens',
    'golden.json',
  );
  const model = await TaskModel.load(tokenEmbedding, directory, SCHEDULING);
  try {
    const inputs = answers.map(({ text }) => ({ text: texts[text] as string, prompt }));
    const embedded = await model.runAll(inputs, OPTIONS);
    for (const [index, { values }] of answers.entries()) {
      const numbers = (embedded[index]?.vectors ?? []).flatMap((vector) => Array.from(vector));
      expect(numbers).toHaveLength(values.length);
      const furthest = values.map((value, i) => Math.abs(value - (numbers[i] as number)));
      expect(Math.max(...furthest)).toBeLessThan(TOLERANCE);
    }
  } finally {
    await model.close();
  }
});

describe('a program that torch.export saved', () => {
  const folder = new Folder();
  afterAll(() => folder.remove());

  function changed(file: string, entries: object): string {
    const directory = path.join(folder.path, file.replaceAll(/\W/g, '-'));
    cpSync(path.join(FIXTURES, 'embeddings', 'exported', 'gte'), directory, { recursive: true });
    const place = path.join(directory, file);
    const content = { ...JSON.parse(readFileSync(place, 'utf8')), ...entries };
    writeFileSync(place, JSON.stringify(content));
    return directory;
  }

  it('gives vectors of texts alone', () => {
    const directory = path.join(FIXTURES, 'embeddings', 'exported', 'gte');
    expect(() => tokenEmbedding.read(directory)).toThrow(
      'model.pt2: exported programs support text embeddings',
    );
    expect(() => sparseEmbedding.read(directory)).toThrow(
      'model.pt2: exported programs support text embeddings',
    );
  });

  it('cannot leave out the tokens of a prompt', () => {
    const directory = changed('1_Pooling/config.json', { include_prompt: false });
    expect(() => embedding.read(directory)).toThrow(
      'modules.json: Pooling: include_prompt: false: model.pt2 cannot exclude',
    );
  });

  it('has to give vectors of the size that its files say', async () => {
    const directory = changed('2_Dense/config.json', { out_features: 9 });
    const load = async () => TaskModel.load(embedding, directory, SCHEDULING);
    await expect(load()).rejects.toThrow(/model\.pt2.*9/);
  });
});
