/**
 * libtorch-serve over a text embedder, in process, as peer.py measures the peers:
 *
 *   node ours.mjs FORMAT MODEL_DIRECTORY < task.json
 *
 * FORMAT: of bench/formats.mjs, also with ATTENTION_DTYPE behind a plus: int8+bfloat16.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { median } from '../report.mjs';

const { Embedder } = createRequire(import.meta.url)('../../dist/index.js');

const LEAST_TIMES = 3;
const [, , format, modelDirectory] = process.argv;
const [dtype, attentionDtype = 'auto'] = format.split('+');
const { texts, samples, seconds } = JSON.parse(readFileSync(0, 'utf8'));
const embedder = await Embedder.load({ modelDirectory, dtype, attentionDtype });

async function measure(all) {
  await embedder.embed(all[0]);
  const times = [];
  const end = performance.now() + 1000 * seconds;
  while (times.length < LEAST_TIMES || performance.now() < end) {
    const start = performance.now();
    await embedder.embed(all[times.length % all.length]);
    times.push(performance.now() - start);
  }
  const start = performance.now();
  let done = 0;
  while (done === 0 || performance.now() - start < 1000 * seconds) {
    await embedder.embedBatch(all);
    done += all.length;
  }
  return {
    p50_ms: median(times),
    texts_per_s: (1000 * done) / (performance.now() - start),
    peak_mb: process.resourceUsage().maxRSS / 1024,
  };
}

const figures = {};
for (const [kind, all] of Object.entries(texts)) figures[kind] = await measure(all);
const vectors = await embedder.embedBatch(samples);
console.log(JSON.stringify({ figures, samples: vectors.map((vector) => Array.from(vector)) }));
await embedder.close();
