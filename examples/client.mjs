// Typed HTTP client, for Node.js and browsers.
//   node client.mjs http://localhost:8000 http://localhost:8001
import { EegClient, ResponseError, SentimentClient } from 'libtorch-serve/client';

const [sentimentUrl = 'http://localhost:8000', eegUrl = 'http://localhost:8001'] =
  process.argv.slice(2);

const sentiment = new SentimentClient(sentimentUrl, { timeoutMs: 10_000 });
const { label, score } = await sentiment.analyze('A warm, funny film.');
console.log(label, score.toFixed(2));

for (const result of await sentiment.analyzeBatch(['Dull.', 'A quiet marvel.'])) {
  console.log(result.label, result.probabilities[result.label] === result.score);
}

try {
  await sentiment.analyze(' ');
} catch (error) {
  if (!(error instanceof ResponseError)) throw error;
  // Responses with status 503 have retryAfter, in seconds.
  console.log(error.status, error.detail, error.retryAfter);
}

// Demonstration, not a medical device: this signal is two sine waves.
const eeg = new EegClient(eegUrl);
const { model } = await eeg.info();
const signal = Array.from({ length: model.window_length ?? 256 }, (_, i) => Math.sin(i / 1.5) * 20);
console.log((await eeg.predict(signal, { patientId: 'P001' })).patient_id);
