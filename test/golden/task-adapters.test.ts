import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { embedding } from '../../src/tasks/embedding/embedding-task';
import { TaskModel } from '../../src/tasks/task-model';
import { Folder } from '../helpers/files';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES } from '../helpers/service';

const ENCODERS = path.join(FIXTURES, 'embeddings', 'encoders');
const folder = new Folder();
let count = 0;

afterAll(() => folder.remove());

/** A copy of the model with LoRA factors of five tasks. */
function copy(model: object, config: object = {}): string {
  const target = path.join(folder.path, String(count++));
  cpSync(path.join(ENCODERS, 'jina-embeddings-v3-lora'), target, { recursive: true });
  const file = path.join(target, 'config.json');
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...config }));
  writeFileSync(path.join(target, 'model.json'), JSON.stringify(model));
  return target;
}

async function embed(directory: string, prompt?: string): Promise<readonly number[]> {
  const model = await TaskModel.load(embedding, directory, SCHEDULING);
  try {
    const text = { text: 'The film is a quiet marvel.', ...(prompt !== undefined && { prompt }) };
    return [...(await model.run(text, {})).vector];
  } finally {
    await model.close();
  }
}

describe('a model with LoRA adapters of several tasks', () => {
  it('has other embeddings for each task', async () => {
    const tasks = ['retrieval.query', 'retrieval.passage', 'separation', 'classification'];
    const vectors = [await embed(copy({}), '')];
    for (const adapter of tasks) vectors.push(await embed(copy({ adapter }), ''));
    const distinct = new Set(vectors.map((vector) => vector.join()));
    expect(distinct.size).toBe(tasks.length + 1);
  });

  it('inserts the instruction of its task before texts without a prompt', async () => {
    const query = copy({ adapter: 'retrieval.query' });
    expect(await embed(query)).toEqual(await embed(query, 'Represent the query: '));
    expect(await embed(query)).not.toEqual(await embed(query, ''));
    const other = copy({ adapter: 'separation' });
    expect(await embed(other)).toEqual(await embed(other, ''));
  });

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
    [{ adapter: 'separation' }, { lora_rank: 3 }, /embeddings\.lora_embedding_A.*shape/],
    [{}, { lora_adaptations: ['a', 'b'] }, /lora_A: expected a tensor of shape \[2, …\].*\[5, /],
    [{}, { lora_adaptations: null }, /parametrizations/],
    [{}, { lora_rank: -1 }, /^config\.json: lora_rank: /],
  ])('%j with %j is not loaded', async (model, config, reason) => {
    await expect(embed(copy(model, config))).rejects.toThrow(reason);
  });
});
