/** Dense embeddings of masked language models without modules.json, next to their sparse embeddings. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { embedding } from '../../src/tasks/embedding/embedding-task';
import {
  requireAbilities,
  type ServedModel,
  toServedModel,
  withCapability,
} from '../../src/tasks/served-model';
import { sparseEmbedding } from '../../src/tasks/sparse-embedding/sparse-embedding-task';
import type { Task } from '../../src/tasks/task';
import { TaskModel } from '../../src/tasks/task-model';
import { Folder } from '../helpers/files';
import { readFixture } from '../helpers/golden';
import { post } from '../helpers/http';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES, killAll, type Service, startService } from '../helpers/service';

/** Computed by sentence-transformers, written by test/parity/masked_lm_golden.py. */
interface Answer {
  readonly model: string;
  /** Number of the text in texts.json. */
  readonly text: number;
  readonly values: readonly number[];
}

const TOLERANCE = 1e-5;
const SPLADE = path.join(FIXTURES, 'embeddings', 'splade');
const MODEL_FILES = ['config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json'];
const { texts } = readFixture<{ texts: readonly string[] }>('texts.json');
const { answers } = readFixture<{ answers: readonly Answer[] }>('embeddings', 'masked-lm.json');
const MODELS = [...new Set(answers.map(({ model }) => model))];

const root = new Folder();
afterAll(() => root.remove());

/** Copies a model without the files of sentence-transformers. */
function copyBare(name: string, folder: string): string {
  const directory = path.join(root.path, folder);
  mkdirSync(directory);
  for (const file of MODEL_FILES) cpSync(path.join(SPLADE, name, file), path.join(directory, file));
  return directory;
}

function expectNear(actual: ArrayLike<number> | undefined, { values }: Answer): void {
  expect(actual).toHaveLength(values.length);
  const far = values.map(
    (value, i) => Math.abs(value - (actual?.[i] as number)) / Math.max(1, Math.abs(value)),
  );
  expect(Math.max(...far)).toBeLessThan(TOLERANCE);
}

async function loadAs(given: object, directory: string): Promise<ServedModel> {
  const task = given as Task;
  const model = await TaskModel.load(task, directory, SCHEDULING);
  return toServedModel('model', task, directory, model);
}

describe.each(MODELS)('%s', (name) => {
  const own = answers.filter(({ model }) => model === name);
  const sent = own.map(({ text }) => ({ text: texts[text] as string }));
  let directory: string;

  beforeAll(() => {
    directory = copyBare(name, name);
  });

  it('is recognized as a sparse model, and can be loaded for embeddings', () => {
    expect(sparseEmbedding.isDeclaredFor?.(directory)).toBe(true);
    expect(embedding.isDeclaredFor?.(directory)).toBe(false);
    expect(embedding.findModelPaths(directory)).toEqual([directory]);
    expect(embedding.findModelPaths(path.join(SPLADE, name))).toEqual([]);
  });

  it('has the embeddings of SentenceTransformer next to sparse embeddings, in shared batches', async () => {
    const served = await loadAs(sparseEmbedding, directory);
    try {
      const embedder = withCapability(served, 'embedding')?.model;
      const sparse = withCapability(served, 'sparse-embedding')?.model;
      const alone = await sparse?.runAll(sent, {});
      const [dense, weights] = await Promise.all([
        embedder?.runAll([...sent, ...sent], {}),
        sparse?.runAll([...sent, ...sent], {}),
      ]);
      for (const [i, answer] of [...own, ...own].entries()) {
        expectNear(dense?.[i]?.vector, answer);
        expect(weights?.[i]?.weights).toEqual(alone?.[i % own.length]?.weights);
      }
      expect(embedder?.metadata.dimensions).toBe(own[0]?.values.length);
    } finally {
      await served.model?.close();
    }
  });

  it('has the same embeddings if it is loaded for embeddings', async () => {
    const served = await loadAs(embedding, directory);
    try {
      const vectors = await withCapability(served, 'embedding')?.model?.runAll(sent, {});
      for (const [i, answer] of own.entries()) expectNear(vectors?.[i]?.vector, answer);
      expect(withCapability(served, 'sparse-embedding')).toBeNull();
    } finally {
      await served.model?.close();
    }
  });
});

it('gives SPLADE models with modules no dense embeddings', async () => {
  const served = await loadAs(sparseEmbedding, path.join(SPLADE, 'bert'));
  expect(withCapability(served, 'embedding')).toBeNull();
  expect(() => requireAbilities(served)).not.toThrow();
  await served.model?.close();
});

describe('a server', () => {
  let service: Service;
  const own = answers.filter(({ model }) => model === 'bert');
  const sent = own.map(({ text }) => texts[text] as string);

  beforeAll(async () => {
    const both = copyBare('bert', 'both');
    const folders = {
      'only-dense': { abilities: ['embedding'] },
      'only-sparse': { abilities: ['sparse-embedding'] },
      'as-embedding': { task: 'embedding' },
    };
    const others = Object.entries(folders).map(([name, settings]) => {
      const directory = copyBare('bert', name);
      writeFileSync(path.join(directory, 'model.json'), JSON.stringify(settings));
      return directory;
    });
    const splade = path.join(SPLADE, 'distilbert');
    service = await startService('serve', { args: [both, splade, ...others] });
    await service.waitForLog(({ msg }) => msg === 'models loaded');
  });
  afterAll(killAll);

  it.each(['both', 'only-dense', 'as-embedding'])('embeds with the model "%s"', async (model) => {
    const openai = await post(service, '/v1/embeddings', { model, input: sent });
    const { data } = openai.json as { data: { embedding: number[] }[] };
    const { json } = await post(service, `/models/${model}/embed`, {
      inputs: sent,
      normalize: false,
    });
    for (const [i, answer] of own.entries()) {
      expectNear(data[i]?.embedding, answer);
      expectNear((json as number[][])[i], answer);
    }
  });

  it('also returns sparse embeddings, unless model.json excludes them', async () => {
    for (const [model, status] of [
      ['both', 200],
      ['distilbert', 200],
      ['only-sparse', 200],
      ['only-dense', 404],
      ['as-embedding', 404],
    ] as const) {
      const response = await post(service, `/models/${model}/embed_sparse`, { inputs: sent });
      expect([model, response.status]).toEqual([model, status]);
    }
  });

  it('lists the abilities of a model that lacks dense embeddings', async () => {
    for (const model of ['only-sparse', 'distilbert']) {
      const { status, json } = await post(service, '/v1/embeddings', { model, input: sent });
      expect(status).toBe(404);
      const message = `\\"${model}\\" supports sparse embedding, not text embedding`;
      expect(JSON.stringify(json)).toContain(message);
    }
  });

  it('supports late chunking if it is loaded for embeddings', async () => {
    const body = { model: 'as-embedding', input: ['Good.', 'bad'], late_chunking: true };
    expect((await post(service, '/v1/embeddings', body)).status).toBe(200);
    const other = await post(service, '/v1/embeddings', { ...body, model: 'both' });
    expect(other.status).toBe(400);
    expect(JSON.stringify(other.json)).toContain('static or sparse embeddings');
  });
});
