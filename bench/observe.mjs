/**
 * What the metrics cost a request, beside prom-client's own, in ns: node bench/observe.mjs
 * (after `npm run build`).
 */
import { createRequire } from 'node:module';
import path from 'node:path';
import { Counter, Histogram as TheirHistogram } from 'prom-client';
import { ROOT } from './paths.mjs';

const require = createRequire(import.meta.url);
const built = (name) => require(path.join(ROOT, 'dist/serving/metrics', `${name}.js`));
const { Histogram, DURATION_BOUNDS } = built('histogram');
const { RequestMetrics } = built('request-metrics');
const { engineFamilies } = built('engine-metrics');

const CALLS = 300_000;
const BATCH = 16;

/** Prints the shortest of several rounds; `observations`: what one call stands for. */
function measure(name, call, observations = 1) {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 7; round++) {
    const start = performance.now();
    for (let i = 0; i < CALLS; i++) call(i);
    least = Math.min(least, (performance.now() - start) / CALLS / observations);
  }
  console.log(`${(least * 1e6).toFixed(0).padStart(5)} ns  ${name}`);
}

const seconds = (i) => (i * 1e-5) % 0.1;
const buckets = [...DURATION_BOUNDS];

const ours = new Histogram(DURATION_BOUNDS);
measure('a value in a histogram', (i) => ours.observe(seconds(i)));

const requests = new RequestMetrics();
measure('a request that ended: its count and its duration', (i) =>
  requests.ended({ route: '/predict', status: 200, durationMs: seconds(i) * 1000, refusal: null }),
);

let record;
const engine = { observe: (observer) => (record = observer), description: {} };
engineFamilies(engine, { tokenizes: false });
const answer = { tokens: 1, queueMs: 5, tokenizationMs: 0, inferenceMs: 2, truncated: false };
const batch = Array.from({ length: BATCH }, () => ({ ...answer, batchSize: BATCH }));
measure(
  `an input, in a batch of ${BATCH}: queue, inference and the batch`,
  () => record(batch),
  BATCH,
);

const options = { name: 'a', help: 'a', registers: [] };
const plain = new TheirHistogram({ ...options, buckets });
measure('prom-client: a value in a histogram', (i) => plain.observe(seconds(i)));

const bound = new TheirHistogram({ ...options, buckets, labelNames: ['route'] }).labels('/predict');
measure('prom-client: with a label, bound beforehand', (i) => bound.observe(seconds(i)));

const labelNames = ['route', 'status'];
const counter = new Counter({ ...options, labelNames }).labels('/predict', '200');
measure('prom-client: a count, labels bound beforehand', () => counter.inc());
