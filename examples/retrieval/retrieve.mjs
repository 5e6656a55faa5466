// Retrieval in one process: texts to vectors, a vector store, and a cross-encoder that orders what it finds.
//   node retrieve.mjs --embedder DIR --reranker DIR [--passages FILE] [--store FILE] [--top N] QUESTION...
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Embedder, Reranker } from 'libtorch-serve';
import { Store } from './store/store.mjs';

/** Passages that are embedded and stored at a time. */
const AT_A_TIME = 256;
/** Candidates that the reranker reads, for each passage that is asked for. */
const CANDIDATES = 4;

/** @param {string} relative to this file */
const beside = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const FIXTURES = '../../test/fixtures';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    // Small random models, which find nothing: they show that it runs.
    embedder: { type: 'string', default: beside(`${FIXTURES}/embeddings/sentences/v6-all-modes`) },
    reranker: { type: 'string', default: beside(`${FIXTURES}/models/roberta-one-label`) },
    passages: { type: 'string', default: beside('passages.txt') },
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

/** Models that were trained with prompts have one for questions and one for passages. */
const promptOf = (/** @type {string} */ name) =>
  embedder.prompts.includes(name) ? { promptName: name } : {};

// Each line is a passage. Those that the store has are not embedded again.
const lines = readFileSync(values.passages, 'utf8')
  .split('\n')
  .filter((line) => line.trim() !== '');
const fresh = [...new Set(lines)].filter((text) => !store.has(text));
for (let begin = 0; begin < fresh.length; begin += AT_A_TIME) {
  const texts = fresh.slice(begin, begin + AT_A_TIME);
  store.add(texts, await embedder.embedBatch(texts, promptOf('document')));
}
console.error(`${fresh.length} passages embedded`);

for (const question of questions) {
  const vector = await embedder.embed(question, promptOf('query'));
  const found = store.nearest(vector, top * CANDIDATES);
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
