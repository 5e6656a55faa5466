/**
 * Compare this server with the FastAPI reference, one after the other on the same cores with the
 * same bodies, in rounds that alternate between them.
 *
 *   node bench/compare.mjs sentiment|eeg --python VENV/bin/python
 *        [--clients 1,8,64] [--seconds 8] [--warmup 2] [--rounds 3] [--tuned]
 *
 * Needs a built service (npm run build) and a Python with bench/peers/fastapi/requirements.txt.
 * First the answers are compared; then a table is printed, and written to bench/results/ with a
 * description of the machine. The ratio is the median over the rounds.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { makeBodies } from './bodies.mjs';
import { Connection, load, prepareRequest } from './load.mjs';
import { start, usage } from './servers.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const OURS = 'libtorch-serve';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    python: { type: 'string' },
    clients: { type: 'string', default: '1,8,64' },
    seconds: { type: 'string', default: '8' },
    warmup: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    tuned: { type: 'boolean', default: false },
  },
});
const service = positionals[0];
if (!['sentiment', 'eeg'].includes(service) || !options.python) {
  console.error(
    'usage: node bench/compare.mjs sentiment|eeg --python VENV/bin/python (see the file)',
  );
  process.exit(2);
}
const route = service === 'eeg' ? '/predict' : '/analyze';
const bodies = makeBodies(service, 2000);
const requests = bodies.map((body) => prepareRequest(route, body));
const servers = [OURS, 'fastapi', ...(options.tuned ? ['fastapi tuned'] : [])];

function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The same label (or class) and a score within 1e-4 on the first 200 bodies. */
async function compareAnswers(answersOf) {
  const [ours, theirs] = [answersOf.get(OURS), answersOf.get('fastapi')];
  let worst = 0;
  for (let i = 0; i < ours.length; i += 1) {
    const [a, b] = [JSON.parse(ours[i].body), JSON.parse(theirs[i].body)];
    const label = a.label ?? a.diagnosis;
    const difference = Math.abs((a.score ?? a.confidence) - (b.score ?? b.confidence));
    worst = Math.max(worst, difference);
    const tied = Math.abs((a.score ?? a.confidence) - 0.5) < 1e-3;
    if ((label !== (b.label ?? b.diagnosis) && !tied) || difference > 1e-4 + 1e-12) {
      throw new Error(`answers differ: ${ours[i].body} against ${theirs[i].body}`);
    }
  }
  console.log(`answers agree on ${ours.length} bodies, largest difference ${worst.toFixed(4)}`);
}

async function askFirst(port, count) {
  const connection = new Connection(port);
  const answers = [];
  for (const request of requests.slice(0, count)) answers.push(await connection.ask(request));
  connection.close();
  return answers;
}

/** One server, started, loaded at every level, stopped. */
async function measure(name, round, answersOf) {
  const logFile = path.join(os.tmpdir(), `bench-${service}-${name.replace(' ', '-')}.log`);
  const server = await start(name, {
    service,
    request: requests[0],
    python: options.python,
    logFile,
  });
  try {
    const idle = usage(server.pid).rss;
    if (round === 0) answersOf.set(name, await askFirst(server.port, 200));
    const levels = [];
    for (const clients of options.clients.split(',').map(Number)) {
      const before = usage(server.pid).cpu;
      const [seconds, warmup] = [Number(options.seconds), Number(options.warmup)];
      const result = await load({ port: server.port, requests, clients, seconds, warmup });
      const cpu = usage(server.pid).cpu - before;
      const cpuPerThousand = (1000 * cpu) / (result.rps * (seconds + warmup));
      levels.push({ ...result, cpu_s_per_1000: cpuPerThousand });
    }
    return {
      name,
      round,
      cold_start_s: server.coldStart,
      idle_mb: idle,
      peak_mb: usage(server.pid).peak,
      levels,
    };
  } finally {
    await server.stop();
  }
}

function table(runs) {
  const rows = [];
  for (const name of servers) {
    const own = runs.filter((run) => run.name === name);
    for (const [i, { clients }] of own[0].levels.entries()) {
      const of = (key) => median(own.map((run) => run.levels[i][key]));
      rows.push({
        server: name,
        clients,
        'requests/s': of('rps').toFixed(1),
        'p50 ms': of('p50').toFixed(2),
        'p95 ms': of('p95').toFixed(2),
        'p99 ms': of('p99').toFixed(2),
        'not 200': own.reduce((sum, run) => sum + run.levels[i].bad, 0),
        'health p99 ms': of('health_p99').toFixed(1),
        'CPU s/1000': of('cpu_s_per_1000').toFixed(2),
        'cold start s': median(own.map((run) => run.cold_start_s)).toFixed(2),
        'idle MB': median(own.map((run) => run.idle_mb)).toFixed(0),
        'peak MB': median(own.map((run) => run.peak_mb)).toFixed(0),
      });
    }
  }
  return rows;
}

/** Requests per second of ours over each peer's, round by round; the median. */
function ratios(runs) {
  const result = [];
  for (const peer of servers.slice(1)) {
    for (const [i, { clients }] of runs[0].levels.entries()) {
      const each = Array.from({ length: Number(options.rounds) }, (_, round) => {
        const rps = (name) =>
          runs.find((run) => run.name === name && run.round === round).levels[i].rps;
        return rps(OURS) / rps(peer);
      });
      result.push({ peer, clients, ratio: median(each), rounds: each });
    }
  }
  return result;
}

const answersOf = new Map();
const runs = [];
for (let round = 0; round < Number(options.rounds); round += 1) {
  for (const name of servers) {
    runs.push(await measure(name, round, answersOf));
    console.log(`round ${round + 1}: ${name} done`);
  }
  if (round === 0) await compareAnswers(answersOf);
}
const rows = table(runs);
console.table(rows);
for (const { peer, clients, ratio } of ratios(runs)) {
  console.log(`${clients} clients: ${ratio.toFixed(2)} × ${peer}`);
}
const machine = {
  cpu: os.cpus()[0].model,
  flags: /flags\s*:(.*)/
    .exec(fs.readFileSync('/proc/cpuinfo', 'utf8'))?.[1]
    .match(/avx\S*|amx\S*/g),
  cores: os.availableParallelism(),
  memory_gb: Math.round(os.totalmem() / 2 ** 30),
  node: process.version,
};
fs.mkdirSync(path.join(HERE, 'results'), { recursive: true });
const result = {
  service,
  date: new Date().toISOString(),
  machine,
  // Where Python is says nothing about the figures.
  options: { ...options, python: undefined },
  ratios: ratios(runs),
  table: rows,
  runs,
};
fs.writeFileSync(
  path.join(HERE, `results/${service}.json`),
  `${JSON.stringify(result, null, 1)}\n`,
);
