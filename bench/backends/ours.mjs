/**
 * Texts per second of `Embedder.embedBatch`, as peer.py measures the backends of sentence-transformers:
 *
 *   node ours.mjs DTYPE MODEL_DIR < task.json
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const { Embedder } = createRequire(import.meta.url)('../../dist/index.js');

const SAMPLES = 8;
const [, , dtype, modelDirectory] = process.argv;
const { texts, seconds } = JSON.parse(readFileSync(0, 'utf8'));
const embedder = await Embedder.load({ modelDirectory, dtype });

async function rate(all) {
  await embedder.embedBatch(all.slice(0, 32));
  const start = performance.now();
  let done = 0;
  while (done === 0 || performance.now() - start < 1000 * seconds) {
    await embedder.embedBatch(all);
    done += all.length;
  }
  return (1000 * done) / (performance.now() - start);
}

const rates = {};
const vectors = {};
for (const [kind, all] of Object.entries(texts)) rates[kind] = await rate(all);
for (const [kind, all] of Object.entries(texts)) {
  vectors[kind] = (await embedder.embedBatch(all.slice(0, SAMPLES))).map((each) => [...each]);
}
console.log(JSON.stringify({ rates, vectors }));
await embedder.close();
