import path from 'node:path';
import { EngineError, type InferOptions } from '../../src/native/engine';
import { embedding } from '../../src/tasks/embedding/embedding-task';
import { TaskModel } from '../../src/tasks/task-model';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES } from '../helpers/service';

const ROOT = path.join(FIXTURES, 'embeddings', 'static');
/** Its tokenizer truncates texts to 16 tokens. */
const LIMITED = path.join(ROOT, 'model2vec-limit');
const LONG = 'a warm and funny film '.repeat(20);

const TEXTS = Array.from({ length: 300 }, (_, i) => {
  if (i === 7) return '';
  if (i === 100) return LONG;
  if (i === 101) return 'é\ud800 \u{1f9ff}'.repeat(3000);
  return 'ab'.repeat(i % 4).concat(String(i));
});

async function withModel(
  run: (model: Awaited<ReturnType<typeof load>>) => Promise<void>,
  options: Partial<typeof SCHEDULING> & { readonly resultCacheMb?: number } = {},
) {
  const model = await load(options);
  try {
    await run(model);
  } finally {
    await model.close();
  }
}

function load(options: object) {
  return TaskModel.load(embedding, LIMITED, { ...SCHEDULING, ...options });
}

type Model = Awaited<ReturnType<typeof load>>;

/** Error of a list. */
async function errorOf(model: Model, inputs: object[], options: InferOptions = {}) {
  const result = await model
    .runAll(inputs as { text: string }[], options)
    .then(() => null)
    .catch((error: unknown) => error);
  expect(result).toBeInstanceOf(EngineError);
  return result as EngineError;
}

const asInputs = (texts: readonly string[]) => texts.map((text) => ({ text }));

it('returns the same bits, tokens and truncation for a list as for each text', async () => {
  await withModel(async (model) => {
    expect(model.monitor.description.readsLists).toBe(true);
    const before = model.monitor.stats().batches;
    const together = await model.runAll(asInputs(TEXTS), {});
    expect(model.monitor.stats().batches - before).toBeLessThan(TEXTS.length / 4);
    expect(together).toHaveLength(TEXTS.length);
    for (const [i, text] of TEXTS.entries()) {
      const alone = await model.run({ text }, {});
      const { vector, inference } = together[i] as typeof alone;
      expect(vector).toEqual(alone.vector);
      expect(inference.tokens).toBe(alone.inference.tokens);
      expect(inference.truncated).toBe(alone.inference.truncated);
    }
    expect(together[100]?.inference.truncated).toBe(true);
    expect(together[99]?.inference.truncated).toBe(false);
  });
});

it('counts each text of a list', async () => {
  await withModel(async (model) => {
    let observed = 0;
    model.monitor.observe((completions) => {
      for (const { count = 1 } of completions) observed += count;
    });
    await model.runAll(asInputs(TEXTS), {});
    expect(model.monitor.stats().completed).toBe(TEXTS.length);
    expect(observed).toBe(TEXTS.length);
  });
});

it('names the text that is too long, in a list with equal options', async () => {
  await withModel(async (model) => {
    const texts = TEXTS.map((text, i) => (i === 100 || text.length < 100 ? text : 'short'));
    const inputs = texts.map((text) => ({ text, truncation: 'do_not_truncate' }));
    const { code, index, message } = await errorOf(model, inputs);
    expect(code).toBe('INPUT_TOO_LONG');
    expect(index).toBe(100);
    expect(message).toMatch(/16/);
  });
});

it('runs a list with different options text by text', async () => {
  await withModel(async (model) => {
    const inputs = [
      { text: LONG, truncationSide: 'left' as const },
      { text: LONG },
      { text: LONG, truncation: 'do_not_truncate' as const },
    ];
    const { index } = await errorOf(model, inputs);
    expect(index).toBe(2);
    const sides = await model.runAll(inputs.slice(0, 2), {});
    expect(sides[0]?.vector).not.toEqual(sides[1]?.vector);
    const lefts = await model.runAll([inputs[0] as object, inputs[0] as object] as never, {});
    expect(lefts[1]?.vector).toEqual(sides[0]?.vector);
  });
});

it('rejects a list with more texts than the queue takes', async () => {
  await withModel(
    async (model) => {
      const { code } = await errorOf(model, asInputs(TEXTS));
      expect(code).toBe('QUEUE_FULL');
      expect(model.monitor.stats().refused).toBe(TEXTS.length);
      const accepted = await model.runAll(asInputs(TEXTS.slice(0, 200)), {});
      expect(accepted).toHaveLength(200);
    },
    { maxQueueRequests: 200 },
  );
});

it('cancels a list that waits', async () => {
  await withModel(async (model) => {
    const controller = new AbortController();
    const texts = asInputs(Array.from({ length: 200 }, () => LONG.repeat(20)));
    const ahead = Array.from({ length: 20 }, () => model.runAll(texts, {}));
    const failed = errorOf(model, texts, { signal: controller.signal });
    controller.abort();
    expect((await failed).code).toBe('CANCELLED');
    for (const list of ahead) expect(await list).toHaveLength(texts.length);
    const { completed, cancelled } = model.monitor.stats();
    expect(completed).toBeLessThan((ahead.length + 1) * texts.length);
    expect(completed + cancelled).toBeLessThanOrEqual((ahead.length + 1) * texts.length);
  });
});

it('caches the result of each text', async () => {
  await withModel(
    async (model) => {
      expect(model.monitor.description.readsLists).toBe(false);
      await model.runAll(asInputs(TEXTS.slice(0, 50)), {});
      const before = model.monitor.stats().cacheHits;
      await model.run({ text: TEXTS[20] as string }, {});
      expect(model.monitor.stats().cacheHits - before).toBe(1);
    },
    { resultCacheMb: 1 },
  );
});
