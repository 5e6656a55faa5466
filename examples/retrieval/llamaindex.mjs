// Retrieval with LlamaIndex: embeds documents, finds the nearest, and reranks them.
//   npm install libtorch-serve @llamaindex/core @llamaindex/env
//   node llamaindex.mjs http://localhost:8000 all-MiniLM-L6-v2 reranker
import { TextNode } from '@llamaindex/core/schema';
import { LibtorchServeEmbedding, LibtorchServeRerank } from 'libtorch-serve/llamaindex';

const [url, embedder, reranker] = process.argv.slice(2);
const texts = ['Two hours and a half.', 'A quiet, funny film.', 'It rains in every scene.'];
const query = 'How long is the film?';

const embedding = LibtorchServeEmbedding.ofServer(url, embedder);
const vectors = await embedding.getTextEmbeddingsBatch(texts);
const asked = await embedding.getQueryEmbedding({ type: 'text', text: query });
const nearest = texts
  .map((text, index) => ({
    node: new TextNode({ text }),
    score: embedding.similarity(asked, vectors[index]),
  }))
  .sort((a, b) => b.score - a.score)
  .slice(0, 2);

const rerank = LibtorchServeRerank.ofServer(url, reranker);
for (const { node, score } of await rerank.postprocessNodes(nearest, query)) {
  console.log(score.toFixed(4), node.text);
}
