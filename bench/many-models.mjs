/**
 * Ten models behind one address of which one is asked, against that one alone: requests a second, latencies, and what
 * each of the others takes of memory.
 *
 *   node bench/many-models.mjs [--model models/sentiment] [--models 10] [--rounds 3] [--seconds 5]
 *
 * Needs a built project (npm run build).
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { makeBodies } from './bodies.mjs';
import { Connection, load, prepareRequest } from './load.mjs';
import { ROOT } from './paths.mjs';
import { median } from './report.mjs';
import { freePort, startProcess, usage } from './servers.mjs';

const READY = Buffer.from('GET /ready HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');

const { values: options } = parseArgs({
  options: {
    model: { type: 'string', default: path.join(ROOT, 'models/sentiment') },
    models: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
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

async function start(directory) {
  const port = await freePort();
  const local = { HOST: '127.0.0.1', PORT: String(port), MAX_QUEUE_WAIT_MS: '60000' };
  const env = { ...process.env, ...local };
  const main = path.join(ROOT, 'dist/main.js');
  const server = startProcess([process.execPath, main, 'models', directory], {
    env,
    stdio: 'ignore',
  });
  for (;;) {
    const connection = new Connection(port);
    const { status } = await connection.ask(READY);
    connection.close();
    if (status === 200) return { ...server, port, pid: server.child.pid };
    if (server.child.exitCode !== null) throw new Error('the service ended: run npm run build');
    await sleep(50);
  }
}

async function measure(directory) {
  const server = await start(directory);
  try {
    const idle = usage(server.pid).rss;
    const plan = { port: server.port, requests, seconds: Number(options.seconds), warmup: 1 };
    const one = await load({ ...plan, clients: 1 });
    const all = await load({ ...plan, clients: 64 });
    return { idle, busy: usage(server.pid).rss, one, all };
  } finally {
    await server.stop();
  }
}

try {
  const directories = [1, many].map(directoryOf);
  const rounds = [];
  for (let round = 0; round < Number(options.rounds); round++) {
    const measured = [];
    for (const directory of directories) measured.push(await measure(directory));
    rounds.push(measured);
  }
  const of = (index, read) => median(rounds.map((measured) => read(measured[index], measured[0])));
  console.table(
    [1, many].map((count, index) => ({
      models: count,
      'requests/s, 64 clients': of(index, ({ all }) => all.rps).toFixed(1),
      'of one': of(index, ({ all }, first) => all.rps / first.all.rps).toFixed(3),
      'p50 ms, 1 client': of(index, ({ one }) => one.p50_ms).toFixed(2),
      'p99 ms, 64 clients': of(index, ({ all }) => all.p99_ms).toFixed(1),
      'not 200': of(index, ({ one, all }) => one.bad + all.bad).toFixed(0),
      'MB idle': of(index, ({ idle }) => idle).toFixed(0),
      'MB after': of(index, ({ busy }) => busy).toFixed(0),
    })),
  );
  const each = (of(1, ({ idle }) => idle) - of(0, ({ idle }) => idle)) / (many - 1);
  console.log(`each of the others: ${each.toFixed(1)} MB`);
} finally {
  fs.rmSync(folder, { recursive: true });
}
