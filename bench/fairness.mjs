/**
 * Two models on one machine, each loaded from the same files, without HTTP: what a quiet one has to wait beside one
 * that always has requests, and what the two do together against one model that does the same work.
 *
 *   node bench/fairness.mjs [--model models/sentiment] [--dtype float32] [--rounds 6] [--seconds 3] [--shares 1,1]
 *
 * --shares: of the busy model and of the quiet one. Needs a built project (npm run build).
 */
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { makeBodies } from './bodies.mjs';
import { quantile } from './load.mjs';
import { ROOT } from './paths.mjs';
import { median } from './report.mjs';

const require = createRequire(path.join(ROOT, 'dist', 'main.js'));
const { readEnvironment } = require('./settings/environment');
const { readConfig } = require('./settings/config');
const { PRESETS } = require('./commands/presets');
const { TaskModel } = require('./tasks/task-model');

const WARMUP_MS = 1000;
const MANY = 64;

const { values: options } = parseArgs({
  options: {
    model: { type: 'string', default: path.join(ROOT, 'models/sentiment') },
    dtype: { type: 'string', default: 'float32' },
    rounds: { type: 'string', default: '6' },
    seconds: { type: 'string', default: '3' },
    shares: { type: 'string', default: '1,1' },
  },
});
const config = readConfig(['sentiment'], readEnvironment(ROOT));
const texts = makeBodies('sentiment', 2000).map((body) => JSON.parse(body).text);
const [busy, quiet] = await Promise.all(
  options.shares.split(',').map((share) =>
    TaskModel.load(PRESETS.sentiment.task, path.resolve(options.model), {
      ...config.scheduling,
      dtype: options.dtype,
      share: Number(share),
      maxQueueWaitMs: 600_000,
    }),
  ),
);

/** A closed loop of so many clients for each: answers a second, and quantiles of latency in ms. */
function measure(...loads) {
  const from = performance.now() + WARMUP_MS;
  const to = from + 1000 * Number(options.seconds);
  return Promise.all(
    loads.map(async ([model, clients]) => {
      const latencies = [];
      const batches = [];
      let next = 0;
      const client = async () => {
        for (let start = performance.now(); start < to; start = performance.now()) {
          const { inference } = await model.run(texts[next++ % texts.length], {});
          const end = performance.now();
          if (start < from || end > to) continue;
          latencies.push(end - start);
          batches.push(inference.inferenceMs);
        }
      };
      await Promise.all(Array.from({ length: clients }, client));
      for (const all of [latencies, batches]) all.sort((a, b) => a - b);
      return {
        rate: latencies.length / Number(options.seconds),
        p50: quantile(latencies, 0.5),
        p99: quantile(latencies, 0.99),
        batch: quantile(batches, 0.5),
      };
    }),
  );
}

const rounds = [];
for (let round = 0; round < Number(options.rounds); round++) {
  const measured = {};
  const parts = {
    alone: [[quiet, 1]],
    one: [[busy, MANY]],
    both: [
      [busy, MANY],
      [quiet, 1],
    ],
    halves: [
      [busy, MANY / 2],
      [quiet, MANY / 2],
    ],
  };
  // Forwards and back, so that what else the machine does meets all of them.
  const order = Object.entries(parts);
  for (const [name, loads] of round % 2 === 0 ? order : order.reverse()) {
    measured[name] = await measure(...loads);
  }
  const { alone, one, both, halves } = measured;
  rounds.push({ alone: alone[0], one: one[0], first: both[0], second: both[1], halves });
}
await Promise.all([busy.close(), quiet.close()]);

const of = (read, digits = 1) => median(rounds.map(read)).toFixed(digits);
console.table({
  'one model, 1 client': { p50: of(({ alone }) => alone.p50), p99: of(({ alone }) => alone.p99) },
  [`beside ${MANY} clients of another`]: {
    p50: of(({ second }) => second.p50),
    p99: of(({ second }) => second.p99),
  },
  'at most': { p50: of(({ alone, first }) => alone.p50 + first.batch) },
});
console.table({
  [`one model, ${MANY} clients`]: { 'a second': of(({ one }) => one.rate) },
  [`two, ${MANY} clients and 1`]: {
    'a second': of(({ first, second }) => first.rate + second.rate),
    'of one': of(({ one, first, second }) => (first.rate + second.rate) / one.rate, 3),
  },
  [`two, ${MANY / 2} clients each`]: {
    'a second': of(({ halves: [a, b] }) => a.rate + b.rate),
    'of one': of(({ one, halves: [a, b] }) => (a.rate + b.rate) / one.rate, 3),
    'the first, of both': of(({ halves: [a, b] }) => a.rate / (a.rate + b.rate), 3),
  },
});
