/**
 * An adapter whose updates are zero changes nothing: task, settings, tokenizer and results are those of its base, for
 * folders of all kinds.
 */
import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { readSafetensorsHeader } from '../../src/models/safetensors';
import { declaredFirst, matchTasks, reranking } from '../../src/tasks/registry';
import type { Task } from '../../src/tasks/task';
import { TaskModel } from '../../src/tasks/task-model';
import { tokenEmbedding } from '../../src/tasks/token-embedding/token-embedding-task';
import { Folder } from '../helpers/files';
import { editJson, writeSafetensors } from '../helpers/lora';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES } from '../helpers/service';

const OPTIONS = { timeoutMs: 60_000 };
const WEIGHTS = 'model.safetensors';
/** Linear layers of queries in all architectures. */
const QUERY = /(?:query|query_proj|q_proj|q_lin|Wqkv|attn\.q|qkv_proj)\.weight$/;

const BASES = [
  ...['models', 'tagging', 'reranking', 'decoder-rerankers'],
  ...['encoders', 'sentences', 'splade', 'late-interaction'].map((kind) => `embeddings/${kind}`),
].flatMap((kind) =>
  readdirSync(path.join(FIXTURES, kind))
    .map((name) => `${kind}/${name}`)
    .filter((name) => existsSync(path.join(FIXTURES, name, WEIGHTS)))
    // An adapter itself: its base selects a task in model.json.
    .filter((name) => !name.endsWith('-lora')),
);

const folder = new Folder();
afterAll(() => folder.remove());

/** Some folders need the task in model.json: decoders without "rerank" in their name, and Stanford's ColBERT. */
function taskOf(name: string, place: string): Task {
  if (name.startsWith('decoder-rerankers')) return reranking;
  if (name.includes('/stanford')) return tokenEmbedding;
  const [first] = declaredFirst(matchTasks(place));
  if (first === undefined) throw new Error(`${place}: no task`);
  return first[0];
}

/** Writes an adapter with factors for each layer that computes queries. */
function writeAdapter(adapter: string, base: string, up: number): number {
  const tensors = readSafetensorsHeader(path.join(base, WEIGHTS))?.tensors ?? {};
  const layers = Object.entries(tensors).filter(([name]) => QUERY.test(name));
  const factors = layers.flatMap(([name, { shape }]) => {
    const [outputs = 0, inputs = 0] = shape;
    const layer = `base_model.model.${name.replace(/\.weight$/, '')}`;
    return [
      [`${layer}.lora_A.weight`, { shape: [1, inputs], values: new Float32Array(inputs).fill(1) }],
      [
        `${layer}.lora_B.weight`,
        { shape: [outputs, 1], values: new Float32Array(outputs).fill(up) },
      ],
    ] as const;
  });
  mkdirSync(adapter, { recursive: true });
  writeSafetensors(path.join(adapter, 'adapter_model.safetensors'), Object.fromEntries(factors));
  const settings = { peft_type: 'LORA', base_model_name_or_path: path.basename(base), r: 1 };
  editJson(adapter, 'adapter_config.json', settings);
  return layers.length;
}

async function resultsOf(task: Task, place: string): Promise<object> {
  const model = await TaskModel.load(task, place, SCHEDULING);
  try {
    const texts = ['Good.', 'The film is a quiet marvel.', ''];
    const inputs = texts.map((text) =>
      task.name === 'reranking' ? { text, pair: 'A warm, funny film.', isPair: true } : { text },
    );
    const predictions = await model.runAll(inputs, OPTIONS);
    const values = predictions.map(
      (one) => (one as { inference: { values: unknown } }).inference.values,
    );
    // The folder of an adapter has further files.
    return { values, metadata: { ...model.metadata, fileBytes: null } };
  } finally {
    await model.close();
  }
}

it.each(BASES)('%s', async (name) => {
  const models = path.join(folder.path, name.replaceAll('/', '-'));
  const base = path.join(models, path.basename(name));
  cpSync(path.join(FIXTURES, name), base, { recursive: true });
  const task = taskOf(name, base);
  const adapter = `${base}-adapter`;
  expect(writeAdapter(adapter, base, 0)).toBeGreaterThan(0);
  expect(taskOf(name, adapter).name).toBe(task.name);
  const expected = await resultsOf(task, base);
  expect(await resultsOf(task, adapter)).toEqual(expected);
  writeAdapter(adapter, base, 1);
  expect(await resultsOf(task, adapter)).not.toEqual(expected);
});
