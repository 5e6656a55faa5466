// Runs models inside your own program, without HTTP.
//   npm install libtorch-serve && npx libtorch-serve install && node engines.mjs
import { EegEngine, EngineError, SentimentEngine } from 'libtorch-serve';

// Loads the bundled model. For your own model, add { modelDirectory: '/path/to/model' }.
const sentiment = await SentimentEngine.load({ workers: 2 });
const { label, score, probabilities } = await sentiment.classify('A warm, funny film.');
console.log(label, score.toFixed(2), Object.keys(probabilities).join(' '));

for (const result of await sentiment.classifyBatch(['Dull.', 'A quiet marvel.'])) {
  console.log(result.label, result.truncated);
}

// Errors have codes: QUEUE_FULL, DEADLINE_EXCEEDED, CANCELLED, INFERENCE_FAILED, DRAINING.
try {
  await sentiment.classify('too late', { signal: AbortSignal.abort() });
} catch (error) {
  if (error instanceof EngineError) console.log(error.code);
}
await sentiment.close();

// Demonstration, not a medical device: this signal is two sine waves.
const eeg = await EegEngine.load();
const signal = Array.from({ length: eeg.windowLength }, (_, i) => Math.sin(i / 1.5) * 20);
console.log((await eeg.classify(signal)).diagnosis);
await eeg.close();
