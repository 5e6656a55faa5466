// Retrieval with the Vercel AI SDK: embeds documents, finds the nearest, and reranks them.
//   npm install libtorch-serve ai && node ai-sdk.mjs http://localhost:8000 all-MiniLM-L6-v2 reranker
import { cosineSimilarity, embed, embedMany, rerank } from 'ai';
import { createLibtorchServe } from 'libtorch-serve/ai-sdk';

const [url, embedder, reranker] = process.argv.slice(2);
const server = createLibtorchServe(url);
const documents = ['Two hours and a half.', 'A quiet, funny film.', 'It rains in every scene.'];
const query = 'How long is the film?';

const model = server.embeddingModel(embedder);
const { embeddings } = await embedMany({ model, values: documents });
const { embedding } = await embed({ model, value: query });
const nearest = documents
  .map((text, index) => ({ text, similarity: cosineSimilarity(embedding, embeddings[index]) }))
  .sort((a, b) => b.similarity - a.similarity)
  .slice(0, 2);

const { ranking } = await rerank({
  model: server.rerankingModel(reranker),
  query,
  documents: nearest.map(({ text }) => text),
});
for (const { document, score } of ranking) console.log(score.toFixed(4), document);
