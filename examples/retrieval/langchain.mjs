// Retrieval with LangChain: embeds documents, finds the nearest, and reranks them.
//   npm install libtorch-serve @langchain/core && node langchain.mjs http://localhost:8000 all-MiniLM-L6-v2 reranker
import { Document } from '@langchain/core/documents';
import { cosineSimilarity } from '@langchain/core/utils/math';
import { LibtorchServeEmbeddings, LibtorchServeReranker } from 'libtorch-serve/langchain';

const [url, embedder, reranker] = process.argv.slice(2);
const texts = ['Two hours and a half.', 'A quiet, funny film.', 'It rains in every scene.'];
const query = 'How long is the film?';

const embeddings = LibtorchServeEmbeddings.ofServer(url, embedder);
const vectors = await embeddings.embedDocuments(texts);
const [similarities] = cosineSimilarity([await embeddings.embedQuery(query)], vectors);
const nearest = texts
  .map((pageContent, index) => ({ pageContent, similarity: similarities[index] }))
  .sort((a, b) => b.similarity - a.similarity)
  .slice(0, 2)
  .map(({ pageContent }) => new Document({ pageContent }));

const compressor = LibtorchServeReranker.ofServer(url, reranker);
for (const { pageContent, metadata } of await compressor.compressDocuments(nearest, query)) {
  console.log(metadata.relevanceScore.toFixed(4), pageContent);
}
