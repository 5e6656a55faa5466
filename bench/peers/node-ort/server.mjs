/**
 * The sentiment service as one writes it with Express and transformers.js on onnxruntime (CPU).
 *
 *   MODEL_DIR=/path/to/onnx-model PORT=8103 node server.mjs
 */
import path from 'node:path';
import { env, pipeline } from '@huggingface/transformers';
import express from 'express';

const MODEL_DIR = path.resolve(process.env.MODEL_DIR ?? './model');
const PORT = Number(process.env.PORT ?? 8103);

env.allowRemoteModels = false;
env.localModelPath = path.dirname(MODEL_DIR);

let classifier = null;
try {
  classifier = await pipeline('text-classification', path.basename(MODEL_DIR), {
    dtype: 'fp32',
    device: 'cpu',
  });
} catch (error) {
  console.error(`Error loading model: ${error.message}`);
}

const app = express();
app.use(express.json());

app.get('/health', (_req, res) => {
  res.json({ status: 'healthy', model_loaded: classifier !== null });
});

app.post('/analyze', async (req, res) => {
  const text = req.body?.text;
  if (typeof text !== 'string') return res.status(422).json({ detail: 'text must be a string' });
  if (classifier === null) return res.status(500).json({ detail: 'Model is not loaded.' });
  if (!text.trim()) return res.status(400).json({ detail: 'Text payload cannot be empty.' });
  try {
    const [{ label, score }] = await classifier(text);
    return res.json({ input_text: text, label, score: Math.round(score * 1e4) / 1e4 });
  } catch (error) {
    return res.status(500).json({ detail: String(error.message ?? error) });
  }
});

app.listen(PORT, '127.0.0.1');
