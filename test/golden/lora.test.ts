/**
 * LoRA adapters of peft: results of test/parity/lora_golden.py within 1e-5, alone and in batches.
 */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { addon } from '../../src/native/addon';
import { embedding } from '../../src/tasks/embedding/embedding-task';
import { declaredFirst, matchTasks } from '../../src/tasks/registry';
import { sparseEmbedding } from '../../src/tasks/sparse-embedding/sparse-embedding-task';
import type { Task } from '../../src/tasks/task';
import { TaskModel } from '../../src/tasks/task-model';
import { textClassification } from '../../src/tasks/text-classification/text-classification-task';
import { tokenClassification } from '../../src/tasks/token-classification/token-classification-task';
import { readFixture } from '../helpers/golden';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES } from '../helpers/service';

const TOLERANCE = 1e-5;
const OPTIONS = { timeoutMs: 60_000 };
const FOLDER = path.join(FIXTURES, 'lora');
const ADAPTERS = readdirSync(FOLDER).filter((name) =>
  existsSync(path.join(FOLDER, name, 'golden.json')),
);

interface Golden {
  readonly rows: readonly { readonly text: number; readonly values: readonly number[] }[];
}

const { texts } = readFixture<{ texts: readonly string[] }>('texts.json');

const LABELS: Readonly<Record<string, readonly string[]>> = {
  'bert-all-linear': ['spam', 'ham'],
  'bert-one-label': ['LABEL_0'],
  'bert-query-value': ['LABEL_0', 'LABEL_1', 'LABEL_2'],
  'roberta-tokens': [0, 1, 2, 3, 4].map((label) => `LABEL_${label}`),
};

/** The task that loads the folder without model.json. */
function taskOf(folder: string): Task {
  const [first] = declaredFirst(matchTasks(folder));
  if (first === undefined) throw new Error(`${folder}: no task`);
  return first[0];
}

/** Logits or embeddings of the model, in the order of the texts. */
async function valuesOf(model: TaskModel, rows: Golden['rows']): Promise<readonly Float32Array[]> {
  const inputs = rows.map(({ text }) => ({ text: texts[text] as string }));
  const predictions = await model.runAll(inputs, OPTIONS);
  return predictions.map((prediction) => {
    const { inference } = prediction as { inference: { values: Float32Array } };
    return inference.values;
  });
}

function expectClose(values: Float32Array, golden: readonly number[]): void {
  expect(values).toHaveLength(golden.length);
  const differences = golden.map((value, index) => Math.abs(value - (values[index] as number)));
  expect(Math.max(...differences)).toBeLessThan(TOLERANCE);
}

it('covers all tasks', () => {
  expect(ADAPTERS).toHaveLength(14);
  const tasks = ADAPTERS.map((name) => [name, taskOf(path.join(FOLDER, name)).name]);
  expect(Object.fromEntries(tasks)).toEqual({
    'bert-all-linear': textClassification.name,
    'bert-embedder': embedding.name,
    'bert-no-task-type': embedding.name,
    'bert-one-label': textClassification.name,
    'bert-query-value': textClassification.name,
    'deberta-v2-classifier': textClassification.name,
    'gte-embedder': embedding.name,
    'jina-embeddings-v3-task': embedding.name,
    'modernbert-classifier': textClassification.name,
    'nomic-bert-embedder': embedding.name,
    'qwen3-embedder': embedding.name,
    'roberta-classifier': textClassification.name,
    'roberta-splade': sparseEmbedding.name,
    'roberta-tokens': tokenClassification.name,
  });
});

it.each(ADAPTERS)('%s has the results of peft', async (name) => {
  const folder = path.join(FOLDER, name);
  const { rows } = readFixture<Golden>('lora', name, 'golden.json');
  const model = await TaskModel.load(taskOf(folder), folder, SCHEDULING);
  try {
    const labels = LABELS[name];
    if (labels) expect((model.metadata as { labels?: unknown }).labels).toEqual(labels);
    const together = await valuesOf(model, rows);
    for (const [index, row] of rows.entries()) {
      const [alone] = await valuesOf(model, [row]);
      expectClose(alone as Float32Array, row.values);
      expect(alone).toEqual(together[index]);
    }
  } finally {
    await model.close();
  }
});

/** Limits for quantized bases, relative to the largest number: random weights lose more than trained ones. */
const DTYPES = [
  ['bfloat16', 0.1],
  ['int8', 0.15],
] as const;

describe.each(DTYPES)('a base in %s', (dtype, tolerance) => {
  it.each(['bert-all-linear', 'modernbert-classifier'])('%s adds its updates', async (name) => {
    if (addon().dtypeProblem(dtype) !== '') return; // test/golden/dtype.test.ts has what it says
    const folder = path.join(FOLDER, name);
    const { rows } = readFixture<Golden>('lora', name, 'golden.json');
    const model = await TaskModel.load(taskOf(folder), folder, { ...SCHEDULING, dtype });
    try {
      const together = await valuesOf(model, rows);
      for (const [index, row] of rows.entries()) {
        const [alone] = await valuesOf(model, [row]);
        expect(alone).toEqual(together[index]);
        const differences = row.values.map((v, i) => Math.abs(v - (alone?.[i] as number)));
        const largest = Math.max(...row.values.map(Math.abs));
        expect(Math.max(...differences) / largest).toBeLessThan(tolerance);
      }
    } finally {
      await model.close();
    }
  });
});
