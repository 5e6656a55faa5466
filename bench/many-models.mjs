/**
 * Ten models behind one address of which one is asked, against that one alone: requests a second, latencies, and what
 * each of the others takes of memory.
 *
 *   node bench/many-models.mjs [--model models/sentiment] [--models 10] [--rounds 6] [--seconds 3]
 *
 * Needs a built project (npm run build).
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { makeBodies } from './bodies.mjs';
import { load, prepareRequest } from './load.mjs';
import { startModels } from './models-service.mjs';
import { ROOT } from './paths.mjs';
import { median } from './report.mjs';
import { usage } from './servers.mjs';

const { values: options } = parseArgs({
  options: {
    model: { type: 'string', default: path.join(ROOT, 'models/sentiment') },
    models: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '6' },
    seconds: { type: 'string', default: '3' },
  },
});
const many = Number(options.models);
const requests = makeBodies('sentiment', 400).map((body) =>
  prepareRequest('/models/m0/analyze', body),
);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'libtorch-serve-bench-'));

/** A directory of so many copies: the same files would be in memory once. */
function directoryOf(count) {
  const directory = path.join(folder, String(count));
  for (let index = 0; index < count; index++) {
    const model = path.join(directory, `m${index}`);
    fs.cpSync(options.model, model, { recursive: true });
    fs.writeFileSync(path.join(model, 'model.json'), '{"required": true}');
  }
  return directory;
}

async function measure({ port, pid }) {
  const plan = { port, requests, seconds: Number(options.seconds), warmup: 1 };
  const one = await load({ ...plan, clients: 1 });
  const before = usage(pid).cpu;
  const all = await load({ ...plan, clients: 64 });
  // Says more than the rate where others use the processor, too.
  return { one, all, cpu: (1000 * (usage(pid).cpu - before)) / all.answered };
}

try {
  const servers = [];
  for (const count of [1, many]) {
    const server = await startModels(directoryOf(count));
    servers.push({ ...server, idle: usage(server.pid).rss });
  }
  // Both are there all the time and are asked in turn, so that what else the machine does meets both.
  const rounds = [];
  for (let round = 0; round < Number(options.rounds); round++) {
    const measured = [];
    const order = round % 2 === 0 ? [0, 1] : [1, 0];
    for (const index of order) measured[index] = await measure(servers[index]);
    rounds.push(measured);
  }
  const memory = servers.map(({ pid, idle }) => ({ idle, busy: usage(pid).rss }));
  for (const { stop } of servers) await stop();
  const of = (index, read) => median(rounds.map((measured) => read(measured[index], measured[0])));
  console.table(
    [1, many].map((count, index) => ({
      models: count,
      'requests/s, 64 clients': of(index, ({ all }) => all.rps).toFixed(1),
      'of one': of(index, ({ all }, first) => all.rps / first.all.rps).toFixed(3),
      'CPU ms each': of(index, ({ cpu }) => cpu).toFixed(2),
      'of its CPU': of(index, ({ cpu }, first) => cpu / first.cpu).toFixed(3),
      'p50 ms, 1 client': of(index, ({ one }) => one.p50_ms).toFixed(2),
      'of its p50': of(index, ({ one }, first) => one.p50_ms / first.one.p50_ms).toFixed(3),
      'p99 ms, 64 clients': of(index, ({ all }) => all.p99_ms).toFixed(1),
      'not 200': of(index, ({ one, all }) => one.bad + all.bad).toFixed(0),
      'MB idle': memory[index].idle.toFixed(0),
      'MB after': memory[index].busy.toFixed(0),
    })),
  );
  const each = (memory[1].idle - memory[0].idle) / (many - 1);
  console.log(`each of the others: ${each.toFixed(1)} MB`);
} finally {
  fs.rmSync(folder, { recursive: true });
}
