// Retrieval with Mastra: stores embeddings of documents, finds the nearest with a query tool, and reranks them.
//   npm ci && npm install libtorch-serve && node retrieve.mjs http://localhost:8000 all-MiniLM-L6-v2 reranker
import { LibSQLVector } from '@mastra/libsql';
import { createVectorQueryTool } from '@mastra/rag';
import { embedMany } from 'ai';
import { createLibtorchServe } from 'libtorch-serve/ai-sdk';

const [url, embedder, reranker] = process.argv.slice(2);
const server = createLibtorchServe(url);
const documents = ['Two hours and a half.', 'A quiet, funny film.', 'It rains in every scene.'];
const query = 'How long is the film?';

// The query tool of @mastra/rag 2 knows versions up to v3 of the interface of embedding models. v4 has the same methods.
const model = { ...server.embeddingModel(embedder), specificationVersion: 'v3' };
const { embeddings } = await embedMany({ model, values: documents });
const vectorStore = new LibSQLVector({ id: 'films', url: ':memory:' });
await vectorStore.createIndex({ indexName: 'films', dimension: embeddings[0].length });
const metadata = documents.map((text) => ({ text }));
await vectorStore.upsert({ indexName: 'films', vectors: embeddings, metadata });

const scorer = {
  async getRelevanceScore(query, document) {
    const documents = { type: 'text', values: [document] };
    const { ranking } = await server.rerankingModel(reranker).doRerank({ query, documents });
    return ranking[0].relevanceScore;
  },
};
const tool = createVectorQueryTool({
  indexName: 'films',
  model,
  vectorStore,
  reranker: { model: scorer, options: { weights: { semantic: 1, vector: 0, position: 0 } } },
});
const { sources } = await tool.execute({ queryText: query, topK: 2 }, {});
for (const { score, metadata } of sources) console.log(score.toFixed(4), metadata.text);
