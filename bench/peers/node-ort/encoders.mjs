/**
 * Vectors, reranking and tags as one writes them with Express and transformers.js on onnxruntime (CPU).
 *
 *   TASK=embedding|reranking|tagging DTYPE=fp32|q8 MODEL_DIR=/path/to/onnx-model PORT=8103 node encoders.mjs
 */
import path from 'node:path';
import {
  AutoModelForSequenceClassification,
  AutoTokenizer,
  env,
  pipeline,
} from '@huggingface/transformers';
import express from 'express';

const MODEL_DIR = path.resolve(process.env.MODEL_DIR);
/** Documents that go through the model at once. */
const BATCH = 32;

env.allowRemoteModels = false;
env.localModelPath = path.dirname(MODEL_DIR);

const name = path.basename(MODEL_DIR);
const options = { dtype: process.env.DTYPE, device: 'cpu' };
const app = express();
app.use(express.json({ limit: '10mb' }));
app.get('/health', (_req, res) => {
  res.json({ status: 'healthy' });
});

const tasks = {
  async embedding() {
    const extract = await pipeline('feature-extraction', name, options);
    app.post('/embed', async (req, res) => {
      const texts = [req.body.inputs].flat();
      const vectors = await extract(texts, { pooling: 'mean', normalize: true });
      res.json(vectors.tolist());
    });
  },
  async reranking() {
    const tokenizer = await AutoTokenizer.from_pretrained(name);
    const model = await AutoModelForSequenceClassification.from_pretrained(name, options);
    app.post('/rerank', async (req, res) => {
      const { query, texts } = req.body;
      const scores = [];
      for (let begin = 0; begin < texts.length; begin += BATCH) {
        const documents = texts.slice(begin, begin + BATCH);
        const queries = documents.map(() => query);
        const pairs = { text_pair: documents, padding: true, truncation: true };
        const { logits } = await model(tokenizer(queries, pairs));
        scores.push(...logits.tolist().flat());
      }
      const ranked = scores.map((score, index) => ({ index, score }));
      res.json(ranked.sort((a, b) => b.score - a.score));
    });
  },
  async tagging() {
    const tag = await pipeline('token-classification', name, options);
    app.post('/tag', async (req, res) => {
      const tokens = await tag(req.body.text);
      const tags = tokens.map(({ entity, score, word }) => ({
        label: entity,
        score: Math.round(score * 1e4) / 1e4,
        word,
      }));
      res.json({ tags });
    });
  },
};
await tasks[process.env.TASK]();
app.listen(Number(process.env.PORT), '127.0.0.1');
