// Sends COUNT texts to the service at ORIGIN, and prints its own heap after each tenth, MB, as JSON.
import { createRequire } from 'node:module';

const { SentimentClient } = createRequire(import.meta.url)('../../../dist/client.js');
const [origin, given] = process.argv.slice(2);
const count = Number(given);

function* texts() {
  for (let i = 0; i < count; i++) yield `film number ${i}${' and so on'.repeat(i % 20)}`;
}

const heapMb = [];
const controller = new AbortController();
const { signal } = controller;
for await (const { index, ok } of new SentimentClient(origin).analyzeAll(texts(), { signal })) {
  if (!ok) throw new Error(`no answer for ${index}`);
  if ((index + 1) % (count / 10) !== 0) continue;
  globalThis.gc();
  heapMb.push(Number((process.memoryUsage().heapUsed / 2 ** 20).toFixed(2)));
}
console.log(JSON.stringify(heapMb));
