// A file of JSON Lines ({"text": …} with whatever else) through one service, or through replicas of it
// behind a load balancer. Each line comes out in its place, with its label, or with the error of its text.
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
  concurrency: 8, // two for each replica, and two more
  onRetry: (error, waitMs) => console.error(`again in ${Math.round(waitMs)} ms: ${error.message}`),
});
for await (const outcome of outcomes) {
  const found = outcome.ok
    ? { label: outcome.result.label, score: outcome.result.score }
    : { error: outcome.error.message };
  if (!outcome.ok) errors++;
  const line = JSON.stringify({ ...outcome.input, ...found });
  // The file is read no faster than this is written.
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain');
}
console.error(`${errors} without a label`);
