/**
 * Embeddings of lists in this process, two lists at a time:
 *
 *   node in-process.mjs CHECKOUT < task.json
 *
 * task.json: { model, texts, size, seconds }. Prints { texts, seconds, cpu, digest }: processor time in seconds, and a
 * hash of the embeddings of all texts.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const WARM_UP_SECONDS = 0.5;

const { Embedder } = createRequire(import.meta.url)(path.join(process.argv[2], 'dist/index.js'));
const { model, texts, size, seconds } = JSON.parse(readFileSync(0, 'utf8'));
const embedder = await Embedder.load({
  modelDirectory: model,
  maxQueueRequests: 100_000,
  maxQueueWaitMs: 600_000,
});
const lists = [];
for (let i = 0; i + size <= texts.length; i += size) lists.push(texts.slice(i, i + size));

async function run(limit) {
  const start = performance.now();
  let done = 0;
  const client = async () => {
    while (performance.now() - start < 1000 * limit) {
      await embedder.embedBatch(lists[(done / size) % lists.length]);
      done += size;
    }
  };
  await Promise.all([client(), client()]);
  return { done, seconds: (performance.now() - start) / 1000 };
}

const hash = createHash('sha256');
for (const list of lists) for (const vector of await embedder.embedBatch(list)) hash.update(vector);
await run(WARM_UP_SECONDS);
const before = process.cpuUsage();
const { done, seconds: took } = await run(seconds);
const { user, system } = process.cpuUsage(before);
await embedder.close();
const digest = hash.digest('hex');
console.log(JSON.stringify({ texts: done, seconds: took, cpu: (user + system) / 1e6, digest }));
