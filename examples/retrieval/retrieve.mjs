// Retrieval in one process: embeddings, a vector store, and a cross-encoder that reranks the candidates.
//   node retrieve.mjs --embedder DIR --reranker DIR [--passages FILE] [--store FILE] [--top N] QUESTION...
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Embedder, Reranker } from 'libtorch-serve';
import { Store } from './store/store.mjs';

/** Passages per batch. */
const BATCH_SIZE = 256;
/** Candidates for the reranker per requested passage. */
const CANDIDATES_PER_RESULT = 4;

/** @param {string} relative path relative to this file */
const resolve = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const FIXTURES = '../../test/fixtures';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    // Small models with random weights: they only show that the example runs.
    embedder: { type: 'string', default: resolve(`${FIXTURES}/embeddings/sentences/v6-all-modes`) },
    reranker: { type: 'string', default: resolve(`${FIXTURES}/models/roberta-one-label`) },
    passages: { type: 'string', default: resolve('passages.txt') },
    store: { type: 'string', default: ':memory:' },
    top: { type: 'string', default: '3' },
  },
});
const top = Number(values.top);
if (!Number.isInteger(top) || top < 1) throw new Error('--top: expected a whole number from 1');
const questions = positionals.length > 0 ? positionals : ['How do bees find their way home?'];

const [embedder, reranker] = await Promise.all([
  Embedder.load({ modelDirectory: values.embedder }),
  Reranker.load({ modelDirectory: values.reranker }),
]);
const store = new Store(values.store, {
  model: path.resolve(values.embedder),
  dimensions: embedder.dimensions,
});

/** Models trained with prompts have a prompt for queries and a prompt for documents. */
const promptOf = (/** @type {string} */ name) =>
  embedder.prompts.includes(name) ? { promptName: name } : {};

// Each line is a passage. Passages in the store are not embedded again.
const lines = readFileSync(values.passages, 'utf8')
  .split('\n')
  .filter((line) => line.trim() !== '');
const fresh = [...new Set(lines)].filter((text) => !store.has(text));
for (let begin = 0; begin < fresh.length; begin += BATCH_SIZE) {
  const texts = fresh.slice(begin, begin + BATCH_SIZE);
  store.add(texts, await embedder.embedBatch(texts, promptOf('document')));
}
console.error(`${fresh.length} passages embedded`);

for (const question of questions) {
  const vector = await embedder.embed(question, promptOf('query'));
  const found = store.nearest(vector, top * CANDIDATES_PER_RESULT);
  const ranked = await reranker.rank(
    question,
    found.map(({ text }) => text),
    { topN: top },
  );
  console.log(question);
  for (const { index, score } of ranked) {
    const { text, similarity } = /** @type {typeof found[number]} */ (found[index]);
    console.log(`  ${score.toFixed(4)} ${similarity.toFixed(4)} ${text}`);
  }
}

store.close();
await Promise.all([embedder.close(), reranker.close()]);
