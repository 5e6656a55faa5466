/**
 * libtorch-serve over one model, in process, as peer.py measures the peers:
 *
 *   node ours.mjs FORMAT MODEL_DIRECTORY < task.json
 *
 * FORMAT: of bench/formats.mjs, also with ATTENTION_DTYPE behind a plus: int8+bfloat16.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { median } from '../report.mjs';

const { TextClassifier } = createRequire(import.meta.url)('../../dist/index.js');

const [, , format, modelDirectory] = process.argv;
const [dtype, attentionDtype = 'auto'] = format.split('+');
const {
  texts,
  samples,
  seconds,
  least_times: leastTimes = 3,
  alone = false,
} = JSON.parse(readFileSync(0, 'utf8'));
const classifier = await TextClassifier.load({ modelDirectory, dtype, attentionDtype });

async function measure(all) {
  await classifier.classify(all[0]);
  const times = [];
  const end = performance.now() + 1000 * seconds;
  while (times.length < leastTimes || performance.now() < end) {
    const start = performance.now();
    await classifier.classify(all[times.length % all.length]);
    times.push(performance.now() - start);
  }
  const own = { p50_ms: median(times), peak_mb: process.resourceUsage().maxRSS / 1024 };
  if (alone) return own;
  await classifier.classifyBatch(all.slice(0, 8));
  const start = performance.now();
  let done = 0;
  while (done === 0 || performance.now() - start < 1000 * seconds) {
    await classifier.classifyBatch(all);
    done += all.length;
  }
  return {
    ...own,
    texts_per_s: (1000 * done) / (performance.now() - start),
    peak_mb: process.resourceUsage().maxRSS / 1024,
  };
}

const figures = {};
for (const [kind, all] of Object.entries(texts)) figures[kind] = await measure(all);
const answers = await classifier.classifyBatch(samples);
console.log(
  JSON.stringify({
    figures,
    samples: answers.map(({ probabilities }) => Object.values(probabilities)),
  }),
);
await classifier.close();
