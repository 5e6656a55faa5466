// Classifies a JSONL file ({"text": …, further columns}) with one server or several replicas behind a load balancer.
// Writes each line with its label or its error, in input order.
//   node classify-file.mjs http://localhost:8000 reviews.jsonl > labels.jsonl
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { SentimentClient } from 'libtorch-serve/client';

const [url = 'http://localhost:8000', file = 'reviews.jsonl'] = process.argv.slice(2);
const client = new SentimentClient(url, { apiKey: process.env.API_KEY });

/** @returns {AsyncGenerator<{ text: string }>} */
async function* rows() {
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Infinity });
  for await (const line of lines) if (line.trim() !== '') yield JSON.parse(line);
}

let errors = 0;
const outcomes = client.analyzeAll(rows(), {
  concurrency: 8, // two per replica, plus two
  onRetry: (error, waitMs) => console.error(`retry in ${Math.round(waitMs)} ms: ${error.message}`),
});
for await (const outcome of outcomes) {
  const found = outcome.ok
    ? { label: outcome.result.label, score: outcome.result.score }
    : { error: outcome.error.message };
  if (!outcome.ok) errors++;
  const line = JSON.stringify({ ...outcome.input, ...found });
  // Backpressure: waits until the output accepts more.
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain');
}
console.error(`${errors} errors`);
